import { SERIES } from "../lib/categories";
import type { Mode } from "../lib/modes";
import type { Phase, Timeline } from "../lib/timelines";
import { ViewerError } from "./error";
import { reduce } from "./reduce";
import { unpack } from "./unpack";

/** One mode as a link carries it: differences of whole numbers, which compress well. */
interface Packed {
  label: string;
  /** Microseconds. */
  t: number[];
  /** Kilobytes (1000 bytes), a column per series. */
  kb: number[][];
  end: number;
  phases: readonly Phase[];
  reserved: number | null;
}

const NAME = "data";
/** Columns of detail that a link keeps: the most that makes it no longer than LONGEST. */
const DETAILS = [960, 480, 240, 120, 60, 30, 15, 8];
const LONGEST = 16_000;
const MOST_BYTES = 1 << 24;
const DAMAGED = "The data in this link are cut off or damaged.";

/** A hash that carries the timelines themselves, so that a link to the viewer shows them, with nothing stored anywhere. */
export async function writeLink(modes: readonly Mode[]): Promise<string> {
  let hash = "";
  for (const detail of DETAILS) {
    const text = JSON.stringify(modes.map((mode) => pack(mode, detail)));
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    hash = `#${NAME}=${base64(new Uint8Array(await new Response(stream).arrayBuffer()))}`;
    if (hash.length <= LONGEST) break;
  }
  return hash;
}

/** The modes in a hash, undefined where it has none. Throws ViewerError if they are damaged. */
export async function readLink(hash: string): Promise<Mode[] | undefined> {
  const part = hash
    .replace(/^.*#/, "")
    .split("&")
    .find((one) => one.startsWith(`${NAME}=`));
  if (part === undefined) return undefined;
  let packed: unknown;
  try {
    const bytes = await unpack(unbase64(part.slice(NAME.length + 1)), "deflate-raw", MOST_BYTES);
    packed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ViewerError(DAMAGED);
  }
  if (!Array.isArray(packed) || packed.length < 1 || packed.length > 4) throw new ViewerError(DAMAGED);
  return packed.map((one: unknown, i) => {
    if (!isPacked(one)) throw new ViewerError(DAMAGED);
    return { key: `linked-${i}`, label: one.label, timeline: unpacked(one) };
  });
}

function pack({ label, timeline }: Mode, detail: number): Packed {
  const columns = SERIES.map((_, s) => Float64Array.from(timeline.gb[s] ?? timeline.t.map(() => 0)));
  const { t, gb, end_t, phases, reserved_gb } = reduce(
    { ...timeline, t: Float64Array.from(timeline.t), gb: columns },
    detail,
  );
  return {
    label,
    t: differences(t.map((ms) => Math.round(ms * 1000))),
    kb: gb.map((column) => differences(column.map((gigabytes) => Math.round(gigabytes * 1e6)))),
    end: end_t,
    phases: phases.map(({ name, start, end }) => ({ name, start, end })),
    reserved: reserved_gb,
  };
}

function unpacked({ t, kb, end, phases, reserved }: Packed): Timeline {
  const times = Float64Array.from(sums(t), (us) => us / 1000);
  const gb = kb.map((column) => Float64Array.from(sums(column), (kilobytes) => kilobytes / 1e6));
  const rising = times.every((ms, i) => i === 0 || ms > (times[i - 1] ?? 0));
  const positive = gb.every((column) => column.every((gigabytes) => gigabytes >= 0));
  if (!rising || !positive || end <= (times.at(-1) ?? 0)) throw new ViewerError(DAMAGED);
  return reduce({ t: times, gb, end_t: end, phases, reserved_gb: reserved }, times.length);
}

function isPacked(value: unknown): value is Packed {
  if (typeof value !== "object" || value === null) return false;
  const { label, t, kb, end, phases, reserved } = value as Record<string, unknown>;
  return (
    typeof label === "string" &&
    numbers(t) &&
    t.length > 0 &&
    Array.isArray(kb) &&
    kb.length === SERIES.length &&
    kb.every((column) => numbers(column) && column.length === t.length) &&
    number(end) &&
    Array.isArray(phases) &&
    phases.length <= 10 &&
    phases.every(isPhase) &&
    (reserved === null || number(reserved))
  );
}

function isPhase(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { name, start, end } = value as Record<string, unknown>;
  return typeof name === "string" && number(start) && number(end) && start <= end;
}

function number(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function numbers(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one));
}

function differences(values: readonly number[]): number[] {
  return values.map((value, i) => value - (values[i - 1] ?? 0));
}

function sums(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => (sum += value));
}

function base64(bytes: Uint8Array): string {
  const text = bytes.reduce((all, byte) => all + String.fromCharCode(byte), "");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unbase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}
