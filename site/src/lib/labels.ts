import { areaLabels } from "./area-labels";
import type { Series } from "./categories";
import type { Unit } from "./format";
import { PLOT, TEXT, WIDTHS } from "./geometry";
import { lineLabels } from "./line-labels";
import type { Box } from "./boxes";
import type { Mode } from "./modes";
import type { Anchor, Shown } from "./phases";
import { textWidth } from "./text-width";

/** Text in the plot. `x` is a fraction of its width, `dx` pixels from there, `y` the baseline in pixels from its top. */
export interface Label {
  kind: "peak" | "saving" | "reference" | "reserved" | "area" | "callout";
  text: string;
  x: number;
  dx: number;
  y: number;
  anchor: Anchor;
  shown: Shown;
  category?: Series;
  /** A line from a callout down to what it names. */
  leader?: { x: number; y0: number; y1: number };
}

/** One mode on the figure's scales. */
export interface Scene {
  mode: Mode;
  maxMs: number;
  topGb: number;
  unit: Unit;
  /** The highest peak of the figure, where it is another mode's. */
  reference?: { gb: number; label: string };
}

/** Pixels from the plot's top. */
export function yOf(gigabytes: number, topGb: number): number {
  return PLOT.height * (1 - gigabytes / topGb);
}

/** How much wider the words at the peak are, in bold. */
const BOLD = 1.12;

/** The space that a label's words take in a plot of this width. */
export function boxOf({ kind, text, x, dx, y, anchor }: Label, width: number): Box {
  const long = textWidth(text) * (kind === "peak" || kind === "saving" ? BOLD : 1);
  const at = x * width + dx;
  const x0 = anchor === "start" ? at : anchor === "end" ? at - long : at - long / 2;
  return { x0, x1: x0 + long, y0: y - TEXT.size, y1: y + TEXT.height - TEXT.size };
}

/** All labels of one plot: those that fit when it is narrow, and more when it is wide. */
export function labels(scene: Scene): Label[] {
  const fixed = lineLabels(scene);
  const narrow = areaLabels(scene, WIDTHS.narrow, fixed, "always");
  return [...fixed, ...narrow, ...areaLabels(scene, WIDTHS.wide, [...fixed, ...narrow], "wide")];
}
