import { edges, type Timeline } from "./timelines";

/** Extremes of each category's upper edge in each of the plot's columns: `max[category][column]`, in GB. */
export interface Columns {
  max: Float64Array[];
  min: Float64Array[];
}

/**
 * Cuts a timeline into columns of equal width, `perMs` of them to a millisecond.
 *
 * A column takes the extremes over all of the time that it covers, so a peak however short stays visible, one column
 * wide, at its exact height. A plot never has more detail than its columns, and no trace makes a longer path.
 */
export function columns(timeline: Timeline, perMs: number): Columns {
  const n = Math.max(1, Math.ceil(timeline.end_t * perMs - 1e-9));
  const { t, end_t } = timeline;
  const max: Float64Array[] = [];
  const min: Float64Array[] = [];
  for (const edge of edges(timeline)) {
    const high = new Float64Array(n);
    const low = new Float64Array(n).fill(Infinity);
    edge.forEach((value, i) => {
      const from = Math.min(n - 1, Math.floor((t[i] ?? 0) * perMs));
      const to = Math.min(n, Math.max(from + 1, Math.ceil((t[i + 1] ?? end_t) * perMs - 1e-9)));
      for (let c = from; c < to; c++) {
        if (value > (high[c] ?? 0)) high[c] = value;
        if (value < (low[c] ?? 0)) low[c] = value;
      }
    });
    max.push(high);
    min.push(low);
  }
  return { max, min };
}
