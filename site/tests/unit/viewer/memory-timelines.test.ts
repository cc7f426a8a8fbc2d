import { describe, expect, it } from "vitest";
import { checkTimelines } from "../../../src/lib/contract";
import { open as openFile } from "../../../src/viewer/open";
import { reduce } from "../../../src/viewer/reduce";
import { random } from "../random";
import { sample } from "../sample";
import { refusal, utf8 } from "./files";

const PREFIX = "x.json: it breaks the contract of memory_timelines.json: ";
const open = (data: unknown) => openFile(utf8(JSON.stringify(data)), "x.json");

/** What the build says of the same data, with Ajv itself; undefined if it takes them. */
function oracle(data: unknown): string | undefined {
  try {
    checkTimelines(data, "x");
  } catch (error) {
    return (error as Error).message.replace(/^x: /, "");
  }
  return undefined;
}

describe("a memory_timelines.json", () => {
  it("has both modes, as they are", async () => {
    const { kind, traces, about } = await open(sample());
    expect(kind).toBe("memory_timelines");
    expect(about).toContain("linear-stack, AdamW (fused), cuda: a GPU");
    for (const trace of traces) {
      const original = sample()[trace.key as "default" | "backprop"];
      const { t, gb, end_t, peak_t, phases } = reduce(trace, 960);
      expect({ t, gb: gb.slice(0, 7), end_t, peak_t, phases }).toEqual({
        t: original.t,
        gb: original.gb,
        end_t: original.end_t,
        peak_t: original.peak_t,
        phases: original.phases,
      });
    }
    expect(traces.map(({ label }) => label)).toEqual(["Plain loop", "BackProp"]);
  });

  it("is refused where the build would refuse it, with the same words", async () => {
    const next = random(7);
    const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
    let refused = 0;
    for (let i = 0; i < 400; i++) {
      const data = JSON.parse(JSON.stringify(sample())) as Record<string, unknown>;
      mutate(data, pick, next);
      const words = oracle(data);
      if (words === undefined) expect((await open(data)).kind).toBe("memory_timelines");
      else if ("default" in data && "backprop" in data) {
        refused++;
        expect(await refusal(JSON.stringify(data))).toBe(PREFIX + words);
      }
    }
    expect(refused).toBeGreaterThan(200);
  });
});

/** Changes, adds or removes one member somewhere in the document. */
function mutate(root: Record<string, unknown>, pick: <T>(list: readonly T[]) => T, next: () => number): void {
  let node: Record<string, unknown> = root;
  for (;;) {
    const key = pick(Object.keys(node));
    const child = node[key];
    if (child !== null && typeof child === "object" && Object.keys(child).length > 0 && next() < 0.8) {
      node = child as Record<string, unknown>;
      continue;
    }
    if (next() < 0.25 && !Array.isArray(node)) delete node[key];
    else if (next() < 0.2 && !Array.isArray(node)) node["extra"] = 1;
    else node[key] = pick([null, -1, 0, 1e9, "", "text", true, [], {}, [1], 0.5]);
    return;
  }
}
