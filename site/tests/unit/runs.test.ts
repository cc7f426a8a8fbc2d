import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { loadRuns, runOf } from "../../src/lib/runs";
import { sample } from "./sample";

function data(...places: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "runs-"));
  for (const place of places) {
    const run = sample();
    run.environment.created = `2026-12-01T00:00:${String(place.length).padStart(2, "0")}Z`;
    if (place.startsWith("cpu")) run.environment.source = "cpu";
    const file = join(folder, place, "memory_timelines.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(run));
  }
  return folder;
}

it("finds measured runs before simulated ones, and none of a laptop's own", () => {
  const runs = loadRuns(data("simulated/fused", "cpu/fused", "cpu", "quick", "cuda", "plans"));
  expect(runs.map(({ key }) => key)).toEqual(["cuda", "cpu", "cpu-fused", "simulated-fused"]);
  expect(runs.map(({ label }) => label).slice(0, 2)).toEqual(["GPU, fused", "CPU, fused"]);
});

it("knows which run a file is a copy of", () => {
  const folder = data("cpu", "cpu/fused");
  const runs = loadRuns(folder);
  const copied = structuredClone(runs[1]?.timelines ?? sample());
  expect(runOf(copied, runs)?.key).toBe("cpu-fused");
  expect(runOf(sample(), runs)).toBeUndefined();
});

it("stops the build at a run that breaks the contract", () => {
  const folder = data("cpu");
  cpSync(join(folder, "cpu"), join(folder, "cuda"), { recursive: true });
  writeFileSync(join(folder, "cuda", "memory_timelines.json"), "{}");
  expect(() => loadRuns(folder)).toThrow(/cuda\/memory_timelines\.json: categories is missing/);
});
