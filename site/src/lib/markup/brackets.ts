import { pct, PLOT } from "../geometry";
import type { Bracket } from "../phases";
import { markup, type Markup } from "./markup";

const NUDGE = { start: -3, middle: 0, end: 3 };

/** The phases over a plot: a bracket each, and their names over all of the brackets' lines. */
export function bracketMarks(brackets: readonly Bracket[], head: number): Markup {
  const bar = head - 8;
  const lines = brackets.map(({ start, end, labels }) => {
    const raised = labels
      .filter(({ row }) => row > 0)
      .map(({ x, row, shown }) => stroke(x, bar - row * PLOT.row, x, bar, `shown-${shown}`));
    return [stroke(start, bar, end, bar), stroke(start, bar, start, bar + 4), stroke(end, bar, end, bar + 4), raised];
  });
  const names = brackets
    .flatMap(({ labels }) => labels)
    .map(
      ({ text, x, anchor, row, shown }) =>
        markup`<text class="shown-${shown}" x="${pct(x)}" dx="${NUDGE[anchor]}" y="${bar - 4 - row * PLOT.row}" text-anchor="${anchor}">${text}</text>`,
    );
  return markup`<g class="brackets">${lines}${names}</g>`;
}

function stroke(x1: number, y1: number, x2: number, y2: number, shown?: string): Markup {
  const attribute = shown && markup` class="${shown}"`;
  return markup`<line${attribute} x1="${pct(x1)}" x2="${pct(x2)}" y1="${y1}" y2="${y2}" />`;
}
