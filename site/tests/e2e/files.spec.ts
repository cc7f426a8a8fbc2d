import { execFileSync } from "node:child_process";
import { gzipSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import { ARTICLE, DIST, files, read, SITE, sitemap } from "./support/built";
import { brokenLinks } from "./support/links";
import { scripts } from "./support/scripts";

const KIB = 1024;
const html = files().filter((file) => file.endsWith(".html"));

test("the HTML is valid and has no inline style", () => {
  try {
    execFileSync(process.execPath, ["node_modules/html-validate/bin/html-validate.mjs", "dist/**/*.html"], {
      cwd: SITE,
      encoding: "utf8",
    });
  } catch (error) {
    expect((error as { stdout: string }).stdout).toBe("");
  }
});

test("every link leads somewhere", () => {
  const { broken, checked } = brokenLinks(DIST, "/");
  expect(broken).toEqual([]);
  expect(checked).toBeGreaterThan(40);
});

test("the article keeps to its budget", () => {
  const page = read(`${ARTICLE.slice(1)}index.html`);
  const size = (text: string) => gzipSync(text, { level: 9 }).length;
  const linked = (pattern: RegExp) =>
    [...new Set([...page.matchAll(pattern)].map(([, path = ""]) => path.slice(1)))].map((file) => size(read(file)));
  const sum = (sizes: number[]) => sizes.reduce((a, b) => a + b, 0);
  const inline = [...page.matchAll(/<script(?![^>]*\s(?:src=|type="application\/ld))[^>]*>([^<]+)/g)].map(
    ([, text = ""]) => size(text),
  );
  const bytes = {
    html: size(page),
    css: sum(linked(/<link[^>]+href="([^"]+\.css)"/g)),
    js: sum([...scripts(page).map((file) => size(read(file))), ...inline]),
  };
  console.log(`article, gzipped: ${bytes.html} HTML + ${bytes.css} CSS + ${bytes.js} JS`);
  expect(bytes.js, "JS").toBeLessThanOrEqual(6 * KIB);
  expect(bytes.html + bytes.css + bytes.js, "in all").toBeLessThanOrEqual(60 * KIB);
});

test("the viewer keeps to its budget", () => {
  const all = scripts(read("viewer/index.html"));
  const bytes = all.reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, 0);
  console.log(`viewer, gzipped: ${bytes} JS`);
  expect(all.some((file) => file.includes("worker"))).toBe(true);
  expect(bytes).toBeLessThanOrEqual(40 * KIB);
});

test("every page has a strict policy and says what it is", () => {
  for (const file of html) {
    const page = read(file);
    const policy = /<meta http-equiv="content-security-policy" content="([^"]+)"/.exec(page)?.[1] ?? "";
    expect(policy, file).toContain("default-src 'self'");
    expect(policy, file).not.toContain("unsafe");
    expect(page, file).toMatch(/<title>[^<]+<\/title>/);
    expect(page, file).toMatch(/<meta name="description" content="[^"]+"/);
    const [, image = ""] = /<meta property="og:image" content="https?:\/\/[^/]+\/([^"]+\.png)"/.exec(page) ?? [];
    expect(files(), `the image of ${file}`).toContain(image);
  }
});

test("the sitemap lists every page once, and no other", () => {
  const pages = html.filter((file) => file !== "404.html").map((file) => `/${file.replace(/index\.html$/, "")}`);
  expect(sitemap().sort()).toEqual(pages.sort());
});

test("the feed holds the whole article, with images and links that work anywhere", () => {
  const feed = read("rss.xml");
  expect(feed).toContain(`${ARTICLE}</link>`);
  const [, escaped = ""] = /<content:encoded>([\s\S]+)<\/content:encoded>/.exec(feed) ?? [];
  const content = unescape(escaped);
  expect(content).toContain("<h2>Sources</h2>");
  for (const [, address = ""] of content.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^https?:\/\//);
  expect(content).not.toMatch(/<(svg|script|style|math|span|details)\b|class="|style="/);
  for (const [, path = ""] of content.matchAll(/<img src="https?:\/\/[^/]+\/([^"]+)"/g))
    expect(files()).toContain(path);
});

/** An XML text as it was before it was put into XML. */
function unescape(text: string): string {
  const names: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" };
  return text.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (name) => names[name] ?? name);
}
