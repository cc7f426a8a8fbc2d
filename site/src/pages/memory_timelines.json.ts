import { join } from "node:path";
import type { APIRoute } from "astro";
import { dataDirectory } from "../lib/contract";
import { served } from "../lib/served";

/** The data behind the article, as it was measured. */
export const GET: APIRoute = () => served(join(dataDirectory(), "memory_timelines.json"), "application/json");
