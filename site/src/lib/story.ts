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

const NO_BREAK = "\u00a0";

/** The same, with no line break between a number and its unit in any text within. */
export function unbroken<T>(value: T): T {
  if (typeof value === "string") return value.replaceAll(/(?<=\d) (?=[A-Za-z×])/g, NO_BREAK) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => unbroken(item)) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unbroken(member)])) as T;
}
