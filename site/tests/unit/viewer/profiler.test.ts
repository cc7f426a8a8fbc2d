import { describe, expect, it } from "vitest";
import { CATEGORIES } from "../../../src/lib/categories";
import { open } from "../../../src/viewer/open";
import { UNKNOWN } from "../../../src/viewer/trace";
import { random } from "../random";
import { fixture, gzip, isSound, opened, refusal, utf8 } from "./files";

const text = (name: string) => new TextDecoder().decode(fixture(name));

describe("a profile of a step on the CPU", () => {
  it("is the same from each export", async () => {
    const plain = await opened(fixture("profile.json"), "profile.json");
    expect(isSound(plain)).toBe(true);
    expect(plain.label).toBe("profile");
    for (const name of ["profile.json.gz", "profile.raw.json.gz"])
      expect(await opened(fixture(name), name)).toEqual(plain);
  });

  it("has the plain export's times and bytes", async () => {
    const [times, rows] = JSON.parse(text("profile.json")) as [number[], number[][]];
    const { t, gb } = await opened(fixture("profile.json"));
    const last = times.flatMap((time, i) => (time === times[i + 1] ? [] : [i]));
    expect(Array.from(t)).toEqual(last.map((i) => (times[i]! - times[0]!) / 1e3));
    const order = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL"];
    CATEGORIES.forEach((category, c) => {
      const column = 1 + order.indexOf(category);
      expect(Array.from(gb[c]!)).toEqual(last.map((i) => rows[i]![column]! / 1e9));
    });
    expect(Array.from(gb[UNKNOWN]!)).toEqual(last.map((i) => rows[i]![8]! / 1e9));
    expect(Math.max(...gb[0]!)).toBeGreaterThan(0);
  });

  it("is named in one line", async () => {
    const { kind, about } = await open(fixture("profile.raw.json.gz"), "a.raw.json.gz");
    expect(kind).toBe("profiler");
    expect(about).toMatch(/^Memory timeline by torch\.profiler \(raw events\): \d+ moments over [\d.]+ ms\.$/);
  });

  it("from a device that has no events is explained", async () => {
    for (const bytes of [fixture("wrong-device.json"), utf8(" [ ] "), await gzip(utf8("[]"))])
      expect(await refusal(bytes)).toContain(
        "is empty, as it is after export_memory_timeline with the name of a device",
      );
  });

  it("cut off anywhere is refused", async () => {
    for (const name of ["profile.json", "profile.json.gz", "profile.raw.json.gz"]) {
      const bytes = fixture(name);
      for (let n = 0; n < bytes.length; n += name === "profile.json" ? 13 : 5)
        expect(await refusal(bytes.slice(0, n), "cut")).toMatch(/^cut: .+\.$/);
    }
  });
});

describe("raw events", () => {
  it("count what was there before, and have the plain export's microseconds", async () => {
    const raw =
      "[[-1, 1, 100, 0], [1796130805246197979, 2, 10, 4], [1796130805246199000, 3, -10, 4],\n" +
      "[1796130805246199000, 3, 10, 5], [1796130805246201499, 4, -10, 5]]";
    const { t, gb } = await opened(raw);
    expect(Array.from(t)).toEqual([0, 0.001, 0.003]); // int(….979 / 1000) is rounded up, as in Python
    expect(Array.from(gb[0]!)).toEqual([1e-7, 1e-7, 1e-7]);
    expect(Array.from(gb[CATEGORIES.indexOf("ACTIVATION")]!)).toEqual([1e-8, 0, 0]);
    expect(Array.from(gb[CATEGORIES.indexOf("GRADIENT")]!)).toEqual([0, 1e-8, 0]);
  });

  it("that all come from before are one moment", async () => {
    const { t, gb, end_t } = await opened("[[-1,1,100,7],[-1,1,20,7]]");
    expect([Array.from(t), end_t, Array.from(gb[UNKNOWN]!)]).toEqual([[0], 0.001, [1.2e-7]]);
  });

  it("that fall below 0 are shown as 0, and the reader is told", async () => {
    const { traces, about } = await open(utf8("[[1000,2,5,7],[2000,4,-9,7],[3000,2,9,7]]"), "x");
    expect(Array.from(traces[0]!.gb[UNKNOWN]!)).toEqual([5e-9, 0, 5e-9]);
    expect(about).toContain("; where a category falls below 0, 1 times, 0 is shown.");
  });

  it("give the plain export of random ones", async () => {
    const next = random(9);
    const integer = (n: number) => Math.floor(next() * n);
    for (let round = 0; round < 50; round++) {
      let time = 1_700_000_000_000_000_000n + BigInt(integer(1e9));
      const held = Array<number>(8).fill(0);
      const [raw, times, rows]: [string[], number[], number[][]] = [[], [], []];
      for (let i = 0; i < 200; i++) {
        time += BigInt(integer(2) * integer(5000));
        const category = integer(8);
        const bytes = next() < 0.4 ? -held[category]! : integer(2 ** 34);
        held[category]! += bytes;
        raw.push(`[${time},${bytes < 0 ? 4 : 2},${bytes},${category}]`);
        // Python's int(t / 1000): JavaScript divides the same way, once the quotient's parts are exact.
        const us = Math.trunc(Number(time / 1000n) + Number(time % 1000n) / 1000);
        if (times.at(-1) !== us) times.push(us);
        rows[times.length - 1] = [0, ...held];
      }
      const trace = await opened(`[${raw.join()}]`);
      expect(trace).toEqual(await opened(JSON.stringify([times, rows])));
      expect(isSound(trace)).toBe(true);
    }
  });
});

