import { overlaps } from "./boxes";
import { memory, percent } from "./format";
import { TEXT, WIDTHS } from "./geometry";
import { boxOf, yOf, type Label, type Scene } from "./labels";

/** Between a line and the baseline of the words on it, and between the peak's mark and the words beside it. */
const RISE = 5;
const ASIDE = 9;
/** Below this, the gap up to the reference line has no room for words. */
const SAVING_ROOM = 38;

/** The words at the peak's mark, the reference line and the reserved line. What fits a narrow plot fits any. */
export function lineLabels(scene: Scene): Label[] {
  const { mode, maxMs, topGb, unit, reference } = scene;
  const { peak_gb, peak_t, reserved_gb } = mode.timeline;
  const x = peak_t / maxMs;
  const y = yOf(peak_gb, topGb);
  const reserved = reserved_gb === null ? undefined : yOf(reserved_gb, topGb);
  const left = x < 0.5;
  const here = { x, dx: left ? ASIDE : -ASIDE, anchor: left ? "start" : "end", shown: "always" } as const;
  const away = { x: left ? 1 : 0, dx: 0, anchor: left ? "end" : "start", shown: "always" } as const;
  const found: Label[] = [];
  const free = (label: Label, width: number = WIDTHS.narrow) =>
    !found.some((other) => overlaps(boxOf(other, width), boxOf(label, width)));
  const inside = (label: Label) => {
    const { x0, x1 } = boxOf(label, WIDTHS.narrow);
    return x0 >= 0 && x1 <= WIDTHS.narrow;
  };
  if (reference) {
    const up = yOf(reference.gb, topGb);
    found.push({ kind: "peak", text: `peak ${memory(peak_gb, unit)}`, ...here, y: y - RISE });
    if (y - up >= SAVING_ROOM) {
      const saved = reference.gb - peak_gb;
      const text = `${memory(saved, unit)} less`;
      const y0 = savingBaseline(up, y - RISE - TEXT.size, reserved);
      const choices = [`${text} (${percent(saved / reference.gb)})`, text].map((words): Label => {
        return { kind: "saving", text: words, ...here, y: y0 };
      });
      const fitting = choices.find((choice) => inside(choice));
      if (fitting) found.push(fitting);
    }
    const text = `${reference.label}: ${memory(reference.gb, unit)}`;
    const named: Label = { kind: "reference", text, ...away, y: up - RISE };
    if (free(named)) found.push(named);
  } else {
    const anchor = x > 0.82 ? "end" : x < 0.18 ? "start" : "middle";
    // Over the reserved line too, where that runs through the words' place.
    const clear = reserved !== undefined && y - reserved < TEXT.height + RISE ? reserved - RISE : y - ASIDE;
    found.push({ kind: "peak", text: `peak ${memory(peak_gb, unit)}`, x, dx: 0, y: clear, anchor, shown: "always" });
  }
  if (reserved_gb !== null && reserved !== undefined) {
    const sides = [away, { ...away, x: 1 - away.x, anchor: left ? "start" : "end" } as const];
    const choices = [`reserved ${memory(reserved_gb, unit)}`, "reserved"].flatMap((text) =>
      [reserved - RISE, reserved + TEXT.size].flatMap((level) =>
        sides.map((side): Label => ({ kind: "reserved", text, ...side, y: level })),
      ),
    );
    const narrow = choices.find((choice) => free(choice));
    const wide = choices.find((choice) => free(choice, WIDTHS.wide));
    if (narrow && narrow === wide) found.push(narrow);
    else {
      if (narrow) found.push({ ...narrow, shown: "narrow" });
      if (wide) found.push({ ...wide, shown: "wide" });
    }
  }
  return found;
}

/** In the middle between `top` and `bottom`, or of the larger part where the reserved line cuts through. */
function savingBaseline(top: number, bottom: number, reserved: number | undefined): number {
  const middle = (a: number, b: number) => (a + b + TEXT.size) / 2 - 1;
  const whole = middle(top, bottom);
  if (reserved === undefined || Math.abs(reserved - whole + TEXT.size / 2) > TEXT.height) return whole;
  return reserved - top >= bottom - reserved ? middle(top, reserved) : middle(reserved, bottom);
}
