import { columns } from "./columns";
import { unitFor, type Unit } from "./format";
import { GRID, PLOT } from "./geometry";
import { labels, yOf, type Label, type Scene } from "./labels";
import type { Mode } from "./modes";
import { brackets, headroom, type Bracket } from "./phases";
import { memoryTicks, timeTicks } from "./scale";
import { areas, type Area } from "./stack";

/** One mode's plot. Fractions run across the plot, pixels down from its top. */
export interface Panel {
  mode: Mode;
  areas: Area[];
  brackets: Bracket[];
  labels: Label[];
  /** Where the step ends. */
  end: number;
  peak: { x: number; y: number };
  reservedY: number | null;
  /** The highest peak of the figure, where it is another mode's. */
  referenceY: number | null;
}

/** What all panels share: one scale for time, one for memory. */
export interface Layout {
  panels: Panel[];
  /** What the plots' width and height stand for. */
  maxMs: number;
  topGb: number;
  /** Height over the plots for the phases. */
  head: number;
  times: { x: number; text: string }[];
  memory: { y: number; text: string }[];
  unit: Unit;
}

/** Room over the highest line for its label. */
const OVER = 22;

export function layout(modes: readonly Mode[]): Layout {
  if (modes.length < 1 || modes.length > 4) throw new Error(`a figure compares 1 to 4 modes, not ${modes.length}`);
  const maxMs = Math.max(...modes.map(({ timeline }) => timeline.end_t));
  const maxGb = Math.max(...modes.map(({ timeline }) => Math.max(timeline.peak_gb, timeline.reserved_gb ?? 0)));
  const topGb = ((maxGb || 1) * PLOT.height) / (PLOT.height - OVER);
  const unit = unitFor(Math.max(...modes.map(({ timeline }) => timeline.peak_gb)));
  const panels = modes.map((mode) => panel({ mode, maxMs, topGb, unit, ...highest(modes, mode) }));
  return {
    panels,
    maxMs,
    topGb,
    head: headroom(panels.map((p) => p.brackets)),
    times: timeTicks(maxMs, 5).map(({ ms, text }) => ({ x: ms / maxMs, text })),
    memory: memoryTicks(topGb, 8, unit).map(({ gb, text }) => ({ y: yOf(gb, topGb), text })),
    unit,
  };
}

function highest(modes: readonly Mode[], mode: Mode): Pick<Scene, "reference"> {
  const top = modes.reduce((a, b) => (b.timeline.peak_gb > a.timeline.peak_gb ? b : a));
  if (top.timeline.peak_gb <= mode.timeline.peak_gb) return {};
  return { reference: { gb: top.timeline.peak_gb, label: top.label } };
}

function panel(scene: Scene): Panel {
  const { mode, maxMs, topGb, reference } = scene;
  const { timeline } = mode;
  const width = PLOT.width * GRID;
  return {
    mode,
    areas: areas(timeline, columns(timeline, width / maxMs), PLOT.height * GRID, topGb),
    brackets: brackets(mode, maxMs),
    labels: labels(scene),
    end: timeline.end_t / maxMs,
    peak: { x: timeline.peak_t / maxMs, y: yOf(timeline.peak_gb, topGb) },
    reservedY: timeline.reserved_gb === null ? null : yOf(timeline.reserved_gb, topGb),
    referenceY: reference ? yOf(reference.gb, topGb) : null,
  };
}
