import { describe, expect, it } from "vitest";
import { nextChange, nextPeak } from "../../src/elements/moments";
import { random } from "./random";
import { timeline } from "./sample";

describe("nextChange", () => {
  const line = timeline([0, 10, 20, 30], { ACTIVATION: [1, 2, 2, 3] });
  it("skips samples at which nothing changes", () => {
    expect(nextChange([line], 10, 1)).toBe(30);
    expect(nextChange([line], 30, -1)).toBe(10);
  });
  it("starts from between two samples, and ends at the ends", () => {
    expect(nextChange([line], 12, -1)).toBe(10);
    expect(nextChange([line], 29, 1)).toBe(30);
    expect(nextChange([line], 30, 1)).toBeUndefined();
    expect(nextChange([line], 0, -1)).toBeUndefined();
  });
  it("takes the nearest of several timelines", () => {
    const other = timeline([0, 25], { ACTIVATION: [1, 2] });
    expect(nextChange([line, other], 10, 1)).toBe(25);
    expect(nextChange([line, other], 30, -1)).toBe(25);
  });
  it("visits every change, forwards and backwards", () => {
    for (let seed = 0; seed < 20; seed++) {
      const next = random(seed);
      const t = Array.from({ length: 30 }, (_, i) => i * 2 + next());
      t[0] = 0;
      const values = t.map(() => Math.floor(next() * 3));
      const all = t.filter((_, i) => i > 0 && values[i] !== values[i - 1]);
      const walked = [timeline(t, { INPUT: values })];
      const forward: number[] = [];
      for (let at: number | undefined = 0; (at = nextChange(walked, at, 1)) !== undefined;) forward.push(at);
      expect(forward).toEqual(all);
      const back: number[] = [];
      for (let at: number | undefined = 1e9; (at = nextChange(walked, at, -1)) !== undefined;) back.push(at);
      expect(back).toEqual([...all.reverse(), 0]); // the first sample, from which it starts
    }
  });
});

describe("nextPeak", () => {
  const lines = [timeline([0, 10], { INPUT: [1, 2] }), timeline([0, 30], { INPUT: [1, 2] })];
  it("goes from peak to peak and round again", () => {
    expect([null, 10, 30, 50].map((ms) => nextPeak(lines, ms))).toEqual([10, 30, 10, 10]);
  });
});
