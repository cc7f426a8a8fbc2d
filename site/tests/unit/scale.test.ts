import { describe, expect, it } from "vitest";
import { unitFor } from "../../src/lib/format";
import { memoryTicks, ticks, timeTicks } from "../../src/lib/scale";

describe("ticks", () => {
  it.each([
    [14.6, 8, [0, 2, 4, 6, 8, 10, 12, 14]],
    [0.61, 5, [0, 0.2, 0.4, 0.6]],
    [221, 5, [0, 50, 100, 150, 200]],
    [5, 5, [0, 1, 2, 3, 4, 5]],
    [0, 5, [0]],
    [NaN, 5, [0]],
  ])("to %d in at most %d steps", (max, most, expected) => {
    expect(ticks(max, most)).toEqual(expected);
  });
});

it("says the unit at the last tick, in ms or, for a long step, s", () => {
  expect(timeTicks(221, 5).at(-1)).toEqual({ ms: 200, text: "200 ms" });
  expect(timeTicks(62_000, 5).map(({ text }) => text)).toEqual(["0", "20", "40", "60 s"]);
  expect(timeTicks(62_000, 5).at(-1)?.ms).toBe(60_000);
});

it("counts memory in GB, or in MB where all of it is less than one", () => {
  expect(memoryTicks(14.6, 8, unitFor(14.6)).at(-1)).toEqual({ gb: 14, text: "14 GB" });
  expect(memoryTicks(0.23, 5, unitFor(0.23)).at(-1)).toEqual({ gb: 0.2, text: "200 MB" });
});
