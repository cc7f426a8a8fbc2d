import { SERIES } from "../categories";
import { describe } from "../describe";
import { memory } from "../format";
import { layout } from "../layout";
import type { Mode } from "../modes";
import { column } from "../timelines";
import { markup, type Markup } from "./markup";
import { legend } from "./legend";
import { plot } from "./plot";
import { readout } from "./readout";
import { table } from "./table";

export interface FigureOptions {
  /** Start of the ids in the figure: another one for each figure of a page. */
  id: string;
  /** Over the figure. */
  title: string;
  /** Under the figure, over the table. */
  caption: Markup;
}

/**
 * The whole figure for one to four modes on one scale: what the page has at build time and what the viewer draws. The
 * `data-` attributes are what <memory-timelines> needs to read it.
 */
export function figure(modes: readonly Mode[], { id, title, caption }: FigureOptions): Markup {
  const { panels, ...shared } = layout(modes);
  const { unit } = shared;
  const held = SERIES.filter((s) => modes.some(({ timeline }) => column(timeline, s).some((gb) => gb > 0)));
  const single = modes.length === 1 ? " single" : "";
  const drawn = panels.map((panel) => {
    const { mode } = panel;
    const name = markup`<p class="name">
      <b>${mode.label}</b> <span>peak <b>${memory(mode.timeline.peak_gb, unit)}</b></span>
    </p>`;
    return markup`<div class="panel" data-mode="${mode.key}">
      ${name}${readout(mode, held, unit)}${plot(panel, shared, describe(mode, unit), id)}
    </div>`;
  });
  const tables = modes.map((mode) => table(mode, held, unit));
  return markup`<figure
    class="memory-timelines"
    id="${id}"
    aria-labelledby="${id}-title"
    data-max-ms="${shared.maxMs}"
    data-top-gb="${shared.topGb}"
    data-head="${shared.head}"
  >
    <p class="title" id="${id}-title">${title}</p>
    ${legend(held, id)}
    <div class="panels${single}">${drawn}</div>
    <figcaption>
      ${caption}
      <details>
        <summary>The numbers: each category at the peak and at the end of each phase</summary>
        <div class="tables${single}">${tables}</div>
      </details>
    </figcaption>
  </figure>`;
}
