import { SERIES, type Series } from "./categories";
import { memoryAt, type Timeline } from "./timelines";

export interface TableRows {
  /** Column headings: the peak, then each phase's end. */
  moments: string[];
  rows: Record<Series, number[]>;
  total: number[];
}

/** What each category holds at the peak and at the end of each phase, and their sums. */
export function tableRows(timeline: Timeline): TableRows {
  const times = [timeline.peak_t, ...timeline.phases.map(({ end }) => end)];
  const held = times.map((ms) => memoryAt(timeline, ms));
  return {
    moments: [
      "at the peak",
      ...timeline.phases.map(({ name }) => `after ${name === "optimizer step" ? "step" : name}`),
    ],
    rows: Object.fromEntries(SERIES.map((c) => [c, held.map((h) => h[c])])) as Record<Series, number[]>,
    total: held.map((h) => SERIES.reduce((sum, c) => sum + h[c], 0)),
  };
}
