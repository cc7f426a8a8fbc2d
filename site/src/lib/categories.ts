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

/** The part of a class name or id that stands for a category: `optimizer-state`. */
export function slug(category: Category): string {
  return category.toLowerCase().replaceAll("_", "-");
}
