import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const SITE = fileURLToPath(new URL("../../../", import.meta.url));
export const DIST = join(SITE, "dist");
export const ARTICLE = "/blog/gradients-that-never-coexist/";

if (!existsSync(join(DIST, "index.html"))) throw new Error("site/dist is not built; run `npm run build` first.");

/** Every file of a built site, from its root: `about/index.html`. */
export function files(folder: string = DIST): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

export function read(file: string, folder: string = DIST): string {
  return readFileSync(join(folder, file), "utf8");
}

/** Paths of the pages in the sitemap, from the host: `/about/`. */
export function sitemap(folder: string = DIST): string[] {
  return [...read("sitemap-0.xml", folder).matchAll(/<loc>([^<]+)<\/loc>/g)].map(
    ([, url]) => new URL(url ?? "").pathname,
  );
}
