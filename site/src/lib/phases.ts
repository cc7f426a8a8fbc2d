import { PLOT, WIDTHS } from "./geometry";
import type { Mode } from "./modes";
import type { Phase } from "./timelines";
import { textWidth } from "./text-width";

/** Between two names in one row, px. */
const GAP = 8;

export type Shown = "always" | "narrow" | "wide";
export type Anchor = "start" | "middle" | "end";

export interface PhaseLabel {
  text: string;
  /** Fraction of the plot's width. */
  x: number;
  anchor: Anchor;
  /** 0 sits on the bracket; higher rows are for names wider than their phase, tied to it by a line. */
  row: number;
  shown: Shown;
}

export interface Bracket {
  name: string;
  /** Fractions of the plot's width. */
  start: number;
  end: number;
  labels: PhaseLabel[];
}

/** Brackets over the plot, one for each phase, with a name that fits at both widths. */
export function brackets(mode: Mode, maxMs: number): Bracket[] {
  const narrow = namesAt(WIDTHS.narrow, mode, maxMs);
  const wide = namesAt(WIDTHS.wide, mode, maxMs);
  return mode.timeline.phases.map((phase, i) => ({
    name: phase.name,
    start: phase.start / maxMs,
    end: phase.end / maxMs,
    labels: merge(narrow[i], wide[i]),
  }));
}

function merge(narrow: PhaseLabel | undefined, wide: PhaseLabel | undefined): PhaseLabel[] {
  if (narrow && wide && narrow.text === wide.text && narrow.row === wide.row && narrow.anchor === wide.anchor)
    return [{ ...narrow, shown: "always" }];
  return [narrow, wide].filter((label) => label !== undefined);
}

function namesAt(width: number, mode: Mode, maxMs: number): PhaseLabel[] {
  const shown = width === WIDTHS.narrow ? "narrow" : "wide";
  const raisedTo: number[] = []; // where the last name in each raised row ends
  return mode.timeline.phases.map((phase) => {
    const texts = mode.phaseTexts?.[phase.name] ?? [phase.name];
    const middle = (phase.start + phase.end) / 2 / maxMs;
    const inside = texts.find((text) => textWidth(text) <= ((phase.end - phase.start) / maxMs) * width);
    if (inside !== undefined) return { text: inside, x: middle, anchor: "middle", row: 0, shown };
    return raised(phase, texts, middle, width, shown, raisedTo);
  });
}

function raised(
  phase: Phase,
  texts: readonly string[],
  x: number,
  width: number,
  shown: Shown,
  raisedTo: number[],
): PhaseLabel {
  const roomy = (anchor: Anchor) => (anchor === "start" ? 1 - x : x) * width;
  const anchor: Anchor = roomy("start") >= roomy("end") ? "start" : "end";
  const text = texts.find((t) => textWidth(t) <= roomy(anchor)) ?? phase.name;
  const from = x * width - (anchor === "start" ? 0 : textWidth(text));
  let row = raisedTo.findIndex((end) => from > end + GAP);
  if (row < 0) row = raisedTo.length;
  raisedTo[row] = from + textWidth(text);
  return { text, x, anchor, row: row + 1, shown };
}

/** Height over the plot for the brackets of all panels, so that panels side by side line up. */
export function headroom(all: readonly (readonly Bracket[])[]): number {
  const rows = Math.max(0, ...all.flat().flatMap(({ labels }) => labels.map(({ row }) => row))) + 1;
  return rows * PLOT.row + 8;
}
