import { GRID, PLOT } from "../lib/geometry";
import type { Mode } from "../lib/modes";
import { open } from "./open";
import { reduce, ViewerError } from "./trace";

/** What the worker answers: the file's timelines, thinned for drawing, or a sentence on what is wrong with it. */
export type Answer = { modes: Mode[]; about: string } | { complaint: string };

/** Twice what a plot can show, so that one that is drawn larger stays exact. */
const DETAIL = 2 * PLOT.width * GRID;

addEventListener("message", ({ data }: MessageEvent<File>) => {
  void answer(data).then((found) => postMessage(found));
});

async function answer(file: File): Promise<Answer> {
  try {
    const { traces, about } = await open(new Uint8Array(await file.arrayBuffer()));
    const modes = traces.map((trace): Mode => {
      const { key, label, phaseTexts } = trace;
      return { key, label, timeline: reduce(trace, DETAIL), ...(phaseTexts && { phaseTexts }) };
    });
    return { modes, about };
  } catch (error) {
    if (error instanceof ViewerError) return { complaint: error.message };
    if (error instanceof RangeError) return { complaint: "This file is too large for this browser’s memory." };
    return { complaint: `This file can’t be read: ${String(error)}.` };
  }
}
