import { slug } from "../categories";
import { GRID, pct, PLOT } from "../geometry";
import type { Layout, Panel } from "../layout";
import { bracketMarks } from "./brackets";
import { markup, type Markup } from "./markup";
import { labelMarks } from "./label-marks";
import { patternOf } from "./patterns";

/** From here on a tick's number stands before its tick, so that it doesn't pass the plot's end. */
const NEAR_END = 0.93;

/** One mode's plot. `label` says in words what it shows. */
export function plot(panel: Panel, { head, times, memory }: Omit<Layout, "panels">, label: string, id: string): Markup {
  const { width, height, bottom } = PLOT;
  const foot = head + height;
  const grid = (to: string) =>
    memory.map(({ y }) => markup`<line x1="0" x2="${to}" y1="${head + y}" y2="${head + y}" />`);
  return markup`<svg class="plot" width="100%" height="${foot + bottom}" role="img" aria-label="${label}">
    <g class="grid">${grid("100%")}</g>
    <svg
      class="areas"
      y="${head}"
      width="100%"
      height="${height}"
      viewBox="0 0 ${width * GRID} ${height * GRID}"
      preserveAspectRatio="none"
    >
      ${areas(panel, id)}
    </svg>
    <g class="grid over">${grid(pct(panel.end))}</g>
    <g class="numbers">
      ${memory.map(
        ({ y, text }) => markup`<text x="-7" y="${head + y}" dy="4" text-anchor="end">${text}</text>`,
      )}${times.map(
        ({ x, text }) =>
          markup`<line x1="${pct(x)}" x2="${pct(x)}" y1="${foot}" y2="${foot + 5}" />
            <text x="${pct(x)}" y="${foot + 17}" text-anchor="${x > NEAR_END ? "end" : "middle"}">${text}</text>`,
      )}
      <line x1="0" x2="100%" y1="${foot}" y2="${foot}" />
    </g>
    ${bracketMarks(panel.brackets, head)}${labelMarks(panel, head)}
  </svg>`;
}

function areas(panel: Panel, id: string): Markup[] {
  return panel.areas.map(({ category, d, thin }) => {
    const pattern = patternOf(category, id);
    const path = markup`<path class="fill-${slug(category)}${thin ? " thin" : ""}" data-series="${category}" d="${d}" />`;
    return markup`${path}${pattern && markup`<path class="pattern" data-series="${category}" fill="${pattern}" d="${d}" />`}`;
  });
}
