import { CATEGORIES, CATEGORY_LABELS, type Category } from "./categories";
import { memoryAt, type MemoryTimelines, type Timeline } from "./timelines";

/** The call of the training loop that is running at time `ms`, or the last one that ran. */
export function phaseAt({ phases }: Timeline, ms: number): string {
  return phases.findLast(({ start }) => start <= ms)?.name ?? phases[0]?.name ?? "";
}

export interface PeakRow {
  category: Category;
  label: string;
  plain: number;
  backprop: number;
}

/** What each mode's peak is made of, side by side, without what neither holds then. */
export function peakRows({ default: plain, backprop }: MemoryTimelines): PeakRow[] {
  const [before, after] = [memoryAt(plain, plain.peak_t), memoryAt(backprop, backprop.peak_t)];
  return CATEGORIES.map((category) => ({
    category,
    label: CATEGORY_LABELS[category],
    plain: before[category],
    backprop: after[category],
  })).filter((row) => row.plain > 0 || row.backprop > 0);
}
