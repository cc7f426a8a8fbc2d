import { OPENS, oneLine, ViewerError } from "./error";
import { unpack } from "./unpack";
import { isMemoryTimelines, readMemoryTimelines } from "./memory-timelines";
import { readProfile } from "./profiler";
import { readSnapshot } from "./snapshot";
import { label, type Trace } from "./trace";

export { ViewerError } from "./error";
export type { Trace } from "./trace";

/** What a file turned out to be, as traces and as one line for the reader. */
export interface Opened {
  kind: "memory_timelines" | "profiler" | "snapshot";
  traces: Trace[];
  about: string;
}

const MOST_UNPACKED = 2 * 2 ** 30;
/** Engines refuse longer texts, the strictest (V8) just past this length. */
const MOST_TEXT = 2 ** 29 - 25;

/**
 * Turns the bytes of a person's own file into traces. The content tells what it is; the name is for messages and labels.
 *
 * Throws ViewerError, whose message is one sentence for the person. Runs nothing that the file holds.
 *
 * @param most how many bytes a compressed file may unpack to.
 */
export async function open(bytes: Uint8Array, name: string, most = MOST_UNPACKED): Promise<Opened> {
  try {
    const packed = starts(bytes, 0x1f, 0x8b);
    return read(packed ? await unpack(bytes, "gzip", most) : bytes, label(name));
  } catch (error) {
    const reason = error instanceof ViewerError ? error.message : `it can't be read here: ${String(error)}`;
    throw new ViewerError(`${oneLine(name, 80) || "This file"}: ${oneLine(reason, 500)}.`, { cause: error });
  }
}

function read(bytes: Uint8Array, label: string): Opened {
  const other = otherFormat(bytes);
  if (other) throw new ViewerError(`${other}; ${OPENS}`);
  if (starts(bytes, 0x80)) {
    const { trace, about } = readSnapshot(bytes, label);
    return { kind: "snapshot", traces: [trace], about };
  }
  let at = starts(bytes, 0xef, 0xbb, 0xbf) ? 3 : 0; // UTF-8's mark, which editors on Windows add
  while (isSpace(bytes[at])) at++;
  if (bytes[at] === 0x5b) {
    const { trace, about } = readProfile(bytes, at, label);
    return { kind: "profiler", traces: [trace], about };
  }
  return { kind: "memory_timelines", ...readMemoryTimelines(parse(bytes, at)) };
}

/** What else the bytes are, if their beginning tells. */
function otherFormat(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return "it is empty";
  if (starts(bytes, 0x1f, 0x8b)) return "it is compressed twice";
  if (starts(bytes, 0x50, 0x4b)) return "it is a zip archive, as torch.save writes";
  if (starts(bytes, 0x89, 0x50, 0x4e, 0x47) || starts(bytes, 0xff, 0xd8, 0xff) || starts(bytes, 0x47, 0x49, 0x46))
    return "it is an image";
  if (starts(bytes, 0x25, 0x50, 0x44, 0x46)) return "it is a PDF";
  if (starts(bytes, 0xff, 0xfe) || starts(bytes, 0xfe, 0xff) || bytes[0] === 0 || bytes[1] === 0)
    return "it is UTF-16 or binary; JSON has to be UTF-8";
  return undefined;
}

function parse(bytes: Uint8Array, at: number): unknown {
  const start = new TextDecoder().decode(bytes.slice(at, at + 4096));
  if (start.startsWith("<")) throw new ViewerError(`it is a web page; ${OPENS}`);
  if (!start.startsWith("{")) throw new ViewerError(`it is no file that this viewer knows; ${OPENS}`);
  if (/"(traceEvents|schemaVersion)"/.test(start))
    throw new ViewerError(`it is a Chrome trace, which has calls but no memory by category; ${OPENS}`);
  if (bytes.length > MOST_TEXT) throw new ViewerError("its JSON is longer than the 512 MB that browsers can read");
  let data: unknown;
  try {
    data = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) throw new ViewerError("this is not UTF-8, which JSON has to be", { cause: error });
    if (!(error instanceof SyntaxError)) throw error;
    throw new ViewerError(`this is not JSON: ${error.message.replace(/\.$/, "")}`, { cause: error });
  }
  if (isMemoryTimelines(data)) return data;
  throw new ViewerError(`it is JSON, but of another kind; ${OPENS}`);
}

function starts(bytes: Uint8Array, ...beginning: number[]): boolean {
  return beginning.every((byte, i) => bytes[i] === byte);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
