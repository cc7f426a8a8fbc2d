import { isMemoryTimelines, readMemoryTimelines } from "./memory-timelines-file";
import { unpickle } from "./pickle";
import { isPlainExport, isRawExport, readPlainExport, readRawExport } from "./profiler-file";
import { readSnapshot } from "./snapshot-file";
import { ViewerError, type Opened } from "./trace";
import { unpack } from "./unpack";

/** More than this is not unpacked: a few kilobytes of gzip can stand for terabytes. */
const MOST_BYTES = 1 << 30;

const EXPECTED =
  "Expected is a memory_timelines.json, what torch.profiler’s export_memory_timeline writes (.json, .json.gz, .raw.json.gz), or a CUDA memory snapshot (.pickle).";

/** Reads a file, by what is in it and not by its name. Throws ViewerError with a sentence for the person. */
export async function open(bytes: Uint8Array<ArrayBuffer>): Promise<Opened> {
  if (bytes.length === 0) throw new ViewerError("This file is empty.");
  if (starts(bytes, 0x1f, 0x8b)) return open(await unpack(bytes, "gzip", MOST_BYTES));
  if (starts(bytes, 0x80)) return readSnapshot(unpickle(bytes));
  return readJson(parse(bytes));
}

function readJson(data: unknown): Opened {
  if (isPlainExport(data)) return readPlainExport(data);
  if (isRawExport(data)) return readRawExport(data);
  if (isMemoryTimelines(data)) return readMemoryTimelines(data);
  if (data !== null && typeof data === "object" && "traceEvents" in data)
    throw new ViewerError(`This is a trace of torch.profiler without its memory timeline. ${EXPECTED}`);
  throw new ViewerError(`This is JSON, but of another kind. ${EXPECTED}`);
}

function parse(bytes: Uint8Array): unknown {
  const blank = /^\s/;
  const first = bytes.findIndex((byte) => !blank.test(String.fromCharCode(byte)));
  const opening = String.fromCharCode(bytes[first] ?? 0);
  if (opening === "<") throw new ViewerError(`This is a web page or XML. ${EXPECTED}`);
  if (opening !== "{" && opening !== "[") throw new ViewerError(`This file is of another kind. ${EXPECTED}`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw new ViewerError(`This JSON is cut off or damaged: ${error.message}.`);
    throw new ViewerError(`This file is of another kind. ${EXPECTED}`);
  }
}

function starts(bytes: Uint8Array, ...magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[i] === byte);
}
