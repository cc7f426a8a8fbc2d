import { CATEGORIES } from "./categories";
import { totals, type MemoryTimelines, type Timeline } from "./timelines";

/** One broken rule: where, as a JSON path, and why, as the rest of a sentence. */
export interface Fault {
  path: string;
  reason: string;
}

/** gb is rounded to 4 places, so a sum of seven columns may be off by this much, and peak_gb by one rounding more. */
const ROUNDING = (CATEGORIES.length + 1) * 0.00005 + 1e-9;

/** The first rule of the contract that a JSON Schema cannot state and these timelines break, if any. */
export function fault(data: MemoryTimelines): Fault | undefined {
  for (const mode of ["default", "backprop"] as const) {
    const found = timelineFault(data[mode]);
    if (found) return { path: `${mode}.${found.path}`, reason: found.reason };
  }
  return undefined;
}

export function timelineFault(timeline: Timeline): Fault | undefined {
  return timeFault(timeline) ?? columnFault(timeline) ?? phaseFault(timeline) ?? peakFault(timeline);
}

function timeFault({ t, end_t }: Timeline): Fault | undefined {
  for (let i = 1; i < t.length; i++) {
    const [before = 0, now = 0] = [t[i - 1], t[i]];
    if (now <= before) return { path: `t[${i}]`, reason: `is ${now}, which does not come after ${before}` };
  }
  const last = t.at(-1) ?? 0;
  if (end_t <= last) return { path: "end_t", reason: `is ${end_t}, which does not come after the last time ${last}` };
  return undefined;
}

function columnFault({ t, gb }: Timeline): Fault | undefined {
  const c = gb.findIndex((values) => values.length !== t.length);
  if (c < 0) return undefined;
  return { path: `gb[${c}]`, reason: `has ${gb[c]?.length} numbers for ${t.length} times` };
}

function phaseFault({ phases, end_t }: Timeline): Fault | undefined {
  let reached = 0;
  for (const [i, { start, end }] of phases.entries()) {
    if (start < reached) return { path: `phases[${i}].start`, reason: `is ${start}, before ${reached}` };
    if (end < start) return { path: `phases[${i}].end`, reason: `is ${end}, before its start ${start}` };
    reached = end;
  }
  if (reached <= end_t) return undefined;
  return { path: `phases[${phases.length - 1}].end`, reason: `is ${reached}, after end_t ${end_t}` };
}

function peakFault(timeline: Timeline): Fault | undefined {
  const { t, peak_gb, peak_t } = timeline;
  const sums = totals(timeline);
  const largest = sums.reduce((a, b) => Math.max(a, b), 0);
  if (Math.abs(largest - peak_gb) > ROUNDING)
    return { path: "peak_gb", reason: `is ${peak_gb}, but the largest total is ${largest.toFixed(4)}` };
  const at = t.indexOf(peak_t);
  // Which of several equal peaks came first can't be told from rounded columns: any of them will do.
  if (at < 0 || Math.abs((sums[at] ?? 0) - peak_gb) > ROUNDING) {
    const first = t[sums.findIndex((sum) => sum >= largest - ROUNDING)];
    return { path: "peak_t", reason: `is ${peak_t}, but the peak is first reached at ${first}` };
  }
  return undefined;
}
