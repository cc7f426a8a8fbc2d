import { GRID, PLOT } from "../lib/geometry";
import type { Mode } from "../lib/modes";
import { open, ViewerError } from "./open";
import { reduce } from "./reduce";

/** What the worker answers: the file's timelines, thinned for drawing, or a sentence on what is wrong with it. */
export type Answer = { modes: Mode[]; about: string } | { complaint: string };

/** Twice what a plot can show, so that one that is drawn larger stays exact. */
const DETAIL = 2 * PLOT.width * GRID;

addEventListener("message", ({ data }: MessageEvent<File>) => {
  void answer(data).then((found) => postMessage(found));
});

async function answer(file: File): Promise<Answer> {
  try {
    const { traces, about } = await open(new Uint8Array(await file.arrayBuffer()), file.name);
    const modes = traces.map((trace): Mode => {
      const { key, label, phaseTexts } = trace;
      return { key, label, timeline: reduce(trace, DETAIL), ...(phaseTexts && { phaseTexts }) };
    });
    return { modes, about };
  } catch (error) {
    if (error instanceof ViewerError) return { complaint: error.message };
    return { complaint: `${file.name} can’t be read here: ${String(error)}.` };
  }
}
