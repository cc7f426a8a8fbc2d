import { roomiest, type Box } from "./boxes";
import { callout } from "./callouts";
import { CATEGORIES, CATEGORY_LABELS, type Category } from "./categories";
import { columns } from "./columns";
import { gb, percent } from "./format";
import { PLOT, TEXT, textWidth, WIDTHS } from "./geometry";
import type { Mode } from "./modes";
import type { Anchor, Shown } from "./phases";
import { column } from "./timelines";

/** Text in the plot. `x` is a fraction of its width, `dx` pixels from there, `y` the baseline in pixels from its top. */
export interface Label {
  kind: "peak" | "saving" | "reference" | "reserved" | "area" | "callout";
  text: string;
  x: number;
  dx: number;
  y: number;
  anchor: Anchor;
  shown: Shown;
  category?: Category;
  /** A line from a callout down to what it names. */
  leader?: { x: number; y0: number; y1: number };
}

export interface Scene {
  mode: Mode;
  maxMs: number;
  topGb: number;
  /** The highest peak of the figure, where it is another mode's. */
  reference?: { gb: number; label: string };
}

/** Pixels from the plot's top. */
export function yOf(gigabytes: number, topGb: number): number {
  return PLOT.height * (1 - gigabytes / topGb);
}

/** Below this, the gap up to the reference line has no room for words. */
const SAVING_ROOM = 38;

/** All labels of one plot: those that fit when it is narrow, and more when it is wide. */
export function labels(scene: Scene): Label[] {
  const fixed = lineLabels(scene);
  const narrow = areaLabels(scene, WIDTHS.narrow, fixed, "always");
  return [...fixed, ...narrow, ...areaLabels(scene, WIDTHS.wide, [...fixed, ...narrow], "wide")];
}

export function boxOf({ text, x, dx, y, anchor }: Label, width: number): Box {
  const long = textWidth(text);
  const at = x * width + dx;
  const x0 = anchor === "start" ? at : anchor === "end" ? at - long : at - long / 2;
  return { x0, x1: x0 + long, y0: y - TEXT.size, y1: y + TEXT.height - TEXT.size };
}

function lineLabels({ mode, maxMs, topGb, reference }: Scene): Label[] {
  const { peak_gb, peak_t, reserved_gb } = mode.timeline;
  const found: Label[] = [];
  const x = peak_t / maxMs;
  const y = yOf(peak_gb, topGb);
  const rightwards = x < 0.55;
  const beside = { x, dx: rightwards ? 9 : -9, anchor: rightwards ? "start" : "end", shown: "always" } as const;
  if (reference) {
    const up = yOf(reference.gb, topGb);
    const saved = reference.gb - peak_gb;
    const far = { x: rightwards ? 1 : 0, dx: 0, anchor: rightwards ? "end" : "start", shown: "always" } as const;
    found.push({ kind: "reference", text: `${reference.label}: ${gb(reference.gb)}`, ...far, y: up - 5 });
    found.push({ kind: "peak", text: `peak ${gb(peak_gb)}`, ...beside, y: y - 5 });
    if (y - up >= SAVING_ROOM)
      found.push({
        kind: "saving",
        text: `${gb(saved)} less (${percent(saved / reference.gb)})`,
        ...beside,
        y: (y - 14 + up) / 2 + 4,
      });
  } else {
    const anchor = x > 0.82 ? "end" : x < 0.18 ? "start" : "middle";
    found.push({ kind: "peak", text: `peak ${gb(peak_gb)}`, x, dx: 0, y: y - 9, anchor, shown: "always" });
  }
  if (reserved_gb !== null) {
    const end = rightwards ? ({ x: 1, anchor: "end" } as const) : ({ x: 0, anchor: "start" } as const);
    const level = yOf(reserved_gb, topGb) - 5;
    // Side by side with the reference line's words where the two levels are close.
    const crowded = reference && Math.abs(yOf(reference.gb, topGb) - 5 - level) < TEXT.height;
    const shift = crowded ? ({ x: 1 - end.x, anchor: rightwards ? "start" : "end" } as const) : end;
    found.push({ kind: "reserved", text: `reserved ${gb(reserved_gb)}`, ...shift, dx: 0, y: level, shown: "always" });
  }
  return found;
}

/** A category's name on its area where it has the room, else over it with a line. */
function areaLabels({ mode, maxMs, topGb }: Scene, width: number, placed: readonly Label[], shown: Shown): Label[] {
  const { min, max } = columns(mode.timeline, width / maxMs);
  const total = max.at(-1) ?? new Float64Array();
  const skyline = Array.from(total, (v) => yOf(v, topGb));
  const found: Label[] = [];
  const missing: Category[] = [];
  for (const [c, category] of CATEGORIES.entries()) {
    if (placed.some((label) => label.category === category)) continue;
    if (!column(mode.timeline, category).some((v) => v > 0)) continue;
    const text = CATEGORY_LABELS[category];
    const floor = max[c - 1] ?? new Float64Array(total.length);
    const room = roomiest(floor, min[c] ?? [], Math.ceil(textWidth(text) + 8));
    if (room && ((room.top - room.bottom) / topGb) * PLOT.height >= TEXT.height + 1) {
      const y = yOf((room.top + room.bottom) / 2, topGb) + TEXT.size * 0.35;
      found.push({ kind: "area", text, x: room.middle / width, dx: 0, y, anchor: "middle", shown, category });
    } else missing.push(category);
  }
  const lines = [mode.timeline.reserved_gb].filter((v) => v !== null).map((v) => yOf(v, topGb));
  for (const category of missing) {
    const c = CATEGORIES.indexOf(category);
    const [upper = [], lower = []] = [max[c], max[c - 1]];
    const boxes = [...placed, ...found].map((label) => boxOf(label, width));
    const bars = lines.map((y) => ({ x0: 0, x1: width, y0: y - 1, y1: y + 1 }));
    const band = Array.from(upper, (v, i) => ({ top: yOf(v, topGb), bottom: yOf(lower[i] ?? 0, topGb) }));
    const at = callout(CATEGORY_LABELS[category], band, skyline, [...boxes, ...bars], width);
    if (at) found.push({ kind: "callout", shown, category, ...at });
  }
  return found;
}
