/** Samples in columns, as long as may be: typed arrays or plain ones. */
export interface Samples {
  t: ArrayLike<number>;
  /** One column per series, each as long as `t`. */
  gb: readonly ArrayLike<number>[];
  end_t: number;
}

/**
 * Which samples a stacked drawing of `n` columns needs: from each column of the time axis the first, the last, the lowest
 * and the highest sample of every series and of every edge of the stack, ascending. All series share these samples, so the
 * edges of what is left are edges of samples that were measured, and every column reaches the same extremes as before.
 *
 * M4: Jugel, Jerzak, Hackenbroich and Markl, "M4: a visualization-oriented time series data aggregation", VLDB 2014, there
 * for one series. Picking every n-th sample, or the largest triangle alone, loses peaks.
 */
export function m4({ t, gb, end_t }: Samples, n: number): Uint32Array {
  const length = t.length;
  const kept = new Uint8Array(length);
  const lines = gb.length * 2; // each series by itself, and the edge over it
  const low = new Float64Array(lines);
  const high = new Float64Array(lines);
  const lowAt = new Uint32Array(lines);
  const highAt = new Uint32Array(lines);
  let column = -1;
  const flush = () => {
    for (let line = 0; line < lines; line++) {
      kept[lowAt[line] ?? 0] = 1;
      kept[highAt[line] ?? 0] = 1;
    }
  };
  for (let i = 0; i < length; i++) {
    const here = Math.min(n - 1, Math.floor(((t[i] ?? 0) / end_t) * n));
    if (here !== column) {
      if (column >= 0) flush();
      kept[i] = 1;
      if (i > 0) kept[i - 1] = 1;
      column = here;
      low.fill(Infinity);
      high.fill(-Infinity);
    }
    let edge = 0;
    for (let s = 0; s < gb.length; s++) {
      const value = gb[s]?.[i] ?? 0;
      edge += value;
      note(2 * s, value, i);
      note(2 * s + 1, edge, i);
    }
  }
  if (length > 0) {
    flush();
    kept[length - 1] = 1;
  }
  return indices(kept);

  function note(line: number, value: number, i: number) {
    if (value < (low[line] ?? 0)) {
      low[line] = value;
      lowAt[line] = i;
    }
    if (value > (high[line] ?? 0)) {
      high[line] = value;
      highAt[line] = i;
    }
  }
}

function indices(kept: Uint8Array): Uint32Array {
  const found = new Uint32Array(kept.reduce((sum, one) => sum + one, 0));
  let n = 0;
  kept.forEach((one, i) => {
    if (one) found[n++] = i;
  });
  return found;
}
