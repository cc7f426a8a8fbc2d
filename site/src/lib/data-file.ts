import { existsSync, readFileSync } from "node:fs";
import type { z } from "astro/zod";

/** A JSON file of data/ that follows `schema`. Throws one sentence if it is missing, with what makes it, or something else. */
export function readData<T>(file: string, schema: z.ZodType<T>, command: string): T {
  if (!existsSync(file)) throw new Error(`${file}: there is no such file; \`${command}\` makes it.`);
  const found = schema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (found.success) return found.data;
  const issue = found.error.issues[0];
  throw new Error(`${file}: ${issue?.path.join(".") ?? "the whole"}: ${issue?.message ?? "is something else"}.`);
}
