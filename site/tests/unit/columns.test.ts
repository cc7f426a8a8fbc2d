import { describe, expect, it } from "vitest";
import { CATEGORIES, SERIES } from "../../src/lib/categories";
import { columns } from "../../src/lib/columns";
import { areas } from "../../src/lib/stack";
import { edges, type Timeline } from "../../src/lib/timelines";
import { random } from "./random";
import { timeline } from "./sample";

describe("columns", () => {
  it("holds each sample until the next and the last until the end", () => {
    const { max, min } = columns(timeline([0, 2], { PARAMETER: [1, 3] }, { end_t: 5 }), 1);
    expect([...(max[0] ?? [])]).toEqual([1, 1, 3, 3, 3]);
    expect([...(min[0] ?? [])]).toEqual([1, 1, 3, 3, 3]);
  });
  it("keeps a peak that is shorter than a column", () => {
    const { max, min } = columns(timeline([0, 2.5, 2.501], { PARAMETER: [1, 7, 1] }, { end_t: 4 }), 1);
    expect([...(max[0] ?? [])]).toEqual([1, 1, 7, 1]);
    expect([...(min[0] ?? [])]).toEqual([1, 1, 1, 1]);
  });
  it("stacks: an edge is the sum of the categories up to it", () => {
    const { max } = columns(timeline([0], { PARAMETER: [1], GRADIENT: [2] }, { end_t: 1 }), 1);
    expect(max.map((column) => column[0])).toEqual([1, 1, 1, 1, 3, 3, 3]);
  });
});

/** The heights that a path of stepArea draws, column by column. */
function heights(d: string, floor: number): number[] {
  const drawn: number[] = [];
  let level = 0;
  for (const [, command, number = ""] of d.replace(/^M0 \d+/, "").matchAll(/([hvV])(-?\d+)/g)) {
    if (command === "h") drawn.push(...Array<number>(Number(number)).fill(level));
    else level = command === "v" ? level - Number(number) : floor - Number(number);
  }
  return drawn;
}

function randomTimeline(seed: number, samples: number): Timeline {
  const next = random(seed);
  let now = 0;
  const t = Array.from({ length: samples }, (_, i) => (i === 0 ? 0 : (now += 0.001 + next() ** 8 * 3)));
  const held = CATEGORIES.map((category) => [category, t.map(() => (next() < 0.3 ? 0 : next() ** 3 * 5))]);
  return timeline(t, Object.fromEntries(held));
}

/** What a column must reach, found the slow way: over every sample that holds somewhere in it. */
function largest(line: Timeline, edge: readonly number[], from: number, to: number): number {
  return edge.reduce((most, value, i) => {
    const start = line.t[i] ?? 0;
    const end = line.t[i + 1] ?? line.end_t;
    return start < to - 1e-9 && end > from + 1e-9 ? Math.max(most, value) : most;
  }, 0);
}

describe("the drawn areas", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])("reach every column's maximum to half a unit (seed %i)", (seed) => {
    const line = randomTimeline(seed, 20 + seed * 60);
    const [width, height] = [200, 640];
    const topGb = line.peak_gb * 1.05;
    const perMs = width / line.end_t;
    for (const { category, d } of areas(line, columns(line, perMs), height, topGb)) {
      const edge = edges(line)[SERIES.indexOf(category)] ?? [];
      const drawn = heights(d, height);
      expect(drawn).toHaveLength(width);
      drawn.forEach((h, c) => {
        const expected = (largest(line, edge, c / perMs, (c + 1) / perMs) / topGb) * height;
        expect(Math.abs(h - expected), `${category}, column ${c}`).toBeLessThanOrEqual(0.5 + 1e-9);
      });
    }
  });
  it("are painted from the top category down, without those never held", () => {
    const line = timeline([0], { PARAMETER: [1], GRADIENT: [2] });
    expect(areas(line, columns(line, 1), 10, 4).map((a) => [a.category, a.d])).toEqual([
      ["GRADIENT", "M0 10v-8h10V10z"],
      ["PARAMETER", "M0 10v-3h10V10z"],
    ]);
  });
  it("stay short however long the trace", () => {
    const line = randomTimeline(9, 14_000);
    const drawn = areas(line, columns(line, 960 / line.end_t), 640, line.peak_gb);
    expect(drawn.reduce((sum, { d }) => sum + d.length, 0)).toBeLessThan(7 * 960 * 8);
  });
});
