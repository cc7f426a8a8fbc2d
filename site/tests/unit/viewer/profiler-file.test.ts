import { describe, expect, it } from "vitest";
import { SERIES } from "../../../src/lib/categories";
import { open } from "../../../src/viewer/open";
import { at, complaint, fixture, json } from "./opening";

const row = (...held: number[]) => [0, ...held, ...Array<number>(8 - held.length).fill(0)];

describe("torch.profiler's export", () => {
  it("is the same timeline from times and rows, and from raw events", async () => {
    const plain = (await open(fixture("profiler.json"))).traces[0];
    const raw = (await open(fixture("profiler.raw.json.gz"))).traces[0];
    if (!plain || !raw) throw new Error("nothing opened");
    // The raw export has nanoseconds: what it changes within one microsecond, the plain one has at once.
    const last = (ms: number) => raw.t.findLastIndex((time) => time < ms + 0.001 - 1e-7);
    const shift = plain.t.map((ms) => last(ms));
    expect(plain.t.length).toBeGreaterThan(20);
    const final = [plain, raw].map((trace) => at(trace, trace.t.length - 1));
    expect(final[0]).toEqual(final[1]);
    const sums = [plain, raw].map((trace) => Math.max(...[...trace.t].map((_, i) => sum(at(trace, i)))));
    expect(sums[0]).toBe(sums[1]);
    expect(new Set(shift).size).toBeGreaterThan(plain.t.length / 2);
  });

  it("keeps every number of the rows, in the figure's order", async () => {
    const [, rows] = JSON.parse(String(Buffer.from(fixture("profiler.json")))) as [number[], number[][]];
    const trace = (await open(fixture("profiler.json"))).traces[0];
    const order = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL"];
    const final = rows.at(-1) ?? [];
    const held = at(trace, (trace?.t.length ?? 0) - 1);
    [...order, "UNKNOWN"].forEach((series, i) =>
      expect(held[SERIES.indexOf(series as (typeof SERIES)[number])], series).toBe((final[i + 1] ?? 0) / 1e9),
    );
  });

  it("puts what was there before the recording at the first moment", async () => {
    const events = [
      [-1, 1, 4000, 0],
      [1_796_128_457_119_844_096, 2, 1000, 4],
      [1_796_128_457_119_944_192, 4, -1000, 4],
    ];
    const trace = (await open(json(events))).traces[0];
    expect([...(trace?.t ?? [])]).toEqual([0, 0.1].map((ms) => expect.closeTo(ms, 3) as number));
    expect(at(trace, 0)[0]).toBe(4e-6);
    expect(at(trace, 0)[3]).toBe(1e-6);
    expect(at(trace, 1)[3]).toBe(0);
  });

  it("joins times that are equal", async () => {
    const trace = (
      await open(
        json([
          [5000, 5000, 7000],
          [row(1), row(2), row(3)],
        ]),
      )
    ).traces[0];
    expect([...(trace?.t ?? [])]).toEqual([0, 2]);
    expect(trace?.end_t).toBeGreaterThan(2);
    expect([0, 1].map((i) => at(trace, i)[0])).toEqual([2e-9, 3e-9]);
  });

  it("is the same gzipped", async () => {
    const [packed, plain] = await Promise.all(["profiler.json.gz", "profiler.json"].map((name) => open(fixture(name))));
    expect(packed).toEqual(plain);
  });

  it.each<[string, unknown, RegExp]>([
    [
      "of a device on which nothing ran",
      [[], []],
      /nothing in it: export_memory_timeline was given the name of a device/,
    ],
    ["with more times than rows", [[1, 2], [row(1)]], /has 2 times and 1 rows\.$/],
    [
      "with a time that is a word",
      [["soon"], [row(1)]],
      /^Time 0 of this export of torch\.profiler is not a number\.$/,
    ],
    [
      "with a short row",
      [
        [1, 2],
        [row(1), [0, 1, 2]],
      ],
      /^Row 1 of this export of torch\.profiler is not nine numbers\.$/,
    ],
    ["with null in a row", [[1], [[0, null, 0, 0, 0, 0, 0, 0, 0]]], /^Row 0 of/],
    [
      "in which time goes back",
      [
        [2, 1],
        [row(1), row(2)],
      ],
      /^Time goes back after 1 moments/,
    ],
    [
      "with an event of another kind",
      [
        [1, 2, 3, 0],
        [1, 2, 3],
      ],
      /^Event 1 of this raw export .* is not four numbers\.$/,
    ],
    ["with a category that there isn't", [[1, 2, 3, 9]], /^Event 0 of this raw export has category 9/],
  ])("is refused %s", async (_, data, sentence) => {
    expect(await complaint(json(data))).toMatch(sentence);
  });

  it("is refused with a number that is too large for one", async () => {
    const bytes = new TextEncoder().encode("[[1, 2, 1e999, 0], [2, 2, 1e999, 0]]");
    expect(await complaint(bytes)).toMatch(/not four numbers/);
  });
});

function sum(values: readonly (number | undefined)[]): number {
  return Math.round(values.reduce<number>((total, value) => total + (value ?? 0) * 1e9, 0));
}
