import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { SITE } from "./built";

/** A copy of the repository's site and of what it reads, so that a test may break things without touching the real ones. */
export interface Copy {
  root: string;
  /** The copy's memory_timelines.json. */
  data: string;
  /** Starts `astro` in the copy's site folder. */
  astro: (args: string[], env?: Record<string, string>) => ChildProcess;
  /** Runs `astro build` in the copy and tells how it ended. */
  build: (env?: Record<string, string>) => Promise<{ code: number; output: string }>;
  remove: () => void;
}

const LEFT_OUT = new Set(["node_modules", "dist", ".astro", "test-results", "tests"]);

export function copyOfRepository(): Copy {
  const root = mkdtempSync(join(tmpdir(), "site-copy-"));
  const site = join(root, "site");
  cpSync(SITE, site, { recursive: true, filter: (from) => !LEFT_OUT.has(basename(from)) });
  // Package by package: Astro and Vite keep their caches in node_modules, and builds at one time must not share them.
  mkdirSync(join(site, "node_modules"));
  for (const name of readdirSync(join(SITE, "node_modules")).filter((name) => !name.startsWith(".")))
    symlinkSync(join(SITE, "node_modules", name), join(site, "node_modules", name));
  cpSync(join(SITE, "../data"), join(root, "data"), { recursive: true, filter: (from) => basename(from) !== "quick" });
  mkdirSync(join(root, "experiments"));
  cpSync(join(SITE, "../experiments/backprop.py"), join(root, "experiments/backprop.py"));

  const astro = (args: string[], env: Record<string, string> = {}) =>
    // Not through npx, which would leave its child behind when it is ended.
    spawn(process.execPath, [join(site, "node_modules/astro/bin/astro.mjs"), ...args], {
      cwd: site,
      env: { ...process.env, ASTRO_TELEMETRY_DISABLED: "1", NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });

  return {
    root,
    data: join(root, "data/memory_timelines.json"),
    astro,
    build: (env) =>
      new Promise((resolve, reject) => {
        const child = astro(["build", "--force"], env);
        let output = "";
        child.stdout?.on("data", (text) => (output += String(text)));
        child.stderr?.on("data", (text) => (output += String(text)));
        child.on("error", reject);
        child.on("close", (code) => resolve({ code: code ?? -1, output }));
      }),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
