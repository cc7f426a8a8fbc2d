import { CATEGORIES, type Category } from "../lib/categories";
import { fixed } from "../lib/format";
import { OPENS, ViewerError } from "./error";
import { Moments } from "./moments";
import { NumberLists } from "./numbers";
import { COLUMNS, UNKNOWN, type Trace } from "./trace";

/** torch.profiler's own order, _CATEGORY_TO_INDEX in torch/profiler/_memory_profiler.py; what it can't tell is last. */
const PROFILER_ORDER: readonly Category[] = [
  "PARAMETER",
  "OPTIMIZER_STATE",
  "INPUT",
  "TEMPORARY",
  "ACTIVATION",
  "GRADIENT",
  "AUTOGRAD_DETAIL",
];
const COLUMN: readonly number[] = [...PROFILER_ORDER.map((category) => CATEGORIES.indexOf(category)), UNKNOWN];

const NO_EVENTS =
  "this memory timeline of torch.profiler is empty, as it is after export_memory_timeline with the name of a device " +
  'that has no events; export it again with device="cuda:0", or "cpu" for a run on the CPU';
/** A clock in microseconds reaches this in the year 5138; torch before 2.2 wrote nanoseconds. */
const NANOSECONDS = 1e17;

/** What export_memory_timeline wrote, as a plain or a raw export, from the `[` at `at` on. */
export function readProfile(bytes: Uint8Array, at: number, label: string): { trace: Trace; about: string } {
  const lists = new NumberLists(bytes, at);
  const plain = isPlain(bytes, at);
  const { trace, raised } = plain ? readPlain(lists, label) : readRaw(lists, label);
  const below = raised > 0 ? `; where a category falls below 0, ${fixed(raised, 0)} times, 0 is shown` : "";
  const about =
    `Memory timeline by torch.profiler (${plain ? "sums" : "raw events"}): ` +
    `${fixed(trace.t.length, 0)} moments over ${fixed(trace.t.at(-1) ?? 0, 1)} ms${below}.`;
  return { trace, about };
}

/** Tells `[times, rows]` from a list of events: in the second list of the whole is, first, a list again, or nothing. */
function isPlain(bytes: Uint8Array, at: number): boolean {
  const lists = new NumberLists(bytes, at);
  lists.open();
  if (!lists.more(true)) throw new ViewerError(NO_EVENTS);
  if (lists.next() !== 0x5b) throw new ViewerError(`it is a JSON list, but not of lists of numbers; ${OPENS}`);
  const close = bytes.indexOf(0x5d, at);
  if (close < 0) return false;
  const rest = new NumberLists(bytes, close + 1);
  if (rest.next() !== 0x2c || !rest.more(false) || rest.next() !== 0x5b) return false;
  rest.open();
  const inner = rest.next();
  return inner === 0x5b || inner === 0x5d;
}

function readPlain(lists: NumberLists, label: string): { trace: Trace; raised: number } {
  let read = 0;
  lists.open();
  lists.place = () => `time ${read}`;
  const times: number[] = [];
  lists.open();
  for (; lists.more(read === 0); read++) times.push(lists.number());

  const row = new Float64Array(PROFILER_ORDER.length + 2);
  const held = new Float64Array(COLUMNS);
  const moments = new Moments();
  const first = times[0] ?? 0;
  const perMs = first > NANOSECONDS ? 1e6 : 1e3;
  read = 0;
  lists.place = () => `row ${read}`;
  if (!lists.more(false)) throw new ViewerError("it has times, but no rows of sizes; export it again");
  lists.open();
  for (; lists.more(read === 0); read++) {
    readRow(lists, row, "a memory timeline of torch.profiler");
    if (row[0] !== 0) throw new ViewerError(`row ${read} begins with ${row[0]}, where torch.profiler writes 0`);
    const time = times[read];
    if (time === undefined)
      throw new ViewerError(`it has more rows of sizes than times (${times.length}); export it again`);
    if (time < (times[read - 1] ?? time)) throw backwards(`time ${read}`);
    COLUMN.forEach((column, i) => (held[column] = row[i + 1] ?? 0));
    moments.put((time - first) / perMs, held);
  }
  if (read === 0 && times.length === 0) throw new ViewerError(NO_EVENTS);
  if (read < times.length)
    throw new ViewerError(`it has fewer rows of sizes (${read}) than times (${times.length}); export it again`);
  if (lists.more(false)) throw new ViewerError(`it has more than two lists, those of times and of rows; ${OPENS}`);
  lists.place = () => "what follows the last row";
  lists.end();
  return moments.finish(label);
}

/**
 * Events as [ns, action, bytes with their sign, category]. Sorted by time, first those of -1: what was there before.
 * Actions need no look, since a change of version comes as two events, one that takes from the old category and one
 * that gives to the new. Times become microseconds, so that a raw export shows what the plain one of its profile does.
 */
function readRaw(lists: NumberLists, label: string): { trace: Trace; raised: number } {
  const event = new Float64Array(4);
  const held = new Float64Array(COLUMNS);
  const moments = new Moments();
  let [read, first, before] = [0, -1, -1];
  lists.place = () => `event ${read}`;
  lists.open();
  for (; lists.more(read === 0); read++) {
    readRow(lists, event, "a raw memory timeline of torch.profiler", true);
    const [time = 0, action = 0, bytes = 0, category = 0] = event;
    const column = COLUMN[category];
    if (time < -1) throw new ViewerError(`event ${read} has a time below 0 that is not -1; export it again`);
    if (time < before) throw backwards(`event ${read}`);
    if (!(action >= 1 && action <= 4 && action % 1 === 0))
      throw new ViewerError(`event ${read} has the action ${action}, where torch.profiler writes 1 to 4`);
    if (column === undefined)
      throw new ViewerError(`event ${read} has the category ${category}, where torch.profiler writes 0 to 7`);
    before = time;
    held[column] = (held[column] ?? 0) + bytes;
    if (time < 0) continue;
    if (first < 0) first = time;
    moments.put((time - first) / 1e3, held);
  }
  lists.place = () => "what follows the last event";
  lists.end();
  if (first < 0) moments.put(0, held);
  return moments.finish(label);
}

/** Fills `row` with the next list, whose first number is a time in nanoseconds if `timed`. */
function readRow(lists: NumberLists, row: Float64Array, format: string, timed = false): void {
  let n = 0;
  lists.open();
  for (; lists.more(n === 0); n++) {
    const value = timed && n === 0 ? lists.microseconds() : lists.number();
    if (n < row.length) row[n] = value;
  }
  if (n === row.length) return;
  const numbers = n === 1 ? "1 number" : `${n} numbers`;
  throw new ViewerError(`${lists.place()} has ${numbers}, where ${format} has ${row.length}; ${OPENS}`);
}

function backwards(place: string): ViewerError {
  return new ViewerError(`${place} comes before the one that precedes it; export the file again`);
}
