import { roomiest, type Box } from "./boxes";
import { callout } from "./callouts";
import { SERIES, SERIES_LABELS, type Series } from "./categories";
import { columns } from "./columns";
import { PLOT, TEXT } from "./geometry";
import { boxOf, yOf, type Label, type Scene } from "./labels";
import type { Shown } from "./phases";
import { column } from "./timelines";
import { textWidth } from "./text-width";

/** Around a name on its area. */
const PADDING = 4;

/** Each category's name on its area where it has the room, else over it with a line down. */
export function areaLabels(scene: Scene, width: number, placed: readonly Label[], shown: Shown): Label[] {
  const { mode, maxMs, topGb } = scene;
  const { min, max } = columns(mode.timeline, width / maxMs);
  const none = new Float64Array(max[0]?.length ?? 0);
  const skyline = Array.from(max.at(-1) ?? none, (gb) => yOf(gb, topGb));
  const found: Label[] = [];
  const missing: Series[] = [];
  for (const [c, category] of SERIES.entries()) {
    if (placed.some((label) => label.category === category)) continue;
    if (!column(mode.timeline, category).some((gb) => gb > 0)) continue;
    const text = SERIES_LABELS[category];
    const room = roomiest(max[c - 1] ?? none, min[c] ?? none, Math.ceil(textWidth(text) + 2 * PADDING));
    if (room && ((room.top - room.bottom) / topGb) * PLOT.height > TEXT.height) {
      const y = yOf((room.top + room.bottom) / 2, topGb) + TEXT.size * 0.35;
      found.push({ kind: "area", text, x: room.middle / width, dx: 0, y, anchor: "middle", shown, category });
    } else missing.push(category);
  }
  const { solid, lines } = marks(scene, width);
  for (const category of missing) {
    const c = SERIES.indexOf(category);
    const band = Array.from(max[c] ?? none, (gb, i) => ({
      top: yOf(gb, topGb),
      bottom: yOf((max[c - 1] ?? none)[i] ?? 0, topGb),
    }));
    const taken = [...[...placed, ...found].map((label) => boxOf(label, width)), ...solid];
    const at = callout(SERIES_LABELS[category], band, skyline, { taken, lines, width });
    if (at) found.push({ kind: "callout", shown, category, ...at });
  }
  return found;
}

/** What else is drawn over the areas: the peak's mark with the lines at it, and the reserved line, which stems may cross. */
function marks({ mode, maxMs, topGb, reference }: Scene, width: number): { solid: Box[]; lines: Box[] } {
  const { peak_gb, peak_t, reserved_gb } = mode.timeline;
  const across = (gb: number) => ({ x0: 0, x1: width, y0: yOf(gb, topGb) - 1, y1: yOf(gb, topGb) + 1 });
  const x = (peak_t / maxMs) * width;
  const y = yOf(peak_gb, topGb);
  const peak = { x0: x - 6, x1: x + 6, y0: reference ? yOf(reference.gb, topGb) : y - 6, y1: y + 6 };
  return {
    solid: reference ? [peak, across(reference.gb)] : [peak],
    lines: reserved_gb === null ? [] : [across(reserved_gb)],
  };
}
