import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "astro/zod";
import { dataDirectory } from "./contract";
import { readData } from "./data-file";

/** A median with its 95 % interval. */
const estimate = z.object({ median: z.number(), low: z.number(), high: z.number() });

const environment = z.object({
  device: z.string(),
  torch: z.string(),
  created: z.string(),
  command: z.string(),
  peers: z.record(z.string(), z.string().nullable()),
});

const measured = z.object({
  contestant: z.string(),
  rounds: z.number(),
  step_ms: estimate,
  /** Its step time over the plain loop's with the fused optimizer, in the same round. */
  over_plain: estimate,
  /** Fused BackProp's step time over its own. */
  backprop_over: estimate,
  /** The plain loops whose weights it has, to the last bit. */
  same_weights_as: z.array(z.string()),
  peak_bytes: z.number(),
  floor_bytes: z.number().nullable(),
});

const absent = z.object({ contestant: z.string(), reason: z.string() });

const raceFile = z.object({
  environment,
  model: z.looseObject({ name: z.string(), dtype: z.string().default("float32") }),
  optimizer: z.object({ name: z.string() }),
  results: z.array(z.union([measured, absent])),
});

const growthFile = z.object({
  environment,
  growth: z.array(measured.extend({ along: z.string(), size: z.number() })),
});

const clippingFile = z.object({
  environment,
  clipping: z.array(z.object({ model: z.string(), added_walks: estimate, walks_beyond_plain: estimate })),
});

export type Estimate = z.infer<typeof estimate>;
export type Contestant = z.infer<typeof measured>;

export interface Race {
  model: string;
  dtype: string;
  optimizer: string;
  environment: z.infer<typeof environment>;
  contestants: Contestant[];
  /** Those that could not run, and why. */
  absent: z.infer<typeof absent>[];
}

export const SUBJECT = "backprop fused";
const OURS = /^(plain|backprop) /;
/** The order of the article's table: many small tensors first, few large ones last. */
const MODELS = ["small-tensors", "resnet-50", "gpt2-small", "linear-stack", "wide-mlp"];

const COMMAND = "make bench";

/** The folders of data/benchmarks, one for each device and dtype that was measured on, GPUs first. */
export function benchmarkFolders(from: string = join(dataDirectory(), "benchmarks")): string[] {
  const names = existsSync(from) ? readdirSync(from).sort((a, b) => b.localeCompare(a)) : [];
  if (names.length === 0) throw new Error(`${from}: there is no benchmark; \`${COMMAND}\` makes one.`);
  return names.map((name) => join(from, name));
}

/** What a folder's figures were measured on. */
export function kindOf(folder: string): string {
  return basename(folder).startsWith("cpu") ? "a CPU" : "a GPU";
}

/** Every race in a folder. Throws one sentence where a file is something else. */
export function loadRaces(from: string): Race[] {
  const names = existsSync(from) ? readdirSync(from).filter((name) => /-(adamw|sgd)\.json$/.test(name)) : [];
  if (names.length === 0) throw new Error(`${from}: there is no race; \`${COMMAND}\` runs them.`);
  return names
    .map((name) => {
      const { model, optimizer, environment, results } = readData(join(from, name), raceFile, COMMAND);
      return {
        model: model.name,
        dtype: model.dtype,
        optimizer: optimizer.name,
        environment,
        contestants: results.filter((row): row is Contestant => "over_plain" in row),
        absent: results.flatMap((row) => ("reason" in row ? [row] : [])),
      };
    })
    .sort((a, b) => a.optimizer.localeCompare(b.optimizer) || MODELS.indexOf(a.model) - MODELS.indexOf(b.model));
}

/** How steps grow with the network; null where that was not measured. */
export function loadGrowth(from: string): z.infer<typeof growthFile> | null {
  return ifThere(join(from, "growth.json"), growthFile);
}

/** What clipping costs; null where that was not measured. */
export function loadClipping(from: string): z.infer<typeof clippingFile> | null {
  return ifThere(join(from, "clipping.json"), clippingFile);
}

function ifThere<T>(file: string, schema: z.ZodType<T>): T | null {
  return existsSync(file) ? readData(file, schema, COMMAND) : null;
}

/** Fused BackProp in a race. */
export function subject(race: Race): Contestant {
  const found = race.contestants.find(({ contestant }) => contestant === SUBJECT);
  if (!found)
    throw new Error(
      `the race of ${race.model} with ${race.optimizer} has no ${SUBJECT}; \`make bench\` runs it again.`,
    );
  return found;
}

/** The other projects' ways that end with a plain loop's weights, the fastest first. */
export function exactPeers({ contestants }: Race): Contestant[] {
  return contestants
    .filter(({ contestant, same_weights_as }) => !OURS.test(contestant) && same_weights_as.length > 0)
    .sort((a, b) => b.backprop_over.median - a.backprop_over.median);
}

/** How far fused BackProp's peak is above the lowest of the exact peers', as a fraction; 0 where none is lower. */
export function excessPeak(race: Race): number {
  const lowest = Math.min(...exactPeers(race).map(({ peak_bytes }) => peak_bytes));
  return Math.max(subject(race).peak_bytes / lowest - 1, 0);
}
