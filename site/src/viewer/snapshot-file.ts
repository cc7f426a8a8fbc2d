import type { Value } from "./pickle";
import { TraceBuilder, ViewerError, type Opened } from "./trace";

/** One entry of a device's trace, as far as it is read here. */
interface Entry {
  action: string;
  bytes: number;
  ms: number;
}

const NONE = "This is no CUDA memory snapshot: it has no device_traces.";
const EMPTY =
  "This snapshot has no trace: torch.cuda.memory._record_memory_history() has to be called before the step that is to be seen.";

/**
 * The allocations of the device that did most, from what torch.cuda.memory._dump_snapshot writes (torch.cuda.memory._snapshot
 * describes it). A snapshot has no categories, so everything is unknown. What had been allocated before the trace began is
 * what is active at its end, less what the trace adds.
 */
export function readSnapshot(data: Value): Opened {
  const traces = member(data, "device_traces");
  if (!Array.isArray(traces)) throw new ViewerError(NONE);
  const devices = traces.map((trace) => (Array.isArray(trace) ? trace.map(entry) : []));
  const most = Math.max(0, ...devices.map(({ length }) => length));
  const device = devices.findIndex(({ length }) => length === most);
  const entries = devices[device] ?? [];
  const changes = entries.filter(({ action }) => action === "alloc" || action === "free_completed");
  if (changes.length === 0) throw new ViewerError(EMPTY);
  const change = ({ action, bytes }: Entry) => (action === "alloc" ? bytes : -bytes);
  const segments = segmentsOf(data, device);
  const added = changes.reduce((sum, one) => sum + change(one), 0);
  const builder = new TraceBuilder();
  builder.add(changes[0]?.ms ?? 0, "UNKNOWN", Math.max(0, segments.active - added));
  for (const one of changes) builder.add(one.ms, "UNKNOWN", change(one));
  const others = devices.filter(({ length }, i) => i !== device && length > 0).length;
  const left = others > 0 ? ` ${others} other device${others === 1 ? " has a trace" : "s have traces"} too.` : "";
  return {
    kind: "snapshot",
    traces: [builder.build("trace", "CUDA allocator", reserved(entries, segments.reserved) / 1e9)],
    about: `A CUDA memory snapshot, device ${device}. It says when memory was taken and not what for, so all of it is unknown. It was read as plain data; nothing in it was run.${left}`,
  };
}

/** The most that the allocator had from CUDA: what it has at the end, with the trace undone step by step. */
function reserved(entries: readonly Entry[], atEnd: number): number {
  let now = atEnd;
  let most = atEnd;
  for (const { action, bytes } of [...entries].reverse()) {
    if (action === "segment_alloc" || action === "segment_map") now -= bytes;
    else if (action === "segment_free" || action === "segment_unmap") now += bytes;
    most = Math.max(most, now);
  }
  return most;
}

function segmentsOf(data: Value, device: number): { active: number; reserved: number } {
  const all = member(data, "segments");
  const own = (Array.isArray(all) ? all : []).filter((segment) => (member(segment, "device") ?? device) === device);
  const sum = (name: string) => own.reduce<number>((total, segment) => total + size(member(segment, name)), 0);
  return { active: sum("active_size"), reserved: sum("total_size") };
}

function entry(value: Value, i: number): Entry {
  const action = member(value, "action");
  if (typeof action !== "string") throw new ViewerError(`Entry ${i} of this snapshot’s trace has no action.`);
  return { action, bytes: size(member(value, "size")), ms: size(member(value, "time_us")) / 1000 };
}

function member(value: Value, name: string): Value | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
}

function size(value: Value | undefined): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
