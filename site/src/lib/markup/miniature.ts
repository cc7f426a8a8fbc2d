import { slug } from "../categories";
import { columns } from "../columns";
import { GRID } from "../geometry";
import { memory, unitFor } from "../format";
import type { Mode } from "../modes";
import { areas } from "../stack";
import { markup, type Markup } from "./markup";

/** In CSS pixels; two of them, and the gap between, fit a table's cell on a phone. */
export const MINIATURE = { width: 96, height: 64 } as const;

/** A plot without words: what is stacked, on a scale that all miniatures of a page share. */
export function miniature({ label, timeline }: Mode, topGb: number): Markup {
  const [width, height] = [MINIATURE.width * GRID, MINIATURE.height * GRID];
  const drawn = areas(timeline, columns(timeline, width / timeline.end_t), height, topGb);
  const paths = drawn.map(({ category, d }) => markup`<path class="fill-${slug(category)}" d="${d}" />`);
  const words = `${label}: peak ${memory(timeline.peak_gb, unitFor(topGb))}`;
  return markup`<svg class="miniature" width="${MINIATURE.width}" height="${MINIATURE.height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${words}">${paths}</svg>`;
}
