import { describe, expect, it } from "vitest";
import { readState, writeState, type ViewState } from "../../src/elements/view-state";

describe("the state in the address", () => {
  const states: ViewState[] = [
    { ms: 412.345, hidden: [] },
    { ms: 0, hidden: ["GRADIENT"] },
    { ms: null, hidden: ["OPTIMIZER_STATE", "TEMPORARY"] },
  ];
  it.each(states)("comes back as it was: %o", (state) => {
    expect(readState(writeState(state, "memory"), "memory")).toEqual(state);
  });
  it("is empty where there is nothing to tell", () => {
    expect(writeState({ ms: null, hidden: [] }, "memory")).toBe("");
  });
  it("is another figure's, or none", () => {
    for (const hash of ["", "#", "#memory", "#other=3", "#the-idea"]) expect(readState(hash, "memory")).toBeUndefined();
  });
  it("leaves out what it doesn't understand", () => {
    expect(readState("#memory=soon&without=gradient.nonsense.%00", "memory")).toEqual({
      ms: null,
      hidden: ["GRADIENT"],
    });
    expect(readState("#memory=Infinity", "memory")).toEqual({ ms: null, hidden: [] });
  });
});
