import { expect, it } from "vitest";
import { NEGLIGIBLE, ORDERS, setting, size } from "../../src/lib/gallery";
import { miniature } from "../../src/lib/markup/miniature";
import { headlineModes } from "../../src/lib/modes";
import { loadLadder, loadPlans } from "../../src/lib/plans";
import { sample } from "./sample";

const plans = loadPlans();

it("sorts by each order as its page says", () => {
  const numbers = {
    saved: plans.map(({ saved }) => saved),
    peak: plans.map(({ timelines }) => timelines.default.peak_gb),
    backprop: plans.map(({ timelines }) => timelines.backprop.peak_gb),
    parameters: plans.map(({ timelines }) => timelines.workload.parameters),
  };
  for (const [name, values] of Object.entries(numbers)) {
    const order = ORDERS[name as keyof typeof numbers];
    const sorted = [...plans].sort(order.compare).map((plan) => values[plans.indexOf(plan)]);
    expect(sorted).toEqual([...values].sort((a, b) => b - a));
  }
  const names = [...plans].sort(ORDERS.name.compare).map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(new Set(Object.values(ORDERS).map(({ path }) => path)).size).toBe(5);
});

it("says how a model was planned", () => {
  const plan = { name: "a", file: "", timelines: sample(), saved: NEGLIGIBLE };
  plan.timelines.workload.seq_len = 1024;
  plan.timelines.workload.checkpointed = true;
  expect(setting(plan)).toBe("batch 2,048 of 1,024 tokens, float32, AdamW (fused), checkpointed");
  expect(size(plan)).toBe("805 million");
});

it("draws miniatures on the scale that it is given", () => {
  const [plain] = headlineModes(sample());
  if (!plain) throw new Error("no mode");
  const top = (topGb: number) => Number(/v-(\d+)/.exec(miniature(plain, topGb).text)?.[1]);
  expect(top(2 * plain.timeline.peak_gb)).toBeLessThan(top(plain.timeline.peak_gb));
  expect(miniature(plain, plain.timeline.peak_gb).text).toContain('aria-label="Plain loop: peak 17.05 GB"');
});

it("has a ladder on which everything helps", () => {
  const { model, rungs } = loadLadder();
  expect(plans.map(({ name }) => name)).toContain(model);
  expect(rungs.length).toBeGreaterThanOrEqual(4);
  expect(() => loadLadder("nowhere/ladder.json")).toThrow(
    "nowhere/ladder.json: there is no such file; `make plans` makes it.",
  );
});
