import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { ARTICLE, read, sitemap } from "./support/built";
import { copyOfRepository, type Copy } from "./support/copy";
import { brokenLinks } from "./support/links";
import { serve } from "./support/server";

/** GitHub Pages serves a project's site from a folder. */
const BASE = "/repo/";
const REPOSITORY = "https://host.example/name/repo";

test.describe("under a base path", () => {
  test.describe.configure({ mode: "serial" });
  let copy: Copy;
  let dist: string;

  test.beforeAll(async () => {
    copy = copyOfRepository();
    dist = join(copy.root, "site/dist");
    const { code, output } = await copy.build({
      SITE_BASE: BASE,
      SITE_URL: "https://name.example",
      SITE_REPOSITORY: REPOSITORY,
    });
    expect(code, output).toBe(0);
  });
  test.afterAll(() => copy.remove());

  test("every link leads somewhere, in pages, sitemap and feed", () => {
    expect(brokenLinks(dist, BASE).broken).toEqual([]);
    for (const path of sitemap(dist)) expect(path).toMatch(/^\/repo\/([\w/.-]+\/)?$/);
    const addresses = [...read("rss.xml", dist).matchAll(/https:\/\/name\.example\/[^"<&]*/g)].map(([url]) => url);
    expect(addresses).toContain(`https://name.example/repo${ARTICLE}`);
    for (const url of addresses) expect(url).toMatch(/^https:\/\/name\.example\/repo\//);
  });

  test("the file that readers may copy and the data are served as they are in the repository", () => {
    expect(read("backprop.py", dist)).toBe(read("experiments/backprop.py", copy.root));
    expect(read("memory_timelines.json", dist)).toBe(read("data/memory_timelines.json", copy.root));
  });

  test("a reader gets from the front page to the article and on", async ({ page }) => {
    const { origin, close } = await serve(dist, BASE);
    const failed: string[] = [];
    page.on("response", (response) => response.ok() || failed.push(response.url()));
    await page.goto(origin + BASE);
    await page.getByRole("link", { name: "Gradients that never coexist" }).click();
    await expect(page).toHaveURL(origin + BASE + ARTICLE.slice(1));
    await expect(page.getByRole("link", { name: "Edit this page" })).toHaveAttribute(
      "href",
      `${REPOSITORY}/edit/main/site/src/content/blog/gradients-that-never-coexist.mdx`,
    );
    await page.locator("figure.memory-timelines").scrollIntoViewIfNeeded();
    await expect(page.getByRole("slider")).toBeAttached();
    await page.getByRole("link", { name: "Viewer", exact: true }).click();
    await expect(page.locator("#viewer-drop")).toBeVisible(); // its script runs
    await page.setInputFiles("#viewer-input", join(copy.root, "data/memory_timelines.json"));
    await expect(page.getByRole("status")).toContainText("Plain loop: peak");
    await page.getByRole("navigation", { name: "Site" }).getByRole("link", { name: "About" }).click();
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("About");
    expect(failed).toEqual([]);
    close();
  });
});
