import { overlaps, type Box } from "./boxes";
import { TEXT } from "./geometry";
import type { Anchor } from "./phases";
import { textWidth } from "./text-width";

export interface Band {
  top: number;
  bottom: number;
}

export interface Callout {
  text: string;
  x: number;
  dx: number;
  y: number;
  anchor: Anchor;
  leader: { x: number; y0: number; y1: number };
}

export interface Surroundings {
  /** What neither the words nor their line may touch. */
  taken: readonly Box[];
  /** What the line may cross, but the words may not. */
  lines: readonly Box[];
  width: number;
}

/** A band thinner than this (px) all along is left to the legend and the table. */
const THICK_ENOUGH = 4;
/** From the highest point under a callout up to the text's lower edge. */
const GAP = 9;
const LEVELS = 5;
/** How much of the text is to the left of its line. */
const SHARES = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 0.4, 0.3, 0.2, 0.1, 0];

/**
 * Places a name in the empty space over the areas, with a line down to its band. Tries the band's thickest columns first,
 * each with the text around its line in several ways, as low as nothing is in the way.
 */
export function callout(
  text: string,
  band: readonly Band[],
  skyline: readonly number[],
  { taken, lines, width }: Surroundings,
): Callout | undefined {
  const thickness = band.map(({ top, bottom }) => bottom - top);
  const thickest = Math.max(0, ...thickness);
  if (thickest < THICK_ENOUGH) return undefined;
  const candidates = [...thickness.keys()]
    .filter((c) => (thickness[c] ?? 0) >= thickest * 0.8)
    .sort((a, b) => (thickness[b] ?? 0) - (thickness[a] ?? 0));
  const long = textWidth(text);
  const places = candidates.flatMap((c) =>
    SHARES.map((share) => ({ c, x0: c + 0.5 - 4 - share * (long - 8) }))
      .filter(({ x0 }) => x0 >= 0 && x0 + long <= width)
      .map((place) => ({ ...place, under: highest(skyline, place.x0, place.x0 + long) })),
  );
  for (let level = 0; level < LEVELS; level++) {
    for (const { c, x0, under } of places) {
      const x = c + 0.5;
      const lower = under - GAP - level * TEXT.height;
      const box = { x0: x0 - 2, x1: x0 + long + 2, y0: lower - TEXT.height, y1: lower };
      const { top, bottom } = band[c] ?? { top: 0, bottom: 0 };
      const leader = { x: x / width, y0: lower + 1, y1: (top + bottom) / 2 };
      const stem = { x0: x - 2, x1: x + 2, y0: lower, y1: top };
      if (box.y0 < 0 || lines.some((line) => overlaps(box, line))) continue;
      if (taken.some((other) => overlaps(box, other) || overlaps(stem, other))) continue;
      return { text, x: x / width, dx: x0 - x, y: lower - (TEXT.height - TEXT.size), anchor: "start", leader };
    }
  }
  return undefined;
}

/** The skyline's highest point, which is its smallest y, over a stretch of columns. */
function highest(skyline: readonly number[], from: number, to: number): number {
  let y = Infinity;
  for (let c = Math.floor(from); c < Math.min(skyline.length, Math.ceil(to)); c++) y = Math.min(y, skyline[c] ?? y);
  return y;
}
