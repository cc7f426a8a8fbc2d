import { SERIES, type Series } from "./categories";
import type { Columns } from "./columns";
import { stepArea } from "./path";
import { column, largest, type Timeline } from "./timelines";

/** One category's area: from 0 to the running total, to be covered by the areas of the categories below it. */
export interface Area {
  category: Series;
  d: string;
  /** Too thin all along for the line that keeps it apart from its neighbour. */
  thin: boolean;
}

/** Of the plot's height, in the areas' units. */
const THIN = 8;

/** Painter's order: the top category first. A category that is never held has no area. */
export function areas(timeline: Timeline, { max }: Columns, height: number, topGb: number): Area[] {
  return SERIES.map((category, c) => ({ category, edge: max[c] }))
    .filter(({ category, edge }) => edge && column(timeline, category).some((gb) => gb > 0))
    .map(({ category, edge = [] }) => ({
      category,
      thin: (largest(column(timeline, category)) / topGb) * height < THIN,
      d: stepArea(
        Array.from(edge, (gb) => (gb / topGb) * height),
        height,
      ),
    }))
    .reverse();
}
