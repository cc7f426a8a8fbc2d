import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { APIRoute } from "astro";
import { dataDirectory } from "../lib/contract";

/** The data behind the article, as it was measured. */
export const GET: APIRoute = () =>
  new Response(readFileSync(join(dataDirectory(), "memory_timelines.json")), {
    headers: { "content-type": "application/json" },
  });
