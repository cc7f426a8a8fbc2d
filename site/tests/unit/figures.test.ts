import { describe, expect, it } from "vitest";
import { caption } from "../../src/lib/caption";
import { describe as inWords } from "../../src/lib/describe";
import { figures, modeFigures } from "../../src/lib/figures";
import { unitFor } from "../../src/lib/format";
import { headlineModes } from "../../src/lib/modes";
import { tableRows } from "../../src/lib/table";
import { sample } from "./sample";

describe("figures", () => {
  const f = figures(sample());
  it("compares the peaks", () => {
    expect([f.default.peak, f.default.peak4]).toEqual(["17.05 GB", "17.0500 GB"]);
    expect([f.backprop.peak, f.backprop.peakTime]).toEqual(["15.55 GB", "40.0 ms"]);
    expect([f.saving, f.saving4, f.savingPercent]).toEqual(["1.50 GB", "1.5000 GB", "8.8\u202f%"]);
  });
  it("says what each peak is made of, without what is zero", () => {
    expect(f.default.partsText).toBe(
      "parameters 4.00, optimizer state 8.00, input 0.05, gradients 4.00 and temporary 1.00 GB",
    );
    expect(f.backprop.parts.map(({ category }) => category)).toContain("ACTIVATION");
  });
  it("finds gradients at their most", () => {
    expect([f.allGradients, f.largestGradient]).toEqual(["4.00 GB", "1.00 GB"]);
  });
  it("times steps", () => {
    expect([f.default.step, f.backprop.step, f.stepRatio]).toEqual(["90.0 ms", "85.5 ms", "0.95"]);
  });
  it("names the run", () => {
    expect([f.parameters, f.parametersExact, f.batchSize]).toEqual(["805 million", "805,371,968", "2,048"]);
    expect(f.layers).toBe("3 layers of 8,192\u00a0×\u00a08,192 and one of 8,192\u00a0×\u00a01");
    expect([f.optimizer, f.implementation, f.settings]).toEqual([
      "AdamW",
      "fused",
      "lr 0.01, betas 0.1 and 0.1, amsgrad false",
    ]);
    expect([f.source, f.device, f.date, f.dateIso]).toEqual(["GPU", "a GPU", "1 December 2026", "2026-12-01"]);
  });
  it("has null for what was not measured", () => {
    const data = sample();
    data.default.step_ms = null;
    delete data.workload.widths;
    const some = figures(data);
    expect([some.default.step, some.stepRatio, some.stepRatioValue, some.layers]).toEqual([null, null, null, null]);
    expect([some.default.reserved, some.default.rssPeak, some.default.mallocs]).toEqual([null, null, null]);
  });
  it("writes what a GPU's allocator counted", () => {
    const counted = { ...sample().default, reserved_gb: 17.5, allocator_peak_gb: 17.06, cuda_mallocs_per_step: 0 };
    const { reserved, allocatorPeak, mallocs } = modeFigures(counted);
    expect([reserved, allocatorPeak, mallocs]).toEqual(["17.50 GB", "17.06 GB", "0"]);
  });
});

describe("the caption", () => {
  it("says the saving, the run and the device", () => {
    expect(caption(figures(sample()))).toEqual([
      "BackProp’s peak is 1.50 GB (8.8\u202f%) lower: at most 1.00 GB of gradients exist at once, where the plain loop holds 4.00 GB.",
      "One training step of 805 million float32 parameters (3 layers of 8,192\u00a0×\u00a08,192 and one of 8,192\u00a0×\u00a01) at batch size 2,048 with AdamW (fused implementation), measured on a GPU (a GPU), PyTorch 2.13.0, 1 December 2026.",
      "Both plots share their scales; 1 GB is 10⁹ bytes.",
      "The time axis is that of the recorded step; unrecorded, a step takes 90.0 ms and 85.5 ms with BackProp.",
    ]);
  });
  it("says CPU for a CPU, and claims neither a device nor times for a simulation", () => {
    const data = sample();
    data.environment = { ...data.environment, source: "cpu", device: "A CPU" };
    expect(caption(figures(data)).join(" ")).toContain("measured on a CPU (A CPU)");
    data.environment = { ...data.environment, source: "simulated" };
    data.default.step_ms = null;
    expect(caption(figures(data)).join(" ")).toContain("on no device");
    expect(caption(figures(data)).join(" ")).not.toMatch(/ ms/);
  });
  it("does not claim a saving that isn't there", () => {
    const data = sample();
    [data.default, data.backprop] = [data.backprop, data.default];
    expect(caption(figures(data))[0]).toBe(
      "BackProp’s peak is 17.05 GB, the plain loop’s 15.55 GB: here gradients do not set the peak.",
    );
  });
});

it("describes a plot in words", () => {
  const [plain] = headlineModes(sample());
  expect(inWords(plain!, unitFor(17))).toBe(
    "Plain loop: memory over one training step of 100 ms, stacked by category. " +
      "It starts at 12.00 GB, peaks at 17.05 GB after 80.0 ms and ends at 16.05 GB. " +
      "The peak is made of parameters 4.00, optimizer state 8.00, input 0.05, gradients 4.00 and temporary 1.00 GB. " +
      "Phases: forward from 0.00 ms to 30.0 ms, backward from 30.0 ms to 70.0 ms, optimizer step from 70.0 ms to 100 ms.",
  );
});

it("tables each category at the peak and at each phase's end", () => {
  const { moments, rows, total } = tableRows(sample().default);
  expect(moments).toEqual(["at the peak", "after forward", "after backward", "after step"]);
  expect(rows.GRADIENT).toEqual([4, 0, 3, 4]);
  expect(rows.ACTIVATION).toEqual([0, 1, 1, 0]);
  expect(total.map((gb) => gb.toFixed(2))).toEqual(["17.05", "13.05", "16.05", "16.05"]);
});
