import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { files, read } from "./built";

/** The links, images, scripts and styles of a built site that stay on it and lead nowhere, and how many were followed. */
export function brokenLinks(folder: string, base: string): { broken: string[]; checked: number } {
  const broken: string[] = [];
  let checked = 0;
  for (const page of files(folder).filter((file) => file.endsWith(".html"))) {
    const html = read(page, folder);
    const here = new URL(base + page.replace(/index\.html$/, ""), "https://site.invalid/");
    for (const [, raw = ""] of html.matchAll(/\s(?:href|src|srcset)="([^"]*)"/g)) {
      const url = new URL(raw.replaceAll("&amp;", "&"), here);
      if (url.host !== here.host) continue;
      checked++;
      const reason = fault(url, folder, base);
      if (reason) broken.push(`${page}: ${raw} ${reason}`);
    }
  }
  return { broken, checked };
}

function fault(url: URL, folder: string, base: string): string | undefined {
  if (!url.pathname.startsWith(base)) return `leaves the base ${base}`;
  const path = url.pathname.slice(base.length);
  const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
  if (!existsSync(join(folder, file)) || !statSync(join(folder, file)).isFile()) return "has no file";
  const anchor = decodeURIComponent(url.hash.slice(1));
  if (anchor && file.endsWith(".html") && !read(file, folder).includes(`id="${anchor}"`)) return "has no anchor";
  return undefined;
}
