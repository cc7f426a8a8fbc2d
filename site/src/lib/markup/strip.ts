import { pct } from "../geometry";
import { markup, type Markup } from "./markup";

/** One way to train on a strip: where its dot and its interval lie, and whether it is ours. */
export interface Dot {
  name: string;
  median: number;
  low: number;
  high: number;
  ours: boolean;
}

const HEIGHT = 26;
/** Ratios at the strip's ends; what lies beyond stands at the end. */
const [FROM, TO] = [0.65, 2];
const TICKS = [0.7, 1, 1.4, 2];
const RADIUS = 4;

/** Ratios lie by their logarithm: half as long is as far from one as twice as long. */
function at(ratio: number): number {
  const share = Math.log(ratio / FROM) / Math.log(TO / FROM);
  return 0.02 + 0.96 * Math.min(Math.max(share, 0), 1);
}

/** Step times of one race over the plain loop's, as dots on a logarithmic strip. */
export function strip(dots: readonly Dot[]): Markup {
  const middle = HEIGHT / 2;
  const words = dots.map(({ name, median }) => `${name} ${median.toFixed(2)}`).join(", ");
  // Ours last, so that it lies over the others.
  const drawn = [...dots]
    .sort((a, b) => Number(a.ours) - Number(b.ours))
    .map(({ name, median, low, high, ours }) => {
      const kind = ours ? "ours" : "peer";
      return markup`<g class="${kind}"><title>${name}: ${median.toFixed(2)}, 95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}</title>
      ${ours && markup`<line x1="${pct(at(low))}" x2="${pct(at(high))}" y1="${middle}" y2="${middle}" />`}
      <circle cx="${pct(at(median))}" cy="${middle}" r="${ours ? RADIUS + 1 : RADIUS}" /></g>`;
    });
  return markup`<svg class="strip" width="100%" height="${HEIGHT}" role="img" aria-label="Step time over the plain loop’s: ${words}">
    <line class="one" x1="${pct(at(1))}" x2="${pct(at(1))}" y1="0" y2="${HEIGHT}" />${drawn}</svg>`;
}

/** The numbers under or over a column of strips. */
export function stripAxis(): Markup {
  const numbers = TICKS.map(
    (tick) => markup`<text x="${pct(at(tick))}" y="12" text-anchor="${tick === TO ? "end" : "middle"}">${tick}</text>`,
  );
  return markup`<svg class="strip" width="100%" height="16" aria-hidden="true">${numbers}</svg>`;
}
