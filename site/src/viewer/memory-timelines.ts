import check from "virtual:contract-check";
import { SERIES } from "../lib/categories";
import { fault } from "../lib/invariants";
import { headlineModes } from "../lib/modes";
import { explain } from "../lib/schema-fault";
import type { MemoryTimelines } from "../lib/timelines";
import { ViewerError } from "./error";
import type { Trace } from "./trace";

/** Whether a document means to be a memory_timelines.json. */
export function isMemoryTimelines(data: unknown): boolean {
  return typeof data === "object" && data !== null && Object.hasOwn(data, "default") && Object.hasOwn(data, "backprop");
}

/** Both modes of a memory_timelines.json. Throws ViewerError with the first place that breaks the contract. */
export function readMemoryTimelines(data: unknown): { traces: Trace[]; about: string } {
  const error = check(data) ? undefined : check.errors?.[0];
  const found = error ? explain(error) : fault(data as MemoryTimelines);
  if (found) throw new ViewerError(`it breaks the contract of memory_timelines.json: ${found.path} ${found.reason}`);
  const timelines = data as MemoryTimelines;
  const { workload, environment } = timelines;
  return {
    traces: headlineModes(timelines).map(({ key, label, timeline, phaseTexts }) => ({
      key,
      label,
      phaseTexts,
      t: Float64Array.from(timeline.t),
      gb: SERIES.map((_, s) => Float64Array.from(timeline.gb[s] ?? timeline.t.map(() => 0))),
      end_t: timeline.end_t,
      phases: timeline.phases,
      reserved_gb: timeline.reserved_gb,
      peak: { gb: timeline.peak_gb, ms: timeline.peak_t },
    })),
    about: `${workload.name}, ${workload.optimizer.name} (${workload.optimizer.implementation}), ${environment.source}: ${environment.device}.`,
  };
}
