import { SERIES, type Category, type Series } from "./categories";

/** memory_timelines.json, as its JSON Schema states it. GB is 1e9 bytes; times are ms from the step's start. */
export interface MemoryTimelines {
  categories: readonly Category[];
  default: Timeline;
  backprop: Timeline;
  workload: Workload;
  environment: Environment;
}

export interface Timeline {
  t: readonly number[];
  /** One column per category (and, in a trace that is not ours, one for what has no name), each as long as `t`. A sample holds until the next one, the last until `end_t`. */
  gb: readonly (readonly number[])[];
  end_t: number;
  peak_gb: number;
  peak_t: number;
  phases: readonly Phase[];
  step_ms: number | null;
  timed_steps: number;
  allocator_peak_gb: number | null;
  cuda_mallocs_per_step: number | null;
  cuda_frees_per_step: number | null;
  reserved_gb: number | null;
  rss_peak_gb: number | null;
}

export interface Phase {
  name: string;
  start: number;
  end: number;
}

export interface Workload {
  name: string;
  parameters: number;
  batch_size: number;
  /** Tokens per sequence. */
  seq_len?: number;
  /** Whether activations are computed again in backward. */
  checkpointed?: boolean;
  layers?: number;
  widths?: readonly number[];
  dtype: string;
  optimizer: {
    name: string;
    implementation: "for-loop" | "foreach" | "fused";
    settings: Readonly<Record<string, unknown>>;
  };
}

export interface Environment {
  source: "cuda" | "cpu" | "simulated";
  device: string;
  torch: string;
  python: string;
  platform: string;
  created: string;
  command: string;
  commit: string | null;
}

/** The column of one category, empty where the timeline has none. */
export function column(timeline: Timeline, series: Series): readonly number[] {
  return timeline.gb[SERIES.indexOf(series)] ?? [];
}

/** The largest number of a column, 0 of an empty one. Math.max(...column) has a limit that long traces pass. */
export function largest(values: readonly number[]): number {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

/** Running totals over the categories: `edges[c][i]` is the top of category c at sample i. */
export function edges(timeline: Timeline): number[][] {
  const sums = timeline.t.map(() => 0);
  return timeline.gb.map((values) => {
    values.forEach((v, i) => (sums[i] = (sums[i] ?? 0) + v));
    return [...sums];
  });
}

/** The total over all categories at each sample. */
export function totals(timeline: Timeline): number[] {
  return edges(timeline).at(-1) ?? [];
}

/** Index of the sample that holds at time `ms`: the last one at or before it. */
export function sampleAt(timeline: Timeline, ms: number): number {
  let low = 0;
  let high = timeline.t.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((timeline.t[middle] ?? 0) <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** What each category holds at time `ms`. */
export function memoryAt(timeline: Timeline, ms: number): Record<Series, number> {
  const i = sampleAt(timeline, ms);
  return Object.fromEntries(SERIES.map((s) => [s, column(timeline, s)[i] ?? 0])) as Record<Series, number>;
}
