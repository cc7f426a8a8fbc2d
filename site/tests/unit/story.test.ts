import { expect, it } from "vitest";
import { peakRows, phaseAt, unbroken } from "../../src/lib/story";
import type { MemoryTimelines, Timeline } from "../../src/lib/timelines";

const phases = [
  { name: "forward", start: 1, end: 4 },
  { name: "backward", start: 5, end: 6 },
  { name: "optimizer step", start: 6, end: 9 },
];
const timeline = (gb: number[][], peak_t: number) => ({ t: [0, 7], gb, peak_t, phases }) as unknown as Timeline;

it("names the phase of a moment, also between two and outside them", () => {
  const of = (ms: number) => phaseAt(timeline([], 0), ms);
  expect([0, 1, 4.5, 5.5, 6, 10].map(of)).toEqual([
    "forward",
    "forward",
    "forward",
    "backward",
    "optimizer step",
    "optimizer step",
  ]);
});

it("sets the two peaks side by side, without empty categories", () => {
  const none = [0, 0];
  const plain = timeline([[1, 1], none, none, [2, 0], [0, 3], none, none], 7);
  const backprop = timeline([[1, 1], none, none, [2, 0], [0, 1], none, none], 0);
  expect(
    peakRows({ default: plain, backprop } as MemoryTimelines).map((row) => [row.label, row.plain, row.backprop]),
  ).toEqual([
    ["parameters", 1, 1],
    ["activations", 0, 2],
    ["gradients", 3, 0],
  ]);
});

it("keeps numbers and units on one line, however deep", () => {
  expect(unbroken({ a: "13.76 GB", b: ["12 layers of 8 × 8"], c: null, d: 1 })).toEqual({
    a: "13.76\u00a0GB",
    b: ["12\u00a0layers of 8\u00a0× 8"],
    c: null,
    d: 1,
  });
});
