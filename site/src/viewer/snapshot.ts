import { fixed } from "../lib/format";
import { Moments } from "./moments";
import { readEvents, type Events } from "./snapshot-events";
import { COLUMNS, UNKNOWN, type Trace } from "./trace";

/** A CUDA memory snapshot, as torch.cuda.memory._dump_snapshot pickles it. */
export function readSnapshot(bytes: Uint8Array, label: string): { trace: Trace; about: string } {
  const events = readEvents(bytes);
  const trace = replay(events, label);
  const { device, others, us, column } = events;
  const named = column.some((c) => c !== UNKNOWN);
  const about =
    `CUDA memory snapshot: ${fixed(us.length, 0)} events on device ${device} over ${fixed(trace.end_t, 1)} ms` +
    (named ? "" : ", which say nothing about categories") +
    (others > 0 ? `; ${others} more device${others > 1 ? "s have" : " has"} events that are not shown` : "") +
    ".";
  return { trace, about };
}

/** Follows the events once for their sums, from which comes what was there before, and again for the moments. */
function replay({ us, column, bytes, segment, active, reserved }: Events, label: string): Trace {
  const held = new Float64Array(COLUMNS);
  const change = (i: number) => {
    const c = column[i] ?? UNKNOWN;
    held[c] = (held[c] ?? 0) + (bytes[i] ?? 0);
  };
  let [lowest, mapped, highest] = [0, 0, 0];
  for (let i = 0; i < us.length; i++) {
    change(i);
    lowest = Math.min(lowest, held[UNKNOWN] ?? 0);
    mapped += segment[i] ?? 0;
    highest = Math.max(highest, mapped);
  }
  const added = held.reduce((sum, value) => sum + value);

  held.fill(0);
  // More is freed than was there only where the file contradicts itself, or leaves segments out.
  held[UNKNOWN] = Math.max(active - added, -lowest);
  const moments = new Moments(us.length);
  const first = us[0] ?? 0;
  let now = first;
  for (let i = 0; i < us.length; i++) {
    // Several threads read the clock, so that a time may be a little before the one that precedes it.
    now = Math.max(now, us[i] ?? 0);
    change(i);
    moments.put((now - first) / 1e3, held);
  }
  const { trace } = moments.finish(label);
  const most = Math.max(reserved - mapped, 0) + highest;
  return { ...trace, reserved_gb: most > 0 ? most / 1e9 : null };
}
