import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { fault, type Fault } from "./invariants";
import { explain } from "./schema-fault";
import type { MemoryTimelines } from "./timelines";

export type * from "./timelines";
export { CATEGORIES, CATEGORY_LABELS, type Category } from "./categories";

const SCHEMA = "memory_timelines.schema.json";

/**
 * The repository's data folder. Found upwards from where the command runs (site/, as a rule), because bundled code can't
 * tell where its source was.
 */
export function dataDirectory(from: string = process.cwd()): string {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const data = join(folder, "data");
    if (existsSync(join(data, SCHEMA))) return data;
    if (folder === dirname(folder)) throw new Error(`data/${SCHEMA} is in no folder above ${from}.`);
  }
}

/** Reads memory_timelines.json and checks it; throws one sentence that names file, field and reason. */
export function loadTimelines(file: string = join(dataDirectory(), "memory_timelines.json")): MemoryTimelines {
  const shown = relative(process.cwd(), file) || file;
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw new Error(`${shown}: ${String(error)}`, { cause: error });
    throw new Error(`${shown}: there is no such file; \`make data\` measures it.`, { cause: error });
  }
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw new Error(`${shown}: this is not JSON: ${(error as Error).message}.`, { cause: error });
  }
  return checkTimelines(data, shown);
}

/** Checks data against the JSON Schema and the rules beyond it. `file` is the name that an error shows. */
export function checkTimelines(data: unknown, file: string): MemoryTimelines {
  const found = schemaFault(data) ?? fault(data as MemoryTimelines);
  if (found) throw new Error(`${file}: ${found.path || "the whole"} ${found.reason}.`);
  return data as MemoryTimelines;
}

let compiled: ValidateFunction | undefined;

function schemaFault(data: unknown): Fault | undefined {
  // strictTypes is off because phases' prefixItems narrow a $ref'd object without repeating its type.
  compiled ??= new Ajv2020({ verbose: true, strictTypes: false, strictTuples: false }).compile(
    JSON.parse(readFileSync(join(dataDirectory(), SCHEMA), "utf8")) as object,
  );
  if (compiled(data)) return undefined;
  const error = compiled.errors?.[0];
  return error ? explain(error) : { path: "", reason: "does not follow the schema" };
}
