import { modeFigures } from "./figures";
import { duration, memory, type Unit } from "./format";
import type { Mode } from "./modes";
import { totals } from "./timelines";

/** The plot in words, for those who can't see it. */
export function describe({ label, timeline }: Mode, unit: Unit): string {
  const { peak, partsText, peakTime, end } = modeFigures(timeline, unit);
  const sums = totals(timeline);
  const parts = timeline.phases.map((p) => `${p.name} from ${duration(p.start)} to ${duration(p.end)}`).join(", ");
  return (
    `${label}: memory over one training step of ${end}, stacked by category. ` +
    `It starts at ${memory(sums[0] ?? 0, unit)}, peaks at ${peak} after ${peakTime} and ends at ${memory(sums.at(-1) ?? 0, unit)}. ` +
    `The peak is made of ${partsText}.` +
    (parts ? ` Phases: ${parts}.` : "") +
    (timeline.reserved_gb === null ? "" : ` The allocator reserved ${memory(timeline.reserved_gb, unit)}.`)
  );
}
