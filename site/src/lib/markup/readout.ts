import { SERIES_LABELS, slug, type Series } from "../categories";
import { amount, duration, memory, type Unit } from "../format";
import type { Mode } from "../modes";
import { phaseAt } from "../story";
import { memoryAt } from "../timelines";
import { markup, type Markup } from "./markup";

/**
 * What one mode holds at its peak: a list with a place for every series of the figure. It doesn't change its size when the
 * element writes another moment into it.
 */
export function readout({ timeline }: Mode, held: readonly Series[], unit: Unit): Markup {
  const at = memoryAt(timeline, timeline.peak_t);
  const items = held.map(
    (series) =>
      markup`<li data-series="${series}">
        <span class="word-${slug(series)}">${SERIES_LABELS[series]}</span>
        <span class="value">${amount(at[series], unit)}</span>
      </li>`,
  );
  const phase = phaseAt(timeline, timeline.peak_t);
  const where = phase && `, ${phase}`;
  return markup`<div class="readout">
    <p class="moment">
      <span class="when">At the peak, ${duration(timeline.peak_t)}${where}</span>
      <b class="sum">${memory(timeline.peak_gb, unit)}</b>
    </p>
    <ul role="list">
      ${items}
    </ul>
  </div>`;
}
