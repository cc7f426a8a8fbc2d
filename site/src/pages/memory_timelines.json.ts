import type { APIRoute } from "astro";
import { loadTimelines } from "../lib/contract";

/** The data behind the article, as it was measured. */
export const GET: APIRoute = () => Response.json(loadTimelines());
