import { SERIES, type Series } from "../lib/categories";
import { m4 } from "../lib/m4";
import type { Mode } from "../lib/modes";
import { largest, type Phase, type Timeline } from "../lib/timelines";

/** What is wrong with a file, in one sentence for the person who opened it. */
export class ViewerError extends Error {}

/** One timeline of a file, whole: millions of samples, perhaps. */
export interface Trace {
  key: string;
  label: string;
  /** Milliseconds from the first moment on, strictly increasing. */
  t: Float64Array;
  /** One column per series, GB. */
  gb: readonly Float64Array[];
  end_t: number;
  phases: readonly Phase[];
  phaseTexts?: Mode["phaseTexts"] | undefined;
  reserved_gb: number | null;
  /** Where the file itself names its peak, to more places than its samples. */
  peak?: { gb: number; ms: number };
}

/** What a file turned out to be. */
export interface Opened {
  kind: "memory_timelines" | "profiler" | "snapshot";
  traces: readonly Trace[];
  /** A line on what it is, and what it leaves out. */
  about: string;
}

const BYTES_PER_GB = 1e9;

/** Sums changes up to a trace: what each series holds after each moment. */
export class TraceBuilder {
  readonly #held = new Float64Array(SERIES.length);
  #t = new Float64Array(1024);
  #gb = SERIES.map(() => new Float64Array(1024));
  #n = 0;

  /** `bytes` more (or less) of a series from `ms` on. Throws ViewerError where time goes back. */
  add(ms: number, series: Series, bytes: number): void {
    const s = SERIES.indexOf(series);
    this.#held[s] = (this.#held[s] ?? 0) + bytes;
    this.#sample(ms);
  }

  /** What every series holds from `ms` on, in bytes. */
  set(ms: number, held: readonly number[]): void {
    this.#held.set(held);
    this.#sample(ms);
  }

  build(key: string, label: string, reserved_gb: number | null = null): Trace {
    const t = this.#t.slice(0, this.#n);
    const start = t[0] ?? 0;
    for (let i = 0; i < t.length; i++) t[i] = (t[i] ?? 0) - start;
    const last = t.at(-1) ?? 0;
    return {
      key,
      label,
      t,
      gb: this.#gb.map((column) => column.slice(0, this.#n)),
      // The last sample holds for a while that nobody recorded: long enough to be seen.
      end_t: last + Math.max(last / 200, 0.001),
      phases: [],
      reserved_gb,
    };
  }

  #sample(ms: number): void {
    const last = this.#n > 0 ? (this.#t[this.#n - 1] ?? 0) : -Infinity;
    if (ms < last) throw new ViewerError(`Time goes back after ${this.#n} moments, so this is no timeline.`);
    if (ms > last) this.#n++;
    if (this.#n > this.#t.length) this.#grow();
    const i = this.#n - 1;
    this.#t[i] = ms;
    this.#gb.forEach((column, s) => (column[i] = (this.#held[s] ?? 0) / BYTES_PER_GB));
  }

  #grow(): void {
    const larger = (old: Float64Array) => {
      const grown = new Float64Array(2 * old.length);
      grown.set(old);
      return grown;
    };
    this.#t = larger(this.#t);
    this.#gb = this.#gb.map(larger);
  }
}

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
