import { m4 } from "../lib/m4";
import { largest, type Timeline } from "../lib/timelines";
import type { Trace } from "./trace";

/**
 * The trace as the figure takes it, with the samples that a drawing of `n` columns needs. The peak is that of the whole
 * trace. A sum of some series only, when others are taken out of the stack, may miss what changed within one column.
 */
export function reduce(trace: Omit<Trace, "key" | "label">, n: number): Timeline {
  const kept = m4(trace, n);
  const pick = (column: Float64Array) => Array.from(kept, (i) => column[i] ?? 0);
  const gb = trace.gb.map(pick);
  const t = pick(trace.t);
  const sums = t.map((_, i) => gb.reduce((sum, column) => sum + (column[i] ?? 0), 0));
  const highest = largest(sums);
  const peak = trace.peak ?? { gb: highest, ms: t[sums.indexOf(highest)] ?? 0 };
  return {
    t,
    gb,
    end_t: trace.end_t,
    peak_gb: peak.gb,
    peak_t: peak.ms,
    phases: trace.phases,
    step_ms: null,
    timed_steps: 0,
    allocator_peak_gb: null,
    cuda_mallocs_per_step: null,
    cuda_frees_per_step: null,
    reserved_gb: trace.reserved_gb,
    rss_peak_gb: null,
  };
}
