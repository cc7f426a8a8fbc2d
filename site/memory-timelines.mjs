// In astro.config.mjs: `import { memoryTimelines } from "./memory-timelines.mjs"` and add `memoryTimelines()` to integrations.
// @ts-check
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standalone from "ajv/dist/standalone/index.js";
import { paletteCss } from "./src/lib/palette.ts";

const PALETTE_CSS = "virtual:palette.css";
const CONTRACT_CHECK = "virtual:contract-check";
/** A writer that truncates first shows an empty file for a moment. */
const SETTLE_MS = 100;

/**
 * What the figure needs from the build: the categories' colours as a style sheet (a generated <style> would be inline,
 * which the Content Security Policy forbids), the contract's check as code (Ajv itself is too large for a page), and in `astro dev` a reload when the data outside site/ changes.
 * @returns {import("astro").AstroIntegration}
 */
export function memoryTimelines() {
  return {
    name: "memory-timelines",
    hooks: {
      "astro:config:setup": ({ config, updateConfig }) => {
        const data = fileURLToPath(new URL("../data/", config.root));
        const check = contractCheck(`${data}memory_timelines.schema.json`);
        const plugins = [paletteStyles(`${data}palette.json`), check, reloadOnChange(data)];
        updateConfig({ vite: { plugins, worker: { format: "es", plugins: () => [check] } } });
      },
    },
  };
}

/** @param {string} file @returns {import("vite").Plugin} */
function paletteStyles(file) {
  return {
    name: "palette-css",
    resolveId: (id) => (id === PALETTE_CSS ? `\0${PALETTE_CSS}` : undefined),
    load(id) {
      if (id !== `\0${PALETTE_CSS}`) return undefined;
      this.addWatchFile(file);
      return paletteCss(JSON.parse(readFileSync(file, "utf8")));
    },
  };
}

/** @param {string} file @returns {import("vite").Plugin} */
function contractCheck(file) {
  return {
    name: "contract-check",
    resolveId: (id) => (id === CONTRACT_CHECK ? `\0${CONTRACT_CHECK}` : undefined),
    load(id) {
      if (id !== `\0${CONTRACT_CHECK}`) return undefined;
      this.addWatchFile(file);
      const code = { source: true, esm: true };
      const ajv = new Ajv2020({ verbose: true, strictTypes: false, strictTuples: false, code });
      const written = standalone(ajv, ajv.compile(JSON.parse(readFileSync(file, "utf8"))));
      // Ajv writes require() for its helpers, in modules too: https://github.com/ajv-validator/ajv/issues/2209
      const required = /const (\w+) = require\("([^"]+)"\)\.default;?/g;
      const helpers = [...written.matchAll(required)].map(
        ([, name, path]) =>
          `import ${name}Module from "${path}.js";\nconst ${name} = ${name}Module.default ?? ${name}Module;\n`,
      );
      return helpers.join("") + written.replaceAll(required, "");
    },
  };
}

/** @param {string} folder @returns {import("vite").Plugin} */
function reloadOnChange(folder) {
  return {
    name: "memory-timelines-reload",
    apply: "serve",
    configureServer(server) {
      if (process.env["VITEST"]) return; // no browser to reload, and a watcher would keep the run alive
      /** @type {NodeJS.Timeout | undefined} */
      let timer;
      let nobodyHeard = false;
      const reload = () => server.ws.send({ type: "full-reload" });
      server.watcher.add(folder);
      server.watcher.on("all", (_event, path) => {
        if (!path.startsWith(folder) || !path.endsWith(".json")) return;
        invalidate(server); // Astro may reload the page before the writer is done
        clearTimeout(timer);
        timer = setTimeout(() => {
          invalidate(server);
          nobodyHeard = server.ws.clients.size === 0;
          reload();
        }, SETTLE_MS);
      });
      // A page that was loading meanwhile may have the old data.
      server.ws.on("connection", () => {
        if (nobodyHeard) reload();
        nobodyHeard = false;
      });
    },
  };
}

/**
 * Modules that read the data while they were evaluated (an article's numbers) have to be evaluated again.
 * @param {import("vite").ViteDevServer} server
 */
function invalidate(server) {
  for (const environment of Object.values(server.environments)) environment.moduleGraph.invalidateAll();
}
