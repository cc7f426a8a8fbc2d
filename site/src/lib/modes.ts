import type { MemoryTimelines, Timeline } from "./timelines";

/** One of the one to four timelines that a figure compares. */
export interface Mode {
  /** Used in ids: letters, digits and hyphens. */
  key: string;
  label: string;
  timeline: Timeline;
  /** What a phase's bracket says, longest first: the first text that fits is shown. The phase's name when absent. */
  phaseTexts?: Readonly<Record<string, readonly string[]>>;
}

/** What BackProp's brackets say, since its calls do something else than their names tell. */
const BACKPROP_PHASES = {
  backward: ["backward: from the loss to the output only", "backward: loss to output only"],
  "optimizer step": [
    "optimizer step: walks back, updates and frees as it goes",
    "optimizer step: walks, updates, frees",
    "optimizer step, walk included",
    "optimizer step",
  ],
};

/** The headline's two: the plain PyTorch loop, and the same loop with the wrapper. */
export function headlineModes(timelines: MemoryTimelines): Mode[] {
  return [
    { key: "default", label: "Plain loop", timeline: timelines.default },
    { key: "backprop", label: "BackProp", timeline: timelines.backprop, phaseTexts: BACKPROP_PHASES },
  ];
}
