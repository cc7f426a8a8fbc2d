import { expect, it } from "vitest";
import { textWidth } from "../../src/lib/text-width";

// Measured in Chromium at 12 px in DejaVu Sans.
it.each([
  ["temporary", 63.1],
  ["optimizer step", 86.4],
  ["Plain loop: 13.76 GB", 121.9],
  ["optimizer step: walks, updates, frees", 221.7],
  ["reserved 12.10 GB", 112.2],
  ["parameters", 69.6],
  ["backward: loss to output only", 177.5],
])("%s is estimated a little wide", (text, measured) => {
  expect(textWidth(text)).toBeGreaterThanOrEqual(measured);
  expect(textWidth(text)).toBeLessThan(measured * 1.08);
});
