import type { ErrorObject } from "ajv";
import type { Fault } from "./invariants";

/** Ajv's error as a path that JavaScript and jq readers know, and the end of a sentence. */
export function explain({ keyword, instancePath, params, data, message }: ErrorObject): Fault {
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
