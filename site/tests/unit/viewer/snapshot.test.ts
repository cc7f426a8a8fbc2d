import { describe, expect, it } from "vitest";
import { open } from "../../../src/viewer/open";
import { UNKNOWN } from "../../../src/viewer/trace";
import { Dict, unpickle } from "../../../src/viewer/pickle";
import { random } from "../random";
import { fixture, gzip, isSound, opened, refusal } from "./files";
import { pickle } from "./pickle";

const START = 1_760_000_000_000_000;
const alloc = (us: number, addr: number, size: number, more = {}) => ({
  ...{ action: "alloc", addr, size, time_us: START + us },
  ...more,
});
const free = (us: number, addr: number, size: number) => ({ ...alloc(us, addr, size), action: "free_completed" });
const segment = (total_size: number, ...active: number[]) => ({
  ...{ device: 0, total_size },
  blocks: active.map((requested_size) => ({ state: "active_allocated", size: requested_size + 12, requested_size })),
});
const snapshot = (events: unknown, segments: unknown = []) => pickle({ device_traces: [events], segments });

describe("a snapshot", () => {
  it.each([2, 3, 4, 5])("in pickle protocol %i", async (protocol) => {
    const { kind, traces, about } = await open(fixture(`snapshot-${protocol}.pickle`), "dump/snapshot.pickle");
    expect(kind).toBe("snapshot");
    expect(about).toBe(
      "CUDA memory snapshot: 10 events on device 0 over 5.0 ms, which say nothing about categories; " +
        "1 more device has events that are not shown.",
    );
    const [trace] = traces;
    expect(trace && isSound(trace)).toBe(true);
    expect(trace).toMatchObject({ key: "trace", label: "snapshot", phases: [] });
    const change = Array.from(trace!.t).filter((_, i) => trace!.gb[UNKNOWN]![i] !== trace!.gb[UNKNOWN]![i - 1]);
    expect(change).toEqual([0, 1, 1.5, 2.5, 3]);
    expect(change.map((ms) => trace!.gb[UNKNOWN]![trace!.t.indexOf(ms)])).toEqual([0.005, 0.009, 0.01, 0.009, 0.006]);
    expect(trace!.gb.slice(0, UNKNOWN).every((column) => column.every((v) => v === 0))).toBe(true);
    expect(trace!.reserved_gb).toBe((20_971_520 + 2_097_152) / 1e9);
  });

  it("packed with gzip", async () => {
    const bytes = fixture("snapshot-5.pickle");
    expect(await opened(await gzip(bytes), "a")).toEqual(await opened(bytes, "a"));
  });

  it("shows categories where events have one that is known, and frees them by address", async () => {
    const { traces, about } = await open(
      snapshot([
        alloc(0, 1, 5e9, { category: "gradient" }),
        alloc(10, 2, 1e9, { category: "unknown" }),
        free(20, 1, 5e9),
        free(30, 2, 1e9),
      ]),
      "x",
    );
    expect(Array.from(traces[0]!.gb[4]!)).toEqual([5, 5, 0, 0]);
    expect(Array.from(traces[0]!.gb[UNKNOWN]!)).toEqual([0, 1, 1, 0]);
    expect(about).not.toContain("categories");
  });

  it("without events of segments has them reserved all along", async () => {
    expect(await opened(snapshot([alloc(0, 1, 5)], [segment(1e9, 5), segment(2e9)]))).toMatchObject({ reserved_gb: 3 });
    expect(await opened(snapshot([alloc(0, 1, 5)]))).toMatchObject({ reserved_gb: null });
  });

  it("that frees more than it says was there stays at 0 or above", async () => {
    const trace = await opened(snapshot([free(0, 1, 4e9), alloc(5, 2, 1e9)], [segment(1e9)]));
    expect(Array.from(trace.gb[UNKNOWN]!)).toEqual([0, 1]);
  });

  it("whose clock steps back a little stays in order", async () => {
    const trace = await opened(snapshot([alloc(5, 1, 1e9), alloc(3, 2, 1e9), alloc(9, 3, 1e9)]));
    expect([Array.from(trace.t), Array.from(trace.gb[UNKNOWN]!)]).toEqual([
      [0, 0.004],
      [2, 3],
    ]);
  });

  it("of random events ends with what is active, and never falls below 0", async () => {
    const next = random(11);
    for (let round = 0; round < 40; round++) {
      const live = new Map(Array.from({ length: 5 }, (_, i) => [i, Math.floor(next() * 1e9)]));
      const sums = [...live.values()];
      const before = sums.reduce((a, b) => a + b, 0);
      const events: unknown[] = [];
      const totals: number[] = [];
      let total = before;
      for (let i = 0; i < 60; i++) {
        const [address, size] = [...live][Math.floor(next() * live.size)] ?? [0, 0];
        if (next() < 0.5 && live.delete(address)) {
          events.push(free(i, address, size));
          total -= size;
        } else {
          const fresh = Math.floor(next() * 1e9);
          live.set(100 + i, fresh);
          events.push(alloc(i, 100 + i, fresh));
          total += fresh;
        }
        totals.push(total);
      }
      const trace = await opened(snapshot(events, [segment(1e10, ...live.values())]));
      expect(isSound(trace)).toBe(true);
      expect(Array.from(trace.gb[UNKNOWN]!)).toEqual(totals.map((bytes) => bytes / 1e9));
    }
  });
});

