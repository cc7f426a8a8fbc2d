import { slug, type Series } from "../categories";
import { markup, type Markup } from "./markup";

/** The two series that a pattern tells apart as well, because their hues may look alike. */
const PATTERNED: readonly Series[] = ["GRADIENT", "TEMPORARY"];

/** The SVG patterns of one figure; `id` keeps them apart from another figure's. */
export function patterns(id: string): Markup {
  return markup`<defs>
    <pattern id="${id}-${slug("GRADIENT")}" width="7" height="7" patternUnits="userSpaceOnUse">
      <path d="M-1 8 8 -1M-1 1 1 -1M6 8 8 6" />
    </pattern>
    <pattern id="${id}-${slug("TEMPORARY")}" width="5" height="5" patternUnits="userSpaceOnUse">
      <path d="M0 2.5h5" />
    </pattern>
  </defs>`;
}

/** The `fill` attribute's pattern, null for a series without. */
export function patternOf(series: Series, id: string): string | null {
  return PATTERNED.includes(series) ? `url(#${id}-${slug(series)})` : null;
}
