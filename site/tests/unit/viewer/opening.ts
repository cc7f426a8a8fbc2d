import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { open } from "../../../src/viewer/open";
import { ViewerError, type Trace } from "../../../src/viewer/trace";

/** A file that tests/unit/fixtures/make.py made. */
export function fixture(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(import.meta.dirname, "../fixtures", name)));
}

export function json(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value));
}

export function gzip(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(bytes));
}

/** What the person is told of a file that can't be shown. Fails if the file opens, or breaks in another way. */
export async function complaint(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  try {
    await open(bytes);
  } catch (error) {
    if (error instanceof ViewerError) return error.message;
    throw error;
  }
  throw new Error("it opened");
}

/** GB of every series at the trace's sample `i`. */
export function at(trace: Trace | undefined, i: number): (number | undefined)[] {
  return trace?.gb.map((column) => column[i]) ?? [];
}
