import { CATEGORIES } from "../lib/categories";
import type { Mode } from "../lib/modes";
import type { Phase } from "../lib/timelines";

/** One timeline as a file states it, before it is reduced for drawing. */
export interface Trace {
  /** "default" and "backprop" for the two modes of memory_timelines.json, "trace" for any other file's. */
  key: string;
  label: string;
  /** ms from the first moment, strictly increasing. Of moments at the same time, the last one stands. */
  t: Float64Array;
  /** Eight columns in GB of 1e9 bytes, none below 0: the seven CATEGORIES in order, then UNKNOWN. */
  gb: Float64Array[];
  /** Until when the last sample holds, ms. */
  end_t: number;
  phases: readonly Phase[];
  phaseTexts?: Mode["phaseTexts"] | undefined;
  reserved_gb: number | null;
  /** Where the file itself names its peak, to more places than its samples. */
  peak?: { gb: number; ms: number };
}

/** The last of SERIES: bytes that no category is known for. */
export const UNKNOWN = CATEGORIES.length;
export const COLUMNS = UNKNOWN + 1;

/** A file's name without folders and the endings of the formats that are read here. */
export function label(name: string): string {
  const base = name.split(/[\\/]/).at(-1) ?? "";
  return base.replace(/(\.raw)?(\.(json|pickle|pkl|gz))+$/i, "") || "trace";
}
