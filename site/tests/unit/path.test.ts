import { describe, expect, it } from "vitest";
import { stepArea } from "../../src/lib/path";

describe("stepArea", () => {
  it("draws steps with relative moves, and equal columns as one", () => {
    expect(stepArea([3, 3, 1, 4], 9)).toBe("M0 9v-3h2v2h1v-3h1V9z");
  });
  it("starts and ends on the floor", () => {
    expect(stepArea([0, 0, 2, 0], 9)).toBe("M0 9h2v-2h1v2h1z");
  });
  it("rounds to whole units, so that differences below one disappear", () => {
    expect(stepArea([1.4, 0.6, 1], 5)).toBe("M0 5v-1h3V5z");
  });
  it("has no separators where a sign separates", () => {
    expect(stepArea([10, 20], 100)).toBe("M0 100v-10h1v-10h1V100z");
  });
  it("draws nothing for nothing", () => {
    expect(stepArea([], 9)).toBe("M0 9z");
    expect(stepArea([0, 0], 9)).toBe("M0 9h2z");
  });
});
