import { CATEGORIES, type Category } from "../lib/categories";
import { OPENS, shown, ViewerError } from "./error";
import { Dict, unpickle, type Plain } from "./pickle";
import { UNKNOWN } from "./trace";

/** All that is read here. Stack frames, most of a file, are not. */
const KEYS = new Set([
  ...["device_traces", "action", "addr", "size", "time_us", "category"],
  ...["segments", "device", "total_size", "blocks", "state", "requested_size"],
]);

/** Where something stands in the snapshot, which is put into words only for a message. */
type Place = () => string;

/** What a snapshot says of the device that has most events. */
export interface Events {
  device: number;
  /** How many other devices have events. */
  others: number;
  /** For each event its time, the column it counts in, what it adds there, and what it adds to the reserved bytes. */
  us: Float64Array;
  column: Uint8Array;
  bytes: Float64Array;
  segment: Float64Array;
  /** Bytes that are allocated and reserved at the end. */
  active: number;
  reserved: number;
}

/** Reads the pickle into arrays of numbers: its objects, far larger, can be forgotten before anything is drawn. */
export function readEvents(file: Uint8Array): Events {
  const snapshot = unpickle(file, KEYS);
  const devices = snapshot instanceof Dict ? snapshot.get("device_traces") : undefined;
  if (!(snapshot instanceof Dict) || devices === undefined)
    throw new ViewerError(`it is a pickle, but not a CUDA memory snapshot, which has device_traces; ${OPENS}`);
  const traces = list(devices, () => "device_traces").map((t, i) => list(t, () => `device_traces[${i}]`));
  const device = traces.reduce((most, t, i) => (t.length > (traces[most]?.length ?? 0) ? i : most), 0);
  const others = traces.filter((t, i) => t.length > 0 && i !== device).length;
  const events = traces[device] ?? [];
  if (events.length === 0)
    throw new ViewerError(
      "it is a CUDA memory snapshot without events; call torch.cuda.memory._record_memory_history() " +
        "before the steps that you want to see, and dump it after them",
    );

  let [active, reserved] = [0, 0];
  list(snapshot.get("segments") ?? [], () => "segments").forEach((item, i) => {
    const where = () => `segments[${i}]`;
    const segment = dict(item, where);
    if ((segment.get("device") ?? 0) !== device) return;
    active += activeBytes(segment, where);
    reserved += amount(segment, "total_size", where);
  });
  return { device, others, active, reserved, ...readSteps(events, device) };
}

function readSteps(events: readonly Plain[], device: number) {
  const us = new Float64Array(events.length);
  const column = new Uint8Array(events.length).fill(UNKNOWN);
  const bytes = new Float64Array(events.length);
  const segment = new Float64Array(events.length);
  /** Where the bytes of an address that have a category are counted: events that free don't repeat it. */
  const columns = new Map<Plain | undefined, number>();
  events.forEach((item, i) => {
    const where = () => `device_traces[${device}][${i}]`;
    const event = dict(item, where);
    if (event.get("time_us") === undefined)
      throw new ViewerError(
        `${where()} has no time_us, which torch writes from 2.2 on; make the snapshot with a newer torch`,
      );
    us[i] = amount(event, "time_us", where);
    const address = event.get("addr");
    const action = event.get("action");
    switch (action) {
      case "alloc": {
        const c = columnOf(event.get("category"));
        column[i] = c;
        bytes[i] = amount(event, "size", where);
        if (c !== UNKNOWN) columns.set(address, c);
        break;
      }
      case "free_completed":
        column[i] = columns.get(address) ?? UNKNOWN;
        bytes[i] = -amount(event, "size", where);
        columns.delete(address);
        break;
      case "segment_alloc":
      case "segment_map":
        segment[i] = amount(event, "size", where);
        break;
      case "segment_free":
      case "segment_unmap":
        segment[i] = -amount(event, "size", where);
        break;
      default: // free_requested, oom, snapshot, and what newer versions may add: they move no memory
        if (typeof action !== "string") throw new ViewerError(`${where()} has no action; make the snapshot again`);
    }
  });
  return { us, column, bytes, segment };
}

function columnOf(category: Plain | undefined): number {
  const at = typeof category === "string" ? CATEGORIES.indexOf(category.toUpperCase() as Category) : -1;
  return at < 0 ? UNKNOWN : at;
}

/** Bytes of a segment that are in use at the end, as they were asked for: events count the same, without rounding. */
function activeBytes(segment: Dict, place: Place): number {
  return list(segment.get("blocks") ?? [], () => `${place()}.blocks`).reduce<number>((sum, item, i) => {
    const where = () => `${place()}.blocks[${i}]`;
    const block = dict(item, where);
    // active_allocated, or on its way to free: active_awaiting_free, active_pending_free
    if (!String(block.get("state")).startsWith("active")) return sum;
    return sum + amount(block, block.get("requested_size") === undefined ? "size" : "requested_size", where);
  }, 0);
}

function list(value: Plain | undefined, place: Place): Plain[] {
  if (Array.isArray(value)) return value;
  throw new ViewerError(`${place()} is not a list; make the snapshot again`);
}

function dict(value: Plain, place: Place): Dict {
  if (value instanceof Dict) return value;
  throw new ViewerError(`${place()} is not a dict; make the snapshot again`);
}

/** Bytes or microseconds: up to 2^63, so that sums stay finite. */
function amount(from: Dict, key: string, place: Place): number {
  const value = from.get(key) ?? null;
  if (typeof value === "number" && value >= 0 && value <= 2 ** 63) return value;
  throw new ViewerError(`${place()}.${key} is ${described(value)}, and must be a number of at least 0`);
}

function described(value: Plain): string {
  if (value === null) return "missing";
  return value instanceof Dict || value instanceof Uint8Array ? "an object" : shown(value);
}
