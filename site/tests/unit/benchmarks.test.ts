import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  benchmarkFolders,
  exactPeers,
  excessPeak,
  kindOf,
  loadClipping,
  loadGrowth,
  loadRaces,
  subject,
} from "../../src/lib/benchmarks";
import { strip } from "../../src/lib/markup/strip";

const estimate = (median: number) => ({ median, low: median - 0.1, high: median + 0.1 });
const row = (contestant: string, over: number, weights: string[] = ["plain fused"]) => ({
  contestant,
  rounds: 9,
  step_ms: estimate(10 * over),
  over_plain: estimate(over),
  backprop_over: estimate(0.9 / over),
  same_weights_as: weights,
  peak_bytes: 101,
  floor_bytes: 100,
});

function races(...results: unknown[]): string {
  const folder = mkdtempSync(join(tmpdir(), "benchmarks-"));
  const environment = { device: "a CPU", torch: "2.13.0", created: "2026-12-01T00:00:00Z", command: "c", peers: {} };
  for (const [model, optimizer] of [
    ["wide-mlp", "AdamW"],
    ["small-tensors", "SGD"],
    ["small-tensors", "AdamW"],
  ] as const)
    writeFileSync(
      join(folder, `${model}-${optimizer.toLowerCase()}.json`),
      JSON.stringify({ environment, model: { name: model }, optimizer: { name: optimizer }, results }),
    );
  return folder;
}

const results = [
  row("plain fused", 1),
  row("backprop fused", 0.9),
  row("quick but other weights", 0.5, []),
  row("slow", 1.4),
  row("quick", 0.8),
  { contestant: "absent", reason: "no GPU" },
];

it("brings races in the article's order, with who could not run", () => {
  const all = loadRaces(races(...results));
  expect(all.map(({ model, optimizer }) => `${model} ${optimizer}`)).toEqual([
    "small-tensors AdamW",
    "wide-mlp AdamW",
    "small-tensors SGD",
  ]);
  expect(all[0]?.absent).toEqual([{ contestant: "absent", reason: "no GPU" }]);
});

it("compares with others that end with the same weights, the fastest first", () => {
  const [race] = loadRaces(races(...results));
  if (!race) throw new Error("no race");
  expect(subject(race).over_plain.median).toBe(0.9);
  expect(exactPeers(race).map(({ contestant }) => contestant)).toEqual(["quick", "slow"]);
});

it("tells how far above the lightest exact peer BackProp peaks", () => {
  const excess = (...peers: unknown[]) => {
    const [race] = loadRaces(races(row("backprop fused", 0.9), ...peers));
    return race && excessPeak(race);
  };
  const peer = (peak_bytes: number, weights?: string[]) => ({ ...row("peer", 1, weights), peak_bytes });
  expect(excess(peer(100), peer(120))).toBeCloseTo(0.01);
  expect(excess(peer(120))).toBe(0);
  expect(excess(peer(50, []))).toBe(0);
});

it("says in a sentence what is missing", () => {
  expect(() => loadRaces("nowhere")).toThrow("nowhere: there is no race; `make bench` runs them.");
  expect(() => benchmarkFolders("nowhere")).toThrow("nowhere: there is no benchmark; `make bench` makes one.");
  const [race] = loadRaces(races(row("plain fused", 1)));
  expect(() => race && subject(race)).toThrow("the race of small-tensors with AdamW has no backprop fused");
  expect(() => loadRaces(races({ contestant: 3 }))).toThrow(/small-tensors-adamw\.json: results\.0/);
});

it("has the figures that the article shows", () => {
  const [first, ...others] = benchmarkFolders();
  if (!first) throw new Error("no folder");
  const all = [first, ...others].flatMap(loadRaces);
  expect(all.length).toBeGreaterThanOrEqual(10);
  for (const race of all) expect(subject(race).peak_bytes).toBeGreaterThanOrEqual(subject(race).floor_bytes ?? 0);
  expect(loadGrowth(first)?.growth.length).toBeGreaterThan(10);
  expect(loadClipping(first)?.clipping.length).toBeGreaterThan(0);
});

it("lists what was measured on a GPU before what was on a CPU, and does without growth and clipping", () => {
  const folder = mkdtempSync(join(tmpdir(), "devices-"));
  for (const name of ["cpu", "cuda-bfloat16", "cpu-bfloat16"]) mkdirSync(join(folder, name));
  const folders = benchmarkFolders(folder);
  expect(folders.map((path) => path.slice(folder.length + 1))).toEqual(["cuda-bfloat16", "cpu-bfloat16", "cpu"]);
  expect(folders.map(kindOf)).toEqual(["a GPU", "a CPU", "a CPU"]);
  expect(loadGrowth(folder)).toBeNull();
  expect(loadClipping(folder)).toBeNull();
});

it("puts half as long as far from one as twice as long, and what is beyond at the end", () => {
  const dot = (median: number) => ({ name: "a", median, low: median, high: median, ours: false });
  const x = (median: number) => Number(/cx="([\d.]+)%"/.exec(strip([dot(median)]).text)?.[1]);
  expect(x(1) - x(0.8)).toBeCloseTo(x(1.25) - x(1), 1);
  expect(x(5)).toBe(98);
  expect(x(0.1)).toBe(2);
});