it("reads nanoseconds, which torch before 2.2 wrote into the plain export", async () => {
  const { t } = await opened("[[1700000000000000000,1700000000003000064],[[0,1,0,0,0,0,0,0,0],[0,2,0,0,0,0,0,0,0]]]");
  expect(Array.from(t)).toEqual([0, 3.000064]);
});

const row = "[0,1,2,3,4,5,6,7,8]";
it.each<[string, string]>([
  ["[[1,2],[[0,1,2]]]", "row 0 has 3 numbers, where a memory timeline of torch.profiler has 9"],
  [`[[1],[${row},${row}]]`, "it has more rows of sizes than times (1)"],
  [`[[1,2],[${row}]]`, "it has fewer rows of sizes (1) than times (2)"],
  ["[[1,2],[]]", "it has fewer rows of sizes (0) than times (2)"],
  [`[[],[${row}]]`, "it has more rows of sizes than times (0)"],
  [`[[1],[${row}],3]`, "it has more than two lists"],
  [`[[2,1],[${row},${row}]]`, "time 1 comes before the one that precedes it"],
  [`[[1],[[0,1,2,3,4,5,6,7,"8"]]]`, 'row 0 has "8"]]] where a number must be'],
  [`[["1"],[${row}]]`, 'time 0 has "1"'],
  [`[[1],[[9,1,2,3,4,5,6,7,8]]]`, "row 0 begins with 9, where torch.profiler writes 0"],
  [`[[1e999],[${row}]]`, "time 0 has 1e999, which is no number that a time or a size can be"],
  [`[[-1e999],[${row}]]`, "time 0 has -1e999"],
  [`[[01],[${row}]]`, "time 0 has 01"],
  [`[[1.],[${row}]]`, "time 0 has 1."],
  [`[[--1],[${row}]]`, "time 0 has --1"],
  [`[[-],[${row}]]`, "time 0 has -"],
  [`[[1,],[${row}]]`, "time 1 has ],[["],
  [`[[,1],[${row}]]`, "time 0 has ,1]"],
  [`[[1 2],[${row}]]`, "has 2],[["],
  [`[[NaN],[${row}]]`, "time 0 has NaN]"],
  [`[[Infinity],[${row}]]`, "time 0 has Infinity]"],
  [`[[null],[${row}]]`, "time 0 has null]"],
  [`[[1],[${row}]] x`, "what follows the last row has x where the end of the file must be"],
  ["[[1,2,3]]", "event 0 has 3 numbers, where a raw memory timeline of torch.profiler has 4"],
  ["[[1,2,3,4,5]]", "event 0 has 5 numbers"],
  ["[[]]", "event 0 has 0 numbers"],
  ["[[1000,2,3,4],[2000,2,3]]", "event 1 has 3 numbers"],
  ["[[1000,5,3,4]]", "event 0 has the action 5, where torch.profiler writes 1 to 4"],
  ["[[1000,1.5,3,4]]", "event 0 has the action 1.5"],
  ["[[1000,2,3,8]]", "event 0 has the category 8, where torch.profiler writes 0 to 7"],
  ["[[1000,2,3,-1]]", "event 0 has the category -1"],
  ["[[1000,2,3,0.5]]", "event 0 has the category 0.5"],
  ["[[5000,2,3,4],[2000,2,3,4]]", "event 1 comes before the one that precedes it"],
  ["[[5000,2,3,4],[-1,1,3,4]]", "event 1 comes before the one that precedes it"],
  ["[[-2,2,3,4]]", "event 0 has a time below 0 that is not -1"],
  ["[[1000,2,[3],4]]", "event 0 has [3],4]] where a number must be"],
  ["[[1000,2,3,4]", "it ends in the middle, at event 1"],
  ["[1,2,3]", "it is a JSON list, but not of lists of numbers"],
  ['[{"ph":"X"}]', "it is a JSON list, but not of lists of numbers"],
  ["[", "it is a JSON list, but not of lists of numbers"],
])("refuses %s", async (file, reason) => {
  const message = await refusal(file);
  expect(message).toContain(`x.json: `);
  expect(message).toContain(reason);
  expect(message).toMatch(/^[^\n]+[^.]\.$/);
});

it("takes white space and other forms of numbers as JSON does", async () => {
  const file = "\n[ [ 1e3 , 2.5E+3 ,\t-0 ] , [ ]\r\n]";
  expect(await refusal(file)).toContain("it has fewer rows of sizes (0) than times (3)");
  const { t, gb } = await opened(`[[1000.5 , 2e3],\n[${row},\n [0, 0, 0 ,0,0,0,0,0,1e9] ] ]\n`);
  expect(Array.from(t)).toEqual([0, 0.9995]);
  expect(Array.from(gb[UNKNOWN]!)).toEqual([8e-9, 1]);
});
