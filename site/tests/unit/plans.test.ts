import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadPlans, loadPublished } from "../../src/lib/plans";

const written = (value: unknown) => {
  const file = join(mkdtempSync(join(tmpdir(), "plans-")), "published.json");
  writeFileSync(file, JSON.stringify(value));
  return file;
};

test("the models come by what they save, and are predicted", () => {
  const plans = loadPlans();
  expect(plans.length).toBeGreaterThanOrEqual(8);
  expect(plans.map(({ saved }) => saved)).toEqual(plans.map(({ saved }) => saved).sort((a, b) => b - a));
  for (const { timelines, saved } of plans) {
    expect(timelines.environment.source).toBe("simulated");
    expect(saved).toBeCloseTo((timelines.default.peak_gb - timelines.backprop.peak_gb) / timelines.default.peak_gb, 12);
  }
  expect(plans.some(({ saved }) => saved < 0.01)).toBe(true);
});

test("each published figure has ours, the difference and a source", () => {
  for (const row of loadPublished()) {
    expect(row.difference).toBeCloseTo(row.ours - row.published, 9);
    expect(row.source).toMatch(/^https:/);
  }
});

test("what is missing or something else stops the build with one sentence", () => {
  expect(() => loadPublished("nowhere/published.json")).toThrow(
    "nowhere/published.json: there is no such file; `make plans` makes it.",
  );
  expect(() => loadPlans("nowhere/plans")).toThrow("nowhere/plans: there is no such folder; `make plans` makes it.");
  const [row] = loadPublished();
  expect(() => loadPublished(written([{ ...row, unit: "kB" }]))).toThrow(/published\.json: 0\.unit: /);
});
