import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkTimelines, dataDirectory, loadTimelines } from "../../src/lib/contract";
import { sample } from "./sample";

const folder = mkdtempSync(join(tmpdir(), "timelines-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (text: string) => {
  const path = join(folder, "memory_timelines.json");
  writeFileSync(path, text);
  return path;
};
const shown = (path: string) => relative(process.cwd(), path);

/** The sample with one change, through JSON as a file would be. */
type Loose = Record<string, Record<string, unknown>>;
function broken(change: (data: Loose) => void): unknown {
  const data = JSON.parse(JSON.stringify(sample())) as Loose;
  change(data);
  return data;
}

it("accepts a run that follows the contract", () => {
  expect(loadTimelines(file(JSON.stringify(sample())))).toEqual(sample());
});

it("finds the data folder from the site's and from below", () => {
  expect(dataDirectory(join(process.cwd(), "src", "lib"))).toBe(dataDirectory());
  expect(() => dataDirectory("/")).toThrow("data/memory_timelines.schema.json is in no folder above /.");
});

describe("a file that can't be read", () => {
  it("that is missing", () => {
    const path = join(folder, "none.json");
    expect(() => loadTimelines(path)).toThrow(`${shown(path)}: there is no such file; \`make data\` measures it.`);
  });
  it("that is cut off", () => {
    expect(() => loadTimelines(file('{"categories": ['))).toThrow(/memory_timelines\.json: this is not JSON: .+\.$/);
  });
  it("that is a folder", () => {
    expect(() => loadTimelines(folder)).toThrow(/EISDIR/);
  });
});

const at = <T>(value: unknown): T => value as T;

describe("one sentence with file, field and reason", () => {
  it.each<[string, (data: Loose) => void, string]>([
    ["a missing member", (d) => delete d["environment"], "environment is missing."],
    ["a missing inner member", (d) => delete d["default"]!["end_t"], "default.end_t is missing."],
    ["an unknown member", (d) => (d["workload"]!["color"] = 1), "workload.color is not part of the contract."],
    [
      "a wrong type",
      (d) => (at<unknown[][]>(d["default"]!["gb"])[4]![2] = "1"),
      'default.gb[4][2] must be number, not "1".',
    ],
    [
      "null where a number must be",
      (d) => (d["backprop"]!["peak_gb"] = null),
      "backprop.peak_gb must be number, not null.",
    ],
    ["a wrong constant", (d) => (at<unknown[]>(d["default"]!["t"])[0] = 0.5), "default.t[0] must be 0, not 0.5."],
    [
      "a value that isn't offered",
      (d) => (d["environment"]!["source"] = "tpu"),
      'environment.source must be one of ["cuda","cpu","simulated"], not "tpu".',
    ],
    [
      "a number below its minimum",
      (d) => (at<unknown[][]>(d["default"]!["gb"])[0]![0] = -1),
      "default.gb[0][0] must be >= 0, and is -1.",
    ],
    [
      "phases under other names",
      (d) => (at<Loose[]>(d["default"]!["phases"])[1]!["name"] = at("walk")),
      'default.phases[1].name must be "backward", not "walk".',
    ],
    [
      "time that stands still",
      (d) => (at<unknown[]>(d["default"]!["t"])[3] = 40),
      "default.t[3] is 40, which does not come after 40.",
    ],
    [
      "an end before the last time",
      (d) => (d["backprop"]!["end_t"] = 90),
      "backprop.end_t is 90, which does not come after the last time 90.",
    ],
    [
      "a column that is too short",
      (d) => at<unknown[][]>(d["default"]!["gb"])[4]!.pop(),
      "default.gb[4] has 5 numbers for 6 times.",
    ],
    [
      "phases out of order",
      (d) => (at<Loose[]>(d["backprop"]!["phases"])[1]!["start"] = at(12)),
      "backprop.phases[1].start is 12, before 39.7.",
    ],
    [
      "a phase that ends before it starts",
      (d) => (at<Loose[]>(d["backprop"]!["phases"])[1]!["end"] = at(39)),
      "backprop.phases[1].end is 39, before its start 39.7.",
    ],
    [
      "a phase after the end",
      (d) => (at<Loose[]>(d["backprop"]!["phases"])[2]!["end"] = at(101)),
      "backprop.phases[2].end is 101, after end_t 100.",
    ],
    [
      "a peak that is not the largest total",
      (d) => (d["default"]!["peak_gb"] = 17.1),
      "default.peak_gb is 17.1, but the largest total is 17.0500.",
    ],
    [
      "a peak time at another sample",
      (d) => (d["default"]!["peak_t"] = 60),
      "default.peak_t is 60, but the peak is first reached at 80.",
    ],
    [
      "a peak time between samples",
      (d) => (d["default"]!["peak_t"] = 80.5),
      "default.peak_t is 80.5, but the peak is first reached at 80.",
    ],
  ])("%s", (_, change, sentence) => {
    let message = "";
    try {
      checkTimelines(broken(change), "data/x.json");
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toBe(`data/x.json: ${sentence}`);
  });
  it("something else altogether", () => {
    expect(() => checkTimelines([], "x.json")).toThrow("x.json: the whole must be object, not [].");
  });
});

it("allows what rounding to 4 places can do to the peak", () => {
  expect(() =>
    checkTimelines(
      broken((d) => (d["default"]!["peak_gb"] = 17.0503)),
      "x.json",
    ),
  ).not.toThrow();
});
