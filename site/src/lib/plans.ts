import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "astro/zod";
import { dataDirectory, loadTimelines, type MemoryTimelines } from "./contract";
import { readData } from "./data-file";

const COMMAND = "make plans";
const PUBLISHED = "published.json";
const LADDER = "ladder.json";

/** A figure that others published, and ours for the same setting; `difference` is ours less theirs. */
const row = z.strictObject({
  what: z.string(),
  published: z.number(),
  ours: z.number(),
  difference: z.number(),
  unit: z.enum(["GB", "GiB"]),
  source: z.url(),
  why: z.string(),
});

export type PublishedRow = z.infer<typeof row>;

/** data/plans/published.json. Throws one sentence if it is missing or something else. */
export function loadPublished(file: string = join(dataDirectory(), "plans", PUBLISHED)): PublishedRow[] {
  return readData(file, z.array(row), COMMAND);
}

const ladder = z.object({
  model: z.string(),
  batch_size: z.number(),
  seq_len: z.number(),
  dtype: z.string(),
  rungs: z.array(z.object({ what: z.string(), setting: z.string(), default: z.number(), backprop: z.number() })).min(2),
});

export type Ladder = z.infer<typeof ladder>;

/** data/plans/ladder.json: a model's peaks in GB as more that saves memory is added. Throws as loadPublished does. */
export function loadLadder(file: string = join(dataDirectory(), "plans", LADDER)): Ladder {
  return readData(file, ladder, COMMAND);
}

export interface Plan {
  name: string;
  /** Where its data are. */
  file: string;
  timelines: MemoryTimelines;
  /** Of the plain loop's peak, that BackProp saves. */
  saved: number;
}

/** Where a plan is, from the site's root. */
export function planPath({ name }: Plan): string {
  return `/models/${name}/`;
}

/** The models in data/plans, those that save most first. */
export function loadPlans(folder: string = join(dataDirectory(), "plans")): Plan[] {
  if (!existsSync(folder)) throw new Error(`${folder}: there is no such folder; \`make plans\` makes it.`);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json") && file !== PUBLISHED && file !== LADDER)
    .map((file) => {
      const path = join(folder, file);
      const timelines = loadTimelines(path);
      const saved = 1 - timelines.backprop.peak_gb / timelines.default.peak_gb;
      return { name: basename(file, ".json"), file: path, timelines, saved };
    })
    .sort((a, b) => b.saved - a.saved);
}
