import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { APIRoute } from "astro";
import { dataDirectory } from "../lib/contract";

/** The wrapper itself, so that a reader can copy one file. */
export const GET: APIRoute = () =>
  new Response(readFileSync(join(dataDirectory(), "../experiments/backprop.py"), "utf8"), {
    headers: { "content-type": "text/x-python; charset=utf-8" },
  });
