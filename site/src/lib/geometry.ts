/**
 * The plot's measures in CSS pixels. Text is set in pixels and never scales; only the areas stretch to the width that the
 * page gives, so positions across are fractions of that width.
 */
export const PLOT = {
  /** The width at which the areas' half-pixel grid is exact. */
  width: 480,
  height: 320,
  /** Room under the plot for the time axis. */
  bottom: 22,
  /** Height of one row of phase names over the plot. */
  row: 16,
} as const;

/** Units of the areas' own grid in a pixel. */
export const GRID = 2;

/** Panel widths that labels are placed for: what fits the first is always shown, what fits the second only when wide. */
export const WIDTHS = { narrow: 276, wide: 430 } as const;

/** Font size of labels, and the height that a line of them takes. */
export const TEXT = { size: 12, height: 15 } as const;

/** A percentage for an SVG attribute: `12.34%`. */
export function pct(fraction: number): string {
  return `${Number((fraction * 100).toFixed(2))}%`;
}
