import { CATEGORIES, type Category } from "../../src/lib/categories";
import type { MemoryTimelines, Timeline } from "../../src/lib/timelines";

/** Times from 0 with what the named categories hold at each; the rest holds nothing. */
export function timeline(
  t: number[],
  held: Partial<Record<Category, number[]>>,
  changes: Partial<Timeline> = {},
): Timeline {
  const gb = CATEGORIES.map((category) => held[category] ?? t.map(() => 0));
  const sums = t.map((_, i) => gb.reduce((sum, values) => sum + (values[i] ?? 0), 0));
  const peak_gb = Math.max(...sums);
  const end_t = (t.at(-1) ?? 0) + 10;
  return {
    t,
    gb,
    end_t,
    peak_gb,
    peak_t: t[sums.indexOf(peak_gb)] ?? 0,
    phases: [
      { name: "forward", start: 0, end: end_t * 0.3 },
      { name: "backward", start: end_t * 0.3, end: end_t * 0.7 },
      { name: "optimizer step", start: end_t * 0.7, end: end_t },
    ],
    step_ms: 90,
    timed_steps: 20,
    allocator_peak_gb: null,
    cuda_mallocs_per_step: null,
    cuda_frees_per_step: null,
    reserved_gb: null,
    rss_peak_gb: null,
    ...changes,
  };
}

/** A run small enough to check by hand: 4 layers, gradients of 1 GB each, and nothing timed twice. */
export function sample(): MemoryTimelines {
  return {
    categories: CATEGORIES,
    default: timeline([0, 10, 40, 60, 80, 90], {
      PARAMETER: [4, 4, 4, 4, 4, 4],
      OPTIMIZER_STATE: [8, 8, 8, 8, 8, 8],
      INPUT: [0, 0.05, 0.05, 0.05, 0.05, 0.05],
      ACTIVATION: [0, 1, 2, 1, 0, 0],
      GRADIENT: [0, 0, 1, 3, 4, 4],
      TEMPORARY: [0, 0, 0, 0, 1, 0],
    }),
    backprop: timeline(
      [0, 10, 40, 60, 80, 90],
      {
        PARAMETER: [4, 4, 4, 4, 4, 4],
        OPTIMIZER_STATE: [8, 8, 8, 8, 8, 8],
        INPUT: [0, 0.05, 0.05, 0.05, 0.05, 0.05],
        ACTIVATION: [0, 1, 2, 1, 0, 0],
        GRADIENT: [0, 0, 1, 1, 1, 0],
        TEMPORARY: [0, 0, 0.5, 0, 0, 0],
      },
      {
        phases: [
          { name: "forward", start: 0, end: 39.7 },
          { name: "backward", start: 39.7, end: 40 },
          { name: "optimizer step", start: 40, end: 100 },
        ],
        step_ms: 85.5,
      },
    ),
    workload: {
      name: "linear-stack",
      parameters: 805_371_968,
      batch_size: 2048,
      layers: 4,
      widths: [8192, 8192, 8192, 8192, 1],
      dtype: "float32",
      optimizer: { name: "AdamW", implementation: "fused", settings: { lr: 0.01, betas: [0.1, 0.1], amsgrad: false } },
    },
    environment: {
      source: "cuda",
      device: "a GPU",
      torch: "2.13.0",
      python: "3.12.1",
      platform: "Linux",
      created: "2026-12-01T04:40:00Z",
      command: "python experiments/backprop.py data/cuda",
      commit: "abc1234",
    },
  };
}
