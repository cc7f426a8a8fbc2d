import { describe, expect, it } from "vitest";
import { SERIES } from "../../src/lib/categories";
import { columns } from "../../src/lib/columns";
import { m4 } from "../../src/lib/m4";
import { totals, type Timeline } from "../../src/lib/timelines";
import { random } from "./random";
import { timeline } from "./sample";

function noise(seed: number, samples: number): Timeline {
  const next = random(seed);
  let now = 0;
  const t = Array.from({ length: samples }, (_, i) => (i === 0 ? 0 : (now += 0.001 + next() ** 8 * 3)));
  const gb = SERIES.map(() => t.map(() => (next() < 0.3 ? 0 : next() ** 6 * 5)));
  return { ...timeline(t, {}), gb, end_t: now + 1 };
}

function reduced(line: Timeline, n: number): Timeline {
  const kept = [...m4(line, n)];
  const pick = (column: readonly number[]) => kept.map((i) => column[i] ?? NaN);
  return { ...line, t: pick(line.t), gb: line.gb.map(pick) };
}

describe("m4", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("keeps every edge's extremes in every column (seed %i)", (seed) => {
    const line = noise(seed, 500 * seed);
    for (const n of [1, 7, 64, 200]) {
      const perMs = n / line.end_t;
      const rest = reduced(line, n);
      // The drawing is the same, number for number: the samples that make it are the same ones.
      expect(columns(rest, perMs)).toEqual(columns(line, perMs));
      expect(Math.max(...totals(rest))).toBe(Math.max(...totals(line)));
    }
  });
  it("keeps every series' own extremes too, for a stack without the others", () => {
    const line = noise(9, 3000);
    const rest = reduced(line, 40);
    SERIES.forEach((_, s) => {
      const alone = (of: Timeline) => columns({ ...of, gb: [of.gb[s] ?? []] }, 40 / line.end_t);
      expect(alone(rest)).toEqual(alone(line));
    });
  });
  it("is bounded by the columns, not by the trace", () => {
    const n = 20;
    expect(m4(noise(10, 50_000), n).length).toBeLessThanOrEqual(n * (2 + 4 * SERIES.length));
  });
  it("keeps a short trace whole, once each, in order", () => {
    const line = noise(11, 50);
    expect([...m4(line, 100_000)]).toEqual(line.t.map((_, i) => i));
    expect([...m4(timeline([0], {}), 3)]).toEqual([0]);
    expect([...m4({ t: [], gb: [], end_t: 1 }, 3)]).toEqual([]);
  });
});
