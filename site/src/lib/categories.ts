/** The seven categories in the order they are stacked, bottom first, with the words that readers see. */
export const CATEGORIES = [
  "PARAMETER",
  "OPTIMIZER_STATE",
  "INPUT",
  "ACTIVATION",
  "GRADIENT",
  "AUTOGRAD_DETAIL",
  "TEMPORARY",
] as const;

export type Category = (typeof CATEGORIES)[number];

export const CATEGORY_LABELS: Readonly<Record<Category, string>> = {
  PARAMETER: "parameters",
  OPTIMIZER_STATE: "optimizer state",
  INPUT: "input",
  ACTIVATION: "activations",
  GRADIENT: "gradients",
  AUTOGRAD_DETAIL: "autograd detail",
  TEMPORARY: "temporary",
};

/**
 * What a figure can stack: the categories, and at the top what a trace that is not ours leaves unnamed. Data of the
 * contract have no such column.
 */
export const SERIES = [...CATEGORIES, "UNKNOWN"] as const;

export type Series = (typeof SERIES)[number];

export const SERIES_LABELS: Readonly<Record<Series, string>> = { ...CATEGORY_LABELS, UNKNOWN: "unknown" };

/** The part of a class name or id that stands for a series: `optimizer-state`. */
export function slug(series: Series): string {
  return series.toLowerCase().replaceAll("_", "-");
}
