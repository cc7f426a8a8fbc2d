import { SERIES, type Series } from "../lib/categories";
import { TraceBuilder, ViewerError, type Opened } from "./trace";

/**
 * The order of categories in what torch.profiler's export_memory_timeline writes; the last is what it could not name.
 * `_CATEGORY_TO_COLORS` in torch/profiler/_memory_profiler.py.
 */
const ORDER: readonly Series[] = [
  "PARAMETER",
  "OPTIMIZER_STATE",
  "INPUT",
  "TEMPORARY",
  "ACTIVATION",
  "GRADIENT",
  "AUTOGRAD_DETAIL",
  "UNKNOWN",
];
const LABEL = "torch.profiler";
const ABOUT =
  "torch.profiler’s memory timeline. It calls some of the optimizer’s state and temporaries unknown or autograd detail, and may count a parameter twice.";
const EMPTY =
  "This is an export of torch.profiler with nothing in it: export_memory_timeline was given the name of a device on which nothing ran.";

/** `[times, rows]`: microseconds, and nine numbers in bytes for each, of which the first is always 0. */
export function isPlainExport(data: unknown): data is [unknown[], unknown[]] {
  return Array.isArray(data) && data.length === 2 && data.every((part) => Array.isArray(part)) && !isEvent(data[0]);
}

/** A list of `[nanoseconds or -1, action, signed bytes, category]`. */
export function isRawExport(data: unknown): data is unknown[] {
  return Array.isArray(data) && isEvent(data[0]);
}

function isEvent(value: unknown): boolean {
  return Array.isArray(value) && value.length === 4 && value.every((part) => typeof part === "number");
}

export function readPlainExport([times, rows]: [unknown[], unknown[]]): Opened {
  if (times.length === 0 && rows.length === 0) throw new ViewerError(EMPTY);
  if (times.length !== rows.length)
    throw new ViewerError(`This export of torch.profiler has ${times.length} times and ${rows.length} rows.`);
  const builder = new TraceBuilder();
  const held = ORDER.map(() => 0);
  const places = ORDER.map((series) => SERIES.indexOf(series));
  rows.forEach((row, i) => {
    const time = times[i];
    if (!finite(time)) throw new ViewerError(`Time ${i} of this export of torch.profiler is not a number.`);
    if (!Array.isArray(row) || row.length !== 9 || !row.every(finite))
      throw new ViewerError(`Row ${i} of this export of torch.profiler is not nine numbers.`);
    for (let c = 0; c < places.length; c++) held[places[c] ?? 0] = row[c + 1] as number;
    builder.set(time / 1000, held);
  });
  return { kind: "profiler", traces: [builder.build("trace", LABEL)], about: ABOUT };
}

export function readRawExport(events: unknown[]): Opened {
  const builder = new TraceBuilder();
  // What was there before the recording has no time. It belongs to the first moment that has one.
  const start = events.find((event) => isEvent(event) && (event as number[])[0] !== -1) as number[] | undefined;
  const first = start?.[0] ?? 0;
  events.forEach((event, i) => {
    if (!isEvent(event) || !(event as unknown[]).every(finite))
      throw new ViewerError(`Event ${i} of this raw export of torch.profiler is not four numbers.`);
    const [ns = 0, , bytes = 0, category = 0] = event as number[];
    const series = ORDER[category];
    if (!series) throw new ViewerError(`Event ${i} of this raw export has category ${category}; there are 0 to 7.`);
    // From the first on, since nanoseconds since 1970 leave a double no room for their thousandths.
    builder.add(((ns === -1 ? first : ns) - first) / 1e6, series, bytes);
  });
  return { kind: "profiler", traces: [builder.build("trace", LABEL)], about: ABOUT };
}

function finite(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
