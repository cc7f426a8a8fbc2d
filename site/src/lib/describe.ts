import { modeFigures } from "./figures";
import { duration, gb } from "./format";
import type { Mode } from "./modes";
import { totals } from "./timelines";

/** The plot in words, for those who can't see it. */
export function describe({ label, timeline }: Mode): string {
  const { peak, partsText, peakTime, end } = modeFigures(timeline);
  const sums = totals(timeline);
  const phases = timeline.phases.map((p) => `${p.name} from ${duration(p.start)} to ${duration(p.end)}`).join(", ");
  return (
    `${label}: memory over one training step of ${end}, stacked by category. ` +
    `It starts at ${gb(sums[0] ?? 0)}, peaks at ${peak} after ${peakTime} and ends at ${gb(sums.at(-1) ?? 0)}. ` +
    `The peak is made of ${partsText}. Phases: ${phases}.` +
    (timeline.reserved_gb === null ? "" : ` The allocator reserved ${gb(timeline.reserved_gb)}.`)
  );
}
