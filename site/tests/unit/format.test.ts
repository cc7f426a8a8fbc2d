import { describe, expect, it } from "vitest";
import {
  amount,
  count,
  date,
  duration,
  exactMemory,
  fixed,
  list,
  memory,
  percent,
  unitFor,
} from "../../src/lib/format";

describe("memory", () => {
  it("is in GB to 2 places, or all 4", () => {
    expect(memory(13.7574)).toBe("13.76 GB");
    expect(exactMemory(13.7574)).toBe("13.7574 GB");
    expect(amount(0)).toBe("0.00");
  });
  it("is in MB where the largest is under 1 GB", () => {
    const unit = unitFor(0.2151);
    expect(memory(0.2151, unit)).toBe("215.1 MB");
    expect(exactMemory(0.0011, unit)).toBe("1.1 MB");
    expect(unitFor(1).name).toBe("GB");
  });
});

it.each([
  [1234.5, 1, "1,234.5"],
  [-2.483, 2, "−2.48"],
  [-0.001, 2, "0.00"],
])("fixed(%d, %d)", (value, places, text) => expect(fixed(value, places)).toBe(text));

it.each([
  [0.1804, "18\u202f%"],
  [0.0416, "4.2\u202f%"],
  [0.0996, "10\u202f%"],
  [-0.05, "−5.0\u202f%"],
])("percent(%d)", (value, text) => expect(percent(value)).toBe(text));

it.each([
  [0.314, "0.31 ms"],
  [42.56, "42.6 ms"],
  [412.4, "412 ms"],
  [9999, "9,999 ms"],
  [61_240, "61.2 s"],
  [412_000, "412 s"],
])("duration(%d)", (value, text) => expect(duration(value)).toBe(text));

it.each([
  [805_371_968, "805 million"],
  [6_738_415_616, "6.74 billion"],
  [1_000_000, "1 million"],
  [12_345, "12,345"],
])("count(%d)", (value, text) => expect(count(value)).toBe(text));

it("writes dates in UTC", () => expect(date("2026-12-01T23:59:59Z")).toBe("1 December 2026"));

it("joins lists", () => {
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map(list)).toEqual(["", "a", "a and b", "a, b and c"]);
});