it.each<[string, unknown, string]>([
  ["another pickle", [1, 2], "it is a pickle, but not a CUDA memory snapshot"],
  ["a dict of something else", { model: 1 }, "it is a pickle, but not a CUDA memory snapshot"],
  ["traces of a wrong type", { device_traces: 3 }, "device_traces is not a list"],
  ["a trace of a wrong type", { device_traces: [3] }, "device_traces[0] is not a list"],
  ["an event of a wrong type", { device_traces: [[3]] }, "device_traces[0][0] is not a dict"],
  ["an event without a time", { device_traces: [[{ action: "alloc" }]] }, "device_traces[0][0] has no time_us"],
  ["an event without an action", { device_traces: [[{ time_us: 1 }]] }, "device_traces[0][0] has no action"],
  [
    "a size that is missing",
    { device_traces: [[{ action: "alloc", time_us: 1 }]] },
    "[0][0].size is missing, and must",
  ],
  ["a size below 0", { device_traces: [[alloc(0, 1, -5)]] }, "[0][0].size is -5, and must be a number of at least 0"],
  ["a size as text", { device_traces: [[alloc(0, 1, 5, { size: "5" })]] }, '[0][0].size is "5"'],
  ["a size that is endless", { device_traces: [[alloc(0, 1, Infinity)]] }, "[0][0].size is"],
  ["a size that is no number", { device_traces: [[alloc(0, 1, NaN)]] }, "[0][0].size is"],
  ["segments of a wrong type", { device_traces: [[alloc(0, 1, 5)]], segments: 3 }, "segments is not a list"],
  [
    "a segment without a size",
    { device_traces: [[alloc(0, 1, 5)]], segments: [{}] },
    "segments[0].total_size is missing",
  ],
])("refuses %s", async (_, value, reason) => {
  expect(await refusal(pickle(value), "s.pickle")).toMatch(/^s\.pickle: [^\n]+\.$/);
  expect(await refusal(pickle(value), "s.pickle")).toContain(reason);
});

it("without events names what records them", async () => {
  expect(await refusal(fixture("snapshot-empty.pickle"))).toContain("torch.cuda.memory._record_memory_history()");
  expect(await refusal(pickle({ device_traces: [] }))).toContain("torch.cuda.memory._record_memory_history()");
});

it("does nothing with a key called __proto__", async () => {
  await open(fixture("snapshot-2.pickle"), "x");
  await open(
    pickle(
      new Map<string, unknown>([
        ["device_traces", [[alloc(0, 1, 5)]]],
        ["__proto__", { polluted: 1 }],
      ]),
    ),
    "x",
  );
  expect("polluted" in {}).toBe(false);
});

const raw = (...parts: (string | number | number[])[]) =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...part].map((c) => c.charCodeAt(0)) : part)));

describe("plain data", () => {
  const KEYS = new Set(["values", "again", "text", "long text", "bytes", "nested"]);
  const NONE = [undefined, undefined, undefined];
  const TEXT = [4, 0, 0, 0, ...raw("text")];

  it.each([3, 5])("comes back as Python pickled it with protocol %i", (protocol) => {
    const values = [0, 255, 256, 65535, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 40, -(2 ** 40), 2 ** 47 - 1, 2 ** 62];
    const data = unpickle(fixture(`plain-${protocol}.pickle`), KEYS) as Dict;
    expect(data.get("values")).toEqual([...values, 1.5, -0.25, true, null]);
    expect(data.get("again")).toBe(data.get("values"));
    expect([data.get("text"), data.get("long text")]).toEqual(["é € 😀", "x".repeat(300)]);
    expect(data.get("bytes")).toEqual(new Uint8Array([0, 255]));
    expect(data.get("nested")).toEqual([[1, 2, 3, 4], [], new Dict(), []]);
  });

  it("gives a key's last value, and none where there is no such key", () => {
    const data = unpickle(pickle({ other: "values", constructor: 1, text: 2 }), KEYS) as Dict;
    expect(["text", "values", "constructor", "toString"].map((key) => data.get(key))).toEqual([2, ...NONE]);
    const twice = unpickle(raw(0x80, 2, "}(X", TEXT, "K", 1, "X", TEXT, "K", 2, "u."), KEYS) as Dict;
    expect(twice.get("text")).toBe(2);
  });
});

