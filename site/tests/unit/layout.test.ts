import { describe, expect, it } from "vitest";
import { overlaps, roomiest } from "../../src/lib/boxes";
import { WIDTHS } from "../../src/lib/geometry";
import { boxOf, type Label } from "../../src/lib/labels";
import { layout, type Panel } from "../../src/lib/layout";
import { headlineModes, type Mode } from "../../src/lib/modes";
import { brackets } from "../../src/lib/phases";
import type { Timeline } from "../../src/lib/timelines";
import { random } from "./random";
import { sample, timeline } from "./sample";
import { textWidth } from "../../src/lib/text-width";

const modes = headlineModes(sample());
const [plain, backprop] = layout(modes).panels as [Panel, Panel];
const find = (panel: Panel, kind: Label["kind"]) => panel.labels.find((label) => label.kind === kind);

describe("layout", () => {
  it("gives all modes one scale", () => {
    const alone = layout(modes.slice(1));
    expect(backprop.peak.y).toBeGreaterThan(plain.peak.y);
    expect(alone.panels[0]?.peak.y).toBeCloseTo(22, 5);
    expect(plain.areas.at(-1)?.d).toBe(backprop.areas.at(-1)?.d); // the same parameters, drawn the same
  });
  it("marks each peak, and in the lower plot the higher one and what is saved", () => {
    expect(find(plain, "peak")?.text).toBe("peak 17.05 GB");
    expect(find(plain, "reference")).toBeUndefined();
    expect(find(backprop, "reference")?.text).toBe("Plain loop: 17.05 GB");
    expect(backprop.referenceY).toBeCloseTo(plain.peak.y, 5);
  });
  it("leaves room over the areas for the reserved line", () => {
    const reserved = modes.map((mode) => ({ ...mode, timeline: { ...mode.timeline, reserved_gb: 20 } }));
    const { panels } = layout(reserved);
    expect(panels[0]?.reservedY).toBeCloseTo(22, 5);
    expect(panels.map((panel) => find(panel, "reserved")?.text)).toEqual(["reserved 20.00 GB", "reserved 20.00 GB"]);
  });
  it("names categories on areas that have the room", () => {
    const named = plain.labels.filter(({ kind }) => kind === "area").map(({ text }) => text);
    expect(named).toEqual(expect.arrayContaining(["parameters", "optimizer state", "gradients"]));
  });
  it("takes one to four modes", () => {
    expect(() => layout([])).toThrow("a figure compares 1 to 4 modes, not 0");
    expect(() => layout(Array<Mode>(5).fill(modes[0]!))).toThrow("not 5");
    expect(layout(Array<Mode>(4).fill(modes[0]!)).panels).toHaveLength(4);
  });
  it("draws a single sample that holds nothing", () => {
    const [panel] = layout([{ key: "x", label: "X", timeline: timeline([0], {}) }]).panels;
    expect(panel?.areas).toEqual([]);
    expect(JSON.stringify(panel)).not.toMatch(/null,"peak"|NaN/);
  });
});

describe("brackets", () => {
  const texts = (mode: Mode, maxMs: number) => brackets(mode, maxMs).flatMap(({ labels }) => labels);
  it("say a phase's name inside when it fits", () => {
    const found = texts(modes[0]!, 100).map(({ text, row, shown }) => [text, row, shown]);
    expect(found.slice(0, 2)).toEqual([
      ["forward", 0, "always"],
      ["backward", 0, "always"],
    ]);
    expect(found.slice(2)).toEqual([
      ["optimizer step", 1, "narrow"],
      ["optimizer step", 0, "wide"],
    ]);
  });
  it("raise the name of a narrow phase, away from its neighbours'", () => {
    const all = texts(modes[1]!, 100);
    const narrow = all.filter(({ text }) => text.startsWith("backward"));
    expect(narrow.every(({ row, anchor }) => row === 1 && anchor === "start")).toBe(true);
    expect(all.some(({ text, shown }) => shown === "wide" && text.includes("walks"))).toBe(true);
  });
  it("put two narrow phases' names on different rows", () => {
    const phases = [
      { name: "forward", start: 0, end: 1 },
      { name: "backward", start: 1, end: 2 },
      { name: "optimizer step", start: 2, end: 100 },
    ];
    const labels = texts({ key: "x", label: "X", timeline: timeline([0], {}, { end_t: 100, phases }) }, 100);
    expect(labels.map(({ row }) => row)).toEqual([1, 2, 0]);
  });
});

describe("roomiest", () => {
  it("finds the middle of the roomiest stretch", () => {
    expect(roomiest([0, 0, 0, 0, 0, 0], [1, 2, 5, 5, 5, 1], 3)).toEqual({ middle: 3.5, bottom: 0, top: 5 });
  });
  it("has nothing where the box is wider than the plot", () => {
    expect(roomiest([0, 0], [1, 1], 3)).toBeUndefined();
  });
});

/** A step with its ups and downs anywhere, and phases of any length. */
function anyStep(seed: number): Timeline {
  const next = random(seed);
  const t = [0, ...Array.from({ length: 40 }, () => next() * 200)].sort((a, b) => a - b);
  const grow = (size: number) => t.map(() => next() * size);
  const [a, b] = [next(), next()].sort((x, y) => x - y).map((share) => share * 200) as [number, number];
  const held = {
    PARAMETER: t.map(() => 3),
    OPTIMIZER_STATE: t.map(() => 6 * (seed % 2)),
    ACTIVATION: grow(2),
    GRADIENT: grow(seed % 5),
    TEMPORARY: grow(1),
  };
  const line = timeline(t, held, {
    phases: [
      { name: "forward", start: 0, end: a },
      { name: "backward", start: a, end: b },
      { name: "optimizer step", start: b, end: 200 },
    ],
  });
  return { ...line, end_t: 210, reserved_gb: seed % 3 === 0 ? line.peak_gb * (1 + next() * 0.2) : null };
}

describe.each(Array.from({ length: 40 }, (_, seed) => seed))("for any steps (seed %i)", (seed) => {
  const pair = [anyStep(seed), anyStep(seed + 1000)].map((line, i) => ({
    key: `m${i}`,
    label: `Mode ${i}`,
    timeline: line,
  }));
  const { panels } = layout(pair);
  it.each(["narrow", "wide"] as const)("words in a %s plot touch neither each other nor its edge", (size) => {
    for (const { labels } of panels) {
      const boxes = labels
        .filter(({ shown }) => shown === "always" || shown === size)
        .map((label) => ({ text: label.text, ...boxOf(label, WIDTHS[size]) }));
      for (const [i, a] of boxes.entries()) {
        expect(a.x0, a.text).toBeGreaterThanOrEqual(-0.01);
        expect(a.x1, a.text).toBeLessThanOrEqual(WIDTHS[size] + 0.01);
        for (const b of boxes.slice(i + 1)) expect(overlaps(a, b), `${a.text} and ${b.text}`).toBe(false);
      }
    }
  });
  it.each(["narrow", "wide"] as const)("phases' names in a %s plot don't touch", (size) => {
    for (const panel of panels) {
      const boxes = panel.brackets
        .flatMap(({ labels }) => labels)
        .filter(({ shown }) => shown === "always" || shown === size)
        .map(({ text, x, anchor, row }) => {
          const at = x * WIDTHS[size];
          const long = textWidth(text);
          const x0 = anchor === "start" ? at : anchor === "end" ? at - long : at - long / 2;
          return { text, x0, x1: x0 + long, y0: -row - 0.9, y1: -row };
        });
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1)) expect(overlaps(a, b), `${a.text} and ${b.text}`).toBe(false);
    }
  });
});
