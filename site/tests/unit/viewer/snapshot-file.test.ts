import { describe, expect, it } from "vitest";
import { SERIES } from "../../../src/lib/categories";
import { open } from "../../../src/viewer/open";
import { unpickle } from "../../../src/viewer/pickle";
import { readSnapshot } from "../../../src/viewer/snapshot-file";
import { ViewerError } from "../../../src/viewer/trace";
import { complaint, fixture } from "./opening";

const UNKNOWN = SERIES.indexOf("UNKNOWN");
const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));

describe("a CUDA memory snapshot", () => {
  it.each([2, 3, 4, 5])("is read from a pickle of protocol %i", async (protocol) => {
    const { kind, traces, about } = await open(fixture(`snapshot-${protocol}.pickle`));
    expect(kind).toBe("snapshot");
    expect(about).toContain("device 0");
    expect(about).toContain("1 other device has a trace too.");
    // 1000 bytes from before; 2000 and 500 more; 2000 less once they are free.
    expect([...(traces[0]?.t ?? [])]).toEqual([0, 0.015, 0.021].map((ms) => expect.closeTo(ms, 3) as number));
    expect([...(traces[0]?.gb[UNKNOWN] ?? [])]).toEqual([3000e-9, 3500e-9, 1500e-9]);
    expect(traces[0]?.reserved_gb).toBe(2 ** 21 / 1e9);
  });
  it("without a trace says how to get one", () => {
    expect(() => readSnapshot({ segments: [], device_traces: [[]] })).toThrow(
      /_record_memory_history\(\) has to be called/,
    );
    expect(() => readSnapshot({ device_traces: [] })).toThrow(/_record_memory_history/);
  });
  it("is told from other pickles", () => {
    for (const other of [null, 1, "a", [], { a: 1 }])
      expect(() => readSnapshot(other)).toThrow("This is no CUDA memory snapshot: it has no device_traces.");
    expect(() => readSnapshot({ device_traces: [[{ size: 1 }]] })).toThrow(
      "Entry 0 of this snapshot’s trace has no action.",
    );
  });
});

describe("unpickle", () => {
  it.each([2, 4])("runs nothing that a pickle of protocol %i wants to run", async (protocol) => {
    expect(await complaint(fixture(`hostile-${protocol}.pickle`))).toMatch(
      /^This pickle wants to build objects.*nothing was run\.$/,
    );
  });
  it("takes a dictionary's keys for what they are: text", () => {
    const value = unpickle(bytes("\x80\x02}X\x09\x00\x00\x00__proto__}X\x01\x00\x00\x00aK\x07ss.")) as Record<
      string,
      unknown
    >;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });
  it("reads numbers with their sign", () => {
    expect(unpickle(bytes("\x80\x02\x8a\x01\xff."))).toBe(-1);
    expect(unpickle(bytes("\x80\x02\x8a\x02\xff\x00."))).toBe(255);
    expect(unpickle(bytes("\x80\x02J\xfe\xff\xff\xff."))).toBe(-2);
    expect(unpickle(bytes("\x80\x02G\x3f\xe0\0\0\0\0\0\0."))).toBe(0.5);
  });
  it("reads a batch of any length", () => {
    expect(unpickle(bytes(`\x80\x02](${"K\x07".repeat(300_000)}e.`))).toHaveLength(300_000);
  });
  it("nests without a call stack", () => {
    expect(unpickle(bytes(`\x80\x02${"]".repeat(200_000)}${"a".repeat(199_999)}.`))).toHaveLength(1);
  });
  it("doesn't believe a length", () => {
    expect(() => unpickle(bytes("\x80\x02X\xff\xff\xff\xff"))).toThrow("cut off or damaged");
    expect(() => unpickle(bytes("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x3f"))).toThrow("cut off or damaged");
  });
  it.each([2, 4])("says so wherever a file of protocol %i is cut", (protocol) => {
    const whole = fixture(`snapshot-${protocol}.pickle`);
    for (let length = 1; length < whole.length; length++)
      expect(() => unpickle(whole.subarray(0, length)), String(length)).toThrow(ViewerError);
  });
  it("survives damage anywhere", () => {
    const whole = fixture("snapshot-4.pickle");
    for (let i = 0; i < whole.length; i++)
      for (const byte of [0, 0x28, 0x65, 0x73, 0x75, 0xff]) {
        const damaged = whole.slice();
        damaged[i] = byte;
        try {
          readSnapshot(unpickle(damaged));
        } catch (error) {
          expect(error, `byte ${i} = ${byte}`).toBeInstanceOf(ViewerError);
        }
      }
  });
});
