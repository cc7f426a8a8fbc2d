import { dirname, join, normalize } from "node:path";
import { read } from "./built";

/** Every script that a page can load, the late ones too, from the site's root: `_astro/explorer.js`. */
export function scripts(page: string): string[] {
  const found = [...page.matchAll(/<script[^>]+src="\/([^"]+)"/g)].map(([, path = ""]) => path);
  for (const file of found) {
    // Bundled scripts name others relative to themselves, workers relative to the site's root.
    for (const [, path = ""] of read(file).matchAll(/["'`]([^"'`\s]+\.js)["'`]/g)) {
      const other = /^\/?_astro\//.test(path) ? path.replace(/^\//, "") : normalize(join(dirname(file), path));
      if (!found.includes(other)) found.push(other);
    }
  }
  return found;
}
