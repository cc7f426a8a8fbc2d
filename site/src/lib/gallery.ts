import { count, fixed } from "./format";
import type { Plan } from "./plans";

/** One way to sort the gallery, each a page of its own so that it works without JavaScript. */
export interface Order {
  /** Where the page is, from the site's root. */
  path: string;
  /** What the models are sorted by, as the rest of "Sorted by". */
  by: string;
  direction: "ascending" | "descending";
  compare: (a: Plan, b: Plan) => number;
}

export const ORDERS = {
  saved: {
    path: "/models/",
    by: "the share of the peak that is saved",
    direction: "descending",
    compare: (a, b) => b.saved - a.saved,
  },
  peak: {
    path: "/models/by-peak/",
    by: "the plain loop’s peak",
    direction: "descending",
    compare: (a, b) => b.timelines.default.peak_gb - a.timelines.default.peak_gb,
  },
  backprop: {
    path: "/models/by-backprop/",
    by: "BackProp’s peak",
    direction: "descending",
    compare: (a, b) => b.timelines.backprop.peak_gb - a.timelines.backprop.peak_gb,
  },
  parameters: {
    path: "/models/by-parameters/",
    by: "the number of parameters",
    direction: "descending",
    compare: (a, b) => b.timelines.workload.parameters - a.timelines.workload.parameters,
  },
  name: {
    path: "/models/by-name/",
    by: "name",
    direction: "ascending",
    compare: (a, b) => a.name.localeCompare(b.name, "en"),
  },
} as const satisfies Record<string, Order>;

export type OrderName = keyof typeof ORDERS;

/** Below this share of the peak a saving is none. */
export const NEGLIGIBLE = 0.01;

/** `batch 4 of 1,024 tokens, bfloat16, AdamW (fused), checkpointed` */
export function setting({ timelines: { workload } }: Plan): string {
  const length = workload.seq_len ? ` of ${fixed(workload.seq_len, 0)} tokens` : "";
  const checkpointed = workload.checkpointed ? ", checkpointed" : "";
  const { name, implementation } = workload.optimizer;
  return `batch ${fixed(workload.batch_size, 0)}${length}, ${workload.dtype}, ${name} (${implementation})${checkpointed}`;
}

/** `6.74 billion` */
export function size({ timelines }: Plan): string {
  return count(timelines.workload.parameters);
}
