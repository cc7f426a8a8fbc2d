declare module "virtual:palette.css";

declare module "virtual:contract-check" {
  import type { ValidateFunction } from "ajv";
  /** data/memory_timelines.schema.json, compiled by Ajv. */
  const check: ValidateFunction;
  export default check;
}
