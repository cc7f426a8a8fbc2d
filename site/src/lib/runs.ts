import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { dataDirectory, loadTimelines, type MemoryTimelines } from "./contract";
import { SOURCES } from "./figures";

/** One run of the headline's step: a folder of data/ with a memory_timelines.json. */
export interface Run {
  /** Its folder with hyphens, `cpu-fused`: its page's address. */
  key: string;
  /** What tells it from the others: `CPU, fused`. */
  label: string;
  /** Where its data are. */
  file: string;
  timelines: MemoryTimelines;
}

const FILE = "memory_timelines.json";
/** The most real first; data/quick is a laptop's own and not published. */
const FOLDERS = ["cuda", "cpu", "simulated"];

/** Every run there is, measured before simulated, each source's own folder before those in it. */
export function loadRuns(data: string = dataDirectory()): Run[] {
  return FOLDERS.flatMap((source) => {
    const folder = join(data, source);
    if (!existsSync(folder)) return [];
    const inside = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${source}/${name}`)
      .sort();
    return [source, ...inside].filter((path) => existsSync(join(data, path, FILE)));
  }).map((path) => {
    const file = join(data, path, FILE);
    const timelines = loadTimelines(file);
    const { environment, workload } = timelines;
    const source = SOURCES[environment.source];
    const label = `${source.charAt(0).toUpperCase()}${source.slice(1)}, ${workload.optimizer.implementation}`;
    return { key: path.replaceAll("/", "-"), label, file, timelines };
  });
}

/** The run that a file is a copy of, as data/memory_timelines.json is of the most real one. */
export function runOf({ environment }: MemoryTimelines, runs: readonly Run[]): Run | undefined {
  return runs.find(
    ({ timelines }) =>
      timelines.environment.created === environment.created && timelines.environment.command === environment.command,
  );
}

/** Where a run is, from the site's root. */
export function runPath({ key }: Run): string {
  return `/runs/${key}/`;
}
