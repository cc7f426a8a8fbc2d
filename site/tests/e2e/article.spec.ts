import { readFileSync } from "node:fs";
import { ARTICLE, DIST } from "./support/built";
import { expect, test } from "./support/test";

interface Measured {
  default: { peak_gb: number };
  backprop: { peak_gb: number };
}
const data = JSON.parse(readFileSync(`${DIST}/memory_timelines.json`, "utf8")) as Measured;
const both = [data.default.peak_gb, data.backprop.peak_gb];
const small = Math.max(...both) < 1;
const peaks = both.map((gb) => (small ? `${(gb * 1000).toFixed(1)} MB` : `${gb.toFixed(2)} GB`));

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("the article is complete: both plots, both peaks, the table", async ({ page, problems }) => {
    await page.goto(ARTICLE);
    const figure = page.locator("figure.memory-timelines");
    const plots = figure.locator("[role=img]");
    await expect(plots).toHaveCount(2);
    for (const plot of await plots.all()) await expect(plot).toBeVisible();
    for (const peak of peaks) await expect(figure.getByText(peak).first()).toBeVisible();
    await expect(figure.locator("figcaption")).toContainText(small ? "MB" : "GB");
    await figure.locator("summary").click();
    await expect(figure.locator("details table").first()).toBeVisible();
    expect(problems).toEqual([]);
  });
});

test("a guess, contents and notes open and lead on without JavaScript", async ({ browser, baseURL }) => {
  const context = await browser.newContext({ javaScriptEnabled: false, ...(baseURL && { baseURL }) });
  const page = await context.newPage();
  await page.goto(ARTICLE);
  const answer = page.getByText("With one gradient at a time the peak is");
  await expect(answer).toBeHidden();
  await page.locator(".guess summary").click();
  await expect(answer).toBeVisible();
  await page.locator(".contents summary").click();
  await page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Limits" }).click();
  await expect(page).toHaveURL(/#limits$/);
  await page.locator("[data-footnote-ref]").first().click();
  await expect(page.locator("[data-footnotes] li").first()).toBeInViewport();
  await expect(page.locator(".copy")).toHaveCount(0);
  await context.close();
});

test("code can be copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(ARTICLE);
  const block = page.locator(".code").filter({ hasText: "from backprop import BackProp" });
  const button = block.getByRole("button");
  await button.click();
  await expect(button).toHaveText("Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain("model, optimizer = BackProp(model, optimizer)\n");
  expect(copied).not.toContain("Copy");
});

test("says what it is to machines, and how to cite it", async ({ page, baseURL }) => {
  await page.goto(ARTICLE);
  const text = await page.locator('script[type="application/ld+json"]').textContent();
  const data = JSON.parse(text ?? "") as Record<string, string>;
  expect(data["@type"]).toBe("BlogPosting");
  expect(data["headline"]).toBe(await page.getByRole("heading", { level: 1 }).innerText());
  const image = new URL(data["image"] ?? "").pathname;
  expect((await page.request.get(`${baseURL}${image}`)).headers()["content-type"]).toBe("image/png");
  await expect(page.locator("pre", { hasText: "@misc{" })).toContainText("year = {2026}");
  await expect(page.locator(".byline")).toContainText(/\d+ minutes/);
});

test("other runs of the same step are a link away", async ({ page }) => {
  await page.goto(ARTICLE);
  const runs = page.getByRole("navigation", { name: "Runs of this step" });
  await expect(runs.locator("[aria-current]")).toHaveCount(1);
  await runs.getByRole("link", { name: "Simulated, fused" }).click();
  await expect(page).toHaveURL(/\/runs\/simulated-fused\/$/);
  const run = JSON.parse(readFileSync(`${DIST}/runs/simulated-fused/memory_timelines.json`, "utf8")) as Measured;
  const names = page.locator("figure.memory-timelines .name");
  await expect(names.first()).toContainText(`${run.default.peak_gb.toFixed(2)} GB`);
  await expect(names.last()).toContainText(`${run.backprop.peak_gb.toFixed(2)} GB`);
});

test("the prose has the data’s numbers", async ({ page }) => {
  await page.goto(ARTICLE);
  const prose = (await page.locator("article.prose").innerText()).replaceAll(/\s+/g, " ");
  for (const peak of peaks) expect(prose).toContain(`peak is ${peak}`);
  expect(await page.content(), "no blank between a word and its comma").not.toMatch(
    /<\/(span|code|a|em|strong)>\s+[,.;:]/,
  );
  expect(prose).not.toMatch(/undefined|NaN|null|\[object/);
});

test("lines are about 66 characters long", async ({ page }) => {
  await page.goto(ARTICLE);
  // Of full lines alone: a line ends where the next character stands further to the left.
  const lengths = await page.evaluate(() =>
    [...document.querySelectorAll("article.prose > p")].flatMap((paragraph) => {
      const range = document.createRange();
      const texts = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
      const lines = [0];
      let left = -Infinity;
      while (texts.nextNode()) {
        const text = texts.currentNode as Text;
        for (let at = 0; at < text.length; at++) {
          range.setStart(text, at);
          range.setEnd(text, at + 1);
          const box = range.getBoundingClientRect();
          if (box.width === 0) continue; // a blank that a line break swallowed
          if (box.left < left) lines.push(0);
          lines[lines.length - 1]! += 1;
          left = box.left;
        }
      }
      return lines.slice(0, -1);
    }),
  );
  expect(lengths.length).toBeGreaterThan(40);
  const mean = lengths.reduce((a, b) => a + b, 0) / lengths.length;
  expect(mean).toBeGreaterThan(54);
  expect(mean).toBeLessThan(76);
});

test("formulas are MathML and code is coloured by classes", async ({ page }) => {
  await page.goto(ARTICLE);
  await expect(page.locator("math[display=block]").first()).toBeVisible();
  const colours = await page
    .locator("pre .token-keyword, pre .token-comment, pre .token-string, pre .token-function")
    .evaluateAll((tokens) => [...new Set(tokens.map((token) => getComputedStyle(token).color))]);
  expect(colours.length).toBeGreaterThanOrEqual(3);
  await expect(page.locator("[style]")).toHaveCount(0);
});

test("on paper, it is light, without navigation, and with what is folded up", async ({ page }) => {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await page.goto(ARTICLE);
  await expect(page.getByRole("navigation", { name: "Site" })).toBeHidden();
  expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe("rgb(0, 0, 0)");
  await expect(page.locator("figure.memory-timelines details table").first()).toBeVisible();
});
