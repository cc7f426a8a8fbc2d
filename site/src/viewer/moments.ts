import { COLUMNS, type Trace } from "./trace";

/** Profiler and allocator count in whole microseconds: the last sample is drawn for one of them. */
const TICK_MS = 0.001;

/** Collects what is held at each moment in arrays that grow, so that a file of millions of events fits in memory. */
export class Moments {
  private size = 0;
  private last = -Infinity;
  private t: Float64Array;
  private readonly columns: Float64Array[];

  /** `expected` moments need no growth. */
  constructor(expected = 1024) {
    this.t = new Float64Array(expected);
    this.columns = Array.from({ length: COLUMNS }, () => new Float64Array(expected));
  }

  /** What is `held` from `ms` on, in bytes per column; it is copied. No moment may come before the last one. */
  put(ms: number, held: Float64Array): void {
    if (ms > this.last) {
      if (this.size === this.t.length) this.grow();
      this.t[this.size++] = this.last = ms;
    }
    for (let c = 0; c < COLUMNS; c++) {
      const column = this.columns[c];
      if (column) column[this.size - 1] = (held[c] ?? 0) / 1e9;
    }
  }

  private grow(): void {
    const longer = (values: Float64Array) => {
      const copy = new Float64Array(values.length * 2);
      copy.set(values);
      return copy;
    };
    this.t = longer(this.t);
    this.columns.forEach((values, c) => (this.columns[c] = longer(values)));
  }

  /** The trace up to now, and at how many moments a category was below 0 and now is 0. Nothing can be put after it. */
  finish(label: string): { trace: Trace; raised: number } {
    let raised = 0;
    const gb = this.columns.map((values, c) => {
      const column = values.slice(0, this.size);
      this.columns[c] = new Float64Array();
      for (let i = 0; i < column.length; i++) {
        if ((column[i] ?? 0) >= 0) continue;
        column[i] = 0;
        raised++;
      }
      return column;
    });
    const t = this.t.slice(0, this.size);
    // Also after a time so large that the tick is lost in its rounding.
    const end_t = Math.max(this.last + TICK_MS, this.last * (1 + Number.EPSILON));
    return { trace: { key: "trace", label, t, gb, end_t, phases: [], reserved_gb: null }, raised };
  }
}
