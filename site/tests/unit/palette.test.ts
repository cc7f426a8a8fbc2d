import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { CATEGORIES } from "../../src/lib/categories";
import { contrast, ink, paletteCss, wordColour, type Palette } from "../../src/lib/palette";
import { distance, VISIONS } from "./colour-vision";

const palette = JSON.parse(readFileSync(new URL("../../../data/palette.json", import.meta.url), "utf8")) as Palette;
const PAPER = { light: "#f3f1eb", dark: "#1d2025" };

it("has a colour for each category and nothing else", () => {
  expect(Object.keys(palette)).toEqual([...CATEGORIES]);
});

it("measures distances that are known", () => {
  expect(distance("#000000", "#ffffff", "normal")).toBeCloseTo(100, 2);
  expect(distance("#cc6677", "#cc6677", "tritanopia")).toBe(0);
  // Red and green of one lightness: far apart, but not without the cones that tell them apart.
  expect(distance("#d00000", "#5d7a00", "normal")).toBeGreaterThan(3 * distance("#d00000", "#5d7a00", "deuteranopia"));
});

describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
  const colours = CATEGORIES.map((category) => palette[category][theme]);
  it.each(VISIONS)("neighbours stay apart: %s", (vision) => {
    const gaps = colours.slice(1).map((colour, i) => distance(colours[i] ?? "", colour, vision));
    expect(Math.min(...gaps)).toBeGreaterThan(16);
  });
  // The input is thin, and gradients, autograd's detail and temporaries come and go: then these meet.
  it.each(VISIONS)("so do those that meet when what is between them is gone: %s", (vision) => {
    const meeting = [
      ["OPTIMIZER_STATE", "ACTIVATION"],
      ["OPTIMIZER_STATE", "GRADIENT"],
      ["ACTIVATION", "AUTOGRAD_DETAIL"],
      ["ACTIVATION", "TEMPORARY"],
      ["GRADIENT", "TEMPORARY"],
    ] as const;
    for (const [a, b] of meeting)
      expect(distance(palette[a][theme], palette[b][theme], vision), `${a} and ${b}`).toBeGreaterThan(13);
  });
  it("labels can be read on their areas, and names in their colours on the page", () => {
    for (const colour of colours) {
      expect(contrast(colour, ink(colour)), `ink on ${colour}`).toBeGreaterThanOrEqual(4.5);
      expect(contrast(wordColour(colour, PAPER[theme]), PAPER[theme]), `word ${colour}`).toBeGreaterThanOrEqual(4.5);
    }
  });
});

it("leaves a colour that can be read as it is", () => {
  expect(wordColour("#117733", PAPER.light)).toBe("#117733");
});

it("knows WCAG's contrast", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});

it("writes a style sheet with both themes", () => {
  const css = paletteCss(palette);
  expect(css).toContain("--gradient:light-dark(#cc6677,#d9707f)");
  expect(css).toContain(".fill-optimizer-state{fill:var(--optimizer-state)}");
  expect(css).toContain(".ink-parameter{fill:var(--parameter-ink)}.word-parameter{color:var(--parameter-word)}");
});

it("refuses what is not a colour", () => {
  const wrong = { ...palette, INPUT: { light: "blue", dark: "#000000" } };
  expect(() => paletteCss(wrong)).toThrow('palette: "blue" is not a colour like #rrggbb');
});
