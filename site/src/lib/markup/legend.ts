import { SERIES_LABELS, slug, type Series } from "../categories";
import { markup, type Markup } from "./markup";
import { patternOf, patterns } from "./patterns";

/** The names of what is stacked, bottom first. The element makes buttons of them. */
export function legend(held: readonly Series[], id: string): Markup {
  const items = held.map((series) => {
    const pattern = patternOf(series, id);
    const over = pattern && markup`<rect fill="${pattern}" width="12" height="12" />`;
    return markup`<li data-series="${series}">
      <svg width="12" height="12" aria-hidden="true">
        <rect class="fill-${slug(series)}" width="12" height="12" />
        ${over}
      </svg>
      ${SERIES_LABELS[series]}
    </li>`;
  });
  return markup`<div class="legend">
    <svg class="patterns" width="0" height="0" aria-hidden="true">${patterns(id)}</svg><span>From the bottom up:</span>
    <ul role="list">
      ${items}
    </ul>
  </div>`;
}
