import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open, type Trace, ViewerError } from "../../../src/viewer/open";

/** A file of tests/unit/fixtures, which make_fixtures.py makes. */
export const fixture = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(join(process.cwd(), "tests", "unit", "fixtures", name)));

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes.slice()]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The sentence that refuses these bytes. Any other outcome fails the test. */
export async function refusal(bytes: Uint8Array | string, name = "x.json", most?: number): Promise<string> {
  try {
    await open(typeof bytes === "string" ? utf8(bytes) : bytes, name, most);
  } catch (error) {
    if (error instanceof ViewerError) return error.message;
    throw error;
  }
  throw new Error(`${name} was opened`);
}

export async function opened(bytes: Uint8Array | string, name = "x.json"): Promise<Trace> {
  const [trace] = (await open(typeof bytes === "string" ? utf8(bytes) : bytes, name)).traces;
  if (!trace) throw new Error(`${name} has no trace`);
  return trace;
}

/** What every trace promises. */
export function isSound({ t, gb, end_t }: Trace): boolean {
  const rising = t.every((ms, i) => ms > (t[i - 1] ?? -Infinity)) && t[0] === 0 && end_t > (t.at(-1) ?? Infinity);
  return rising && gb.length === 8 && gb.every((c) => c.length === t.length && c.every((v) => v >= 0 && v < Infinity));
}
