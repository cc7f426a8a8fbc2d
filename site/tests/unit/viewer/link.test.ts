import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { SERIES } from "../../../src/lib/categories";
import { headlineModes, type Mode } from "../../../src/lib/modes";
import { readLink, writeLink } from "../../../src/viewer/link";
import { random } from "../random";
import { sample, timeline } from "../sample";

const DAMAGED = "The data in this link are cut off or damaged.";
const link = (value: unknown) => `#data=${deflateRawSync(JSON.stringify(value)).toString("base64url")}`;

describe("a link with data", () => {
  it("brings both modes back", async () => {
    const modes = await readLink(await writeLink(headlineModes(sample())));
    expect(modes?.map(({ label }) => label)).toEqual(["Plain loop", "BackProp"]);
    modes?.forEach(({ timeline: line }, i) => {
      const original = headlineModes(sample())[i]?.timeline;
      expect(line.t).toEqual(original?.t);
      expect(line.gb.slice(0, 7)).toEqual(original?.gb);
      expect(line.peak_gb).toBeCloseTo(original?.peak_gb ?? NaN, 6);
      expect(line.phases).toEqual(original?.phases);
    });
  });

  it("keeps a long trace's peak, and stays short", async () => {
    const next = random(3);
    const t = Array.from({ length: 20_000 }, (_, i) => i);
    const gb = SERIES.map(() => t.map(() => next()));
    const sums = t.map((_, i) => gb.reduce((sum, column) => sum + (column[i] ?? 0), 0));
    const long: Mode = { key: "a", label: "A", timeline: { ...timeline(t, {}), gb, peak_gb: Math.max(...sums) } };
    const hash = await writeLink([long]);
    expect(hash.length).toBeLessThanOrEqual(16_000);
    const [mode] = (await readLink(hash)) ?? [];
    expect(mode?.timeline.peak_gb).toBeCloseTo(long.timeline.peak_gb, 5);
  });

  it("is none where the hash has no data", async () => {
    for (const hash of ["", "#", "#what-it-opens", "#memory=3"]) expect(await readLink(hash)).toBeUndefined();
  });

  it("may stand beside what the figure keeps there, or be a whole address", async () => {
    const hash = await writeLink(headlineModes(sample()));
    expect(await readLink(`${hash}&memory=3`)).toHaveLength(2);
    expect(await readLink(`https://host.example/viewer/${hash}`)).toHaveLength(2);
  });

  const packed = {
    label: "a",
    t: [0, 5],
    kb: SERIES.map(() => [1, 2]),
    end: 1,
    phases: [],
    reserved: null,
  };
  it("takes what a link can be", async () => {
    const [mode] = (await readLink(link([packed]))) ?? [];
    expect(mode?.timeline.t).toEqual([0, 0.005]);
  });
  it.each<[string, string]>([
    ["cut off", link([packed]).slice(0, 40)],
    ["no base64", "#data=%%%"],
    ["no JSON", `#data=${deflateRawSync("{").toString("base64url")}`],
    ["no modes", link([])],
    ["too many modes", link([packed, packed, packed, packed, packed])],
    ["null", link([null])],
    ["no label", link([{ ...packed, label: 1 }])],
    ["a column too few", link([{ ...packed, kb: packed.kb.slice(1) }])],
    ["a short column", link([{ ...packed, kb: packed.kb.map(() => [1]) }])],
    ["words", link([{ ...packed, t: ["0", "5"] }])],
    ["time that stands still", link([{ ...packed, t: [0, 0] }])],
    ["negative memory", link([{ ...packed, kb: packed.kb.map(() => [1, -2]) }])],
    ["an end before the last time", link([{ ...packed, end: 0.001 }])],
    ["a phase that ends before it starts", link([{ ...packed, phases: [{ name: "x", start: 2, end: 1 }] }])],
    ["a bomb", `#data=${deflateRawSync(Buffer.alloc(1 << 25)).toString("base64url")}`],
  ])("is refused: %s", async (_, hash) => {
    await expect(readLink(hash)).rejects.toThrow(DAMAGED);
  });
});
