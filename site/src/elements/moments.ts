import { sampleAt, type Timeline } from "../lib/timelines";

/** The next time after `ms` (or the last one before it) at which one of the timelines really changes, undefined past the ends. */
export function nextChange(timelines: readonly Timeline[], ms: number, direction: 1 | -1): number | undefined {
  const found = timelines.map((timeline) => changeOf(timeline, ms, direction)).filter((time) => time !== undefined);
  if (found.length === 0) return undefined;
  return direction > 0 ? Math.min(...found) : Math.max(...found);
}

function changeOf(timeline: Timeline, ms: number, direction: 1 | -1): number | undefined {
  const { t } = timeline;
  const here = sampleAt(timeline, ms);
  // Going back from between two samples, the nearest change is the sample that holds.
  let i = direction > 0 ? here + 1 : (t[here] ?? 0) < ms ? here : here - 1;
  while (i > 0 && i < t.length && !changes(timeline, i)) i += direction;
  return i >= 0 ? t[i] : undefined;
}

function changes({ gb }: Timeline, i: number): boolean {
  return gb.some((column) => column[i] !== column[i - 1]);
}

/** The peaks in their order, and after the last the first again. */
export function nextPeak(timelines: readonly Timeline[], ms: number | null): number {
  const peaks = timelines.map(({ peak_t }) => peak_t).sort((a, b) => a - b);
  return peaks.find((time) => ms !== null && time > ms) ?? peaks[0] ?? 0;
}
