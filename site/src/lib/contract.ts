import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { fault, type Fault } from "./invariants";
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

/** Ajv's error as a path that JavaScript and jq readers know, and the end of a sentence. */
function explain({ keyword, instancePath, params, data, message }: ErrorObject): Fault {
  const path = dotted(instancePath);
  const member = (name: unknown) => (path ? `${path}.${String(name)}` : String(name));
  switch (keyword) {
    case "required":
      return { path: member(params["missingProperty"]), reason: "is missing" };
    case "additionalProperties":
      return { path: member(params["additionalProperty"]), reason: "is not part of the contract" };
    case "type":
      return { path, reason: `must be ${[params["type"]].flat().join(" or ")}, not ${shown(data)}` };
    case "const":
      return { path, reason: `must be ${shown(params["allowedValue"])}, not ${shown(data)}` };
    case "enum":
      return { path, reason: `must be one of ${shown(params["allowedValues"])}, not ${shown(data)}` };
    default:
      return { path, reason: `${message ?? keyword}, and is ${shown(data)}` };
  }
}

function dotted(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path ? `${path}.${part}` : part), "");
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