describe("a hostile pickle", () => {
  const HUGE = [0, 0, 0, 0, 0, 0, 0, 0x40]; // 2**62

  it.each([
    ["REDUCE, protocol 2", fixture("runs-code-2.pickle")],
    ["REDUCE, protocol 4", fixture("runs-code-4.pickle")],
    ...Object.entries({
      GLOBAL: raw(0x80, 2, "cos\nsystem\n."),
      STACK_GLOBAL: raw(0x80, 4, 0x8c, 2, "os", 0x8c, 6, "system", 0x93, "."),
      REDUCE: raw(0x80, 2, "N)R."),
      BUILD: raw(0x80, 2, "}}b."),
      INST: raw(0x80, 2, "(ios\nsystem\n."),
      OBJ: raw(0x80, 2, "(No."),
      NEWOBJ: raw(0x80, 2, "N)", 0x81, "."),
      NEWOBJ_EX: raw(0x80, 4, "N)}", 0x92, "."),
      PERSID: raw(0x80, 2, "P1\n."),
      BINPERSID: raw(0x80, 2, "NQ."),
      EXT1: raw(0x80, 2, 0x82, 1, "."),
      EXT2: raw(0x80, 2, 0x83, 1, 0, "."),
      EXT4: raw(0x80, 2, 0x84, 1, 0, 0, 0, "."),
    }),
  ])("that wants to run code: %s", async (_, bytes) => {
    expect(await refusal(bytes, "s.pickle")).toMatch(/^s\.pickle: it wants to run code \(at byte \d+\), .+\.$/);
  });

  it.each([
    ["bytes longer than the file", raw(0x80, 4, 0x8e, HUGE, ".")],
    ["text longer than the file", raw(0x80, 4, 0x8d, HUGE, ".")],
    ["a bytearray longer than the file", raw(0x80, 5, 0x96, HUGE, ".")],
    ["a frame longer than the file", raw(0x80, 4, 0x95, HUGE, "N.")],
    ["an integer longer than the file", raw(0x80, 2, 0x8b, 0xff, 0xff, 0xff, 0xff, ".")],
    ["a memo index of 2**32 - 1", raw(0x80, 2, "Nr", 0xff, 0xff, 0xff, 0xff, ".")],
    ["a memo index that nothing is at", raw(0x80, 2, "h", 9, ".")],
    ["lists 100,000 deep", raw(0x80, 2, "]".repeat(100_000), "a".repeat(99_999), ".")],
    ["tuples 100,000 deep", raw(0x80, 2, ")", Array<number>(100_000).fill(0x85), ".")],
    ["marks 100,000 deep", raw(0x80, 2, "(".repeat(100_000), "t".repeat(100_000), ".")],
    ["a list that holds itself", raw(0x80, 4, "]", 0x94, "h", 0, "a.")],
    ["a dict that holds itself", raw(0x80, 4, "}", 0x94, "N", "h", 0, "s.")],
    ["an empty stack", raw(0x80, 2, ".")],
    ["POP of nothing", raw(0x80, 2, "0.")],
    ["POP beyond a mark", raw(0x80, 2, "N(0.")],
    ["DUP of nothing", raw(0x80, 2, "2.")],
    ["TUPLE without a mark", raw(0x80, 2, "Nt.")],
    ["TUPLE2 of one", raw(0x80, 2, "N", 0x86, ".")],
    ["APPEND to a number", raw(0x80, 2, "K", 1, "Na.")],
    ["APPENDS to a dict", raw(0x80, 2, "}(Ne.")],
    ["SETITEM into a list", raw(0x80, 2, "]NNs.")],
    ["SETITEMS with a key too many", raw(0x80, 2, "}(NNNu.")],
    ["a dict with a key many times", raw(0x80, 2, "}(", "X\x04\0\0\0sizeN".repeat(50), "u.")],
    ["a set", raw(0x80, 4, 0x8f, ".")],
    ["a newer protocol", raw(0x80, 9, "N.")],
  ])("with %s", async (_, bytes) => {
    expect(await refusal(bytes, "s.pickle")).toMatch(/^s\.pickle: [^\n]+\.$/);
  });

  it.each([2, 4])("cut off after each byte (protocol %i)", async (protocol) => {
    const bytes = fixture(`snapshot-${protocol}.pickle`);
    for (let n = 0; n < bytes.length; n++)
      expect(await refusal(bytes.slice(0, n), "s.pickle")).toMatch(/^s\.pickle: [^\n]+\.$/);
  });

  it("with any byte changed is opened or refused", async () => {
    const next = random(5);
    for (const name of ["snapshot-2.pickle", "snapshot-5.pickle"]) {
      const bytes = fixture(name);
      for (let i = 2; i < bytes.length; i++) {
        const changed = bytes.slice();
        changed[i] = Math.floor(next() * 256);
        await opened(changed, "s.pickle").then(
          (trace) => expect(isSound(trace)).toBe(true),
          (error: Error) => expect(error.message).toMatch(/^s\.pickle: (?!it can't be read here)[^\n]+\.$/),
        );
      }
    }
  });
});
