import { readFileSync } from "node:fs";

/** A file of the repository as an answer, byte for byte. */
export function served(file: string, type: string): Response {
  return new Response(readFileSync(file), { headers: { "content-type": type } });
}
