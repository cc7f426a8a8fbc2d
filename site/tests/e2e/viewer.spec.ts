import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { DIST, SITE } from "./support/built";
import { expect, test } from "./support/test";

const FIXTURES = join(SITE, "tests/unit/fixtures");
const HEADLINE = join(DIST, "memory_timelines.json");
const OTHER = join(DIST, "models/llama-2-7b/memory_timelines.json");
const peaks = JSON.parse(readFileSync(OTHER, "utf8")) as Record<"default" | "backprop", { peak_gb: number }>;
const [plain, backprop] = [peaks.default, peaks.backprop].map(({ peak_gb }) => peak_gb.toFixed(2)) as [string, string];
const SAID = `Plain loop: peak ${plain} GB; BackProp: peak ${backprop} GB.`;
const made = mkdtempSync(join(tmpdir(), "viewer-"));

function file(name: string, content: string): string {
  const path = join(made, name);
  writeFileSync(path, content);
  return path;
}

const choose = (page: Page, ...paths: string[]) => page.setInputFiles("#viewer-input", paths);
const figure = (page: Page) => page.locator("#viewer-stage figure");

test.beforeEach(({ page }) => page.goto("/viewer/"));

test("shows the headline until a file is opened", async ({ page, problems }) => {
  await expect(figure(page).locator("[role=img]")).toHaveCount(2);
  await expect(page.locator("#viewer-tools")).toBeHidden();
  expect(problems).toEqual([]);
});

test("opens a memory_timelines.json, explorable, without asking anybody", async ({ page, problems }) => {
  await choose(page, OTHER);
  await expect(page.getByRole("status")).toHaveText(SAID);
  await expect(figure(page).locator(".title")).toHaveText("memory_timelines.json");
  await figure(page).getByRole("slider").focus();
  await page.keyboard.press("End");
  await expect(figure(page).locator(".crosshair")).toHaveCount(2);
  expect(problems).toEqual([]);
});

test("compares two files on one scale", async ({ page }) => {
  await choose(page, HEADLINE, OTHER);
  await expect(figure(page).locator("[role=img]")).toHaveCount(4);
  await expect(figure(page).locator(".name").first()).toContainText("memory_timelines.json (1): Plain loop");
  const scales = await figure(page)
    .locator(".numbers")
    .evaluateAll((all) => new Set(all.map((one) => one.textContent)).size);
  expect(scales).toBe(1);
  await choose(page, OTHER);
  await expect(figure(page).locator("[role=img]")).toHaveCount(2); // a third file begins anew
});

for (const [name, about] of [
  ["profile.json", "Memory timeline by torch.profiler"],
  ["profile.json.gz", "Memory timeline by torch.profiler"],
  ["profile.raw.json.gz", "raw events"],
  ["snapshot-4.pickle", "CUDA memory snapshot"],
] as const)
  test(`opens ${name}`, async ({ page, problems }) => {
    await choose(page, join(FIXTURES, name));
    await expect(figure(page).locator("figcaption")).toContainText(about);
    await expect(figure(page).locator("[role=img]")).toHaveCount(1);
    expect(problems).toEqual([]);
  });

test("says in a sentence what is wrong with a file, and keeps what it showed", async ({ page, problems }) => {
  const hostile = `${"<img src=x onerror=alert(1)>".repeat(2)}.json`.replaceAll("/", "");
  const broken = JSON.parse(readFileSync(HEADLINE, "utf8")) as Record<string, Record<string, unknown>>;
  delete broken["default"]?.["end_t"];
  for (const [path, sentence] of [
    [file("empty.json", ""), "empty.json: it is empty"],
    [file("cut.json", readFileSync(HEADLINE, "utf8").slice(0, 5000)), "this is not JSON"],
    [file("broken.json", JSON.stringify(broken)), "default.end_t is missing."],
    [file("page.json", "<!doctype html>"), "a web page"],
    [file(hostile, "{}"), "of another kind"],
    [join(FIXTURES, "runs-code-4.pickle"), "it wants to run code"],
  ] as const) {
    await choose(page, path);
    await expect(page.getByRole("alert")).toContainText(sentence);
    await expect(figure(page).locator("[role=img]")).toHaveCount(2);
  }
  await choose(page, OTHER);
  await expect(page.getByRole("alert")).toBeHidden();
  expect(problems).toEqual([]);
});

test("a file's name and labels stay text", async ({ page, problems }) => {
  const name = "<img src=x onerror=alert(1)>.json";
  await choose(page, file(name, readFileSync(OTHER, "utf8")));
  await expect(figure(page).locator(".title")).toHaveText(name);
  await expect(page.locator("#viewer-stage img")).toHaveCount(0);
  expect(problems).toEqual([]);
});

test("a huge file is read in a worker, and drawn from a few of its samples", async ({ page }) => {
  const events = Array.from(
    { length: 400_000 },
    (_, i) => `[${1e12 + i * 1000}, 2, ${i % 2 ? -4096 : 8192}, ${i % 8}]`,
  );
  const path = file("huge.raw.json", `[${events.join(", ")}]`);
  const started = page.waitForEvent("worker");
  await choose(page, path);
  const worker = await started;
  const ended = new Promise<void>((resolve) => worker.on("close", () => resolve()));
  await expect(page.locator("#viewer-tools")).toBeVisible({ timeout: 60_000 });
  await ended; // and its memory is free
  const drawn = await figure(page)
    .locator(".areas path")
    .evaluateAll((all) => all.map((path) => path.outerHTML.length));
  expect(Math.max(...drawn)).toBeLessThan(30_000);
});

test("files can be dropped and text can be pasted", async ({ page }) => {
  const paste = (text: string) =>
    page.evaluate((words) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text", words);
      dispatchEvent(new ClipboardEvent("paste", { clipboardData }));
    }, text);
  await paste(readFileSync(OTHER, "utf8"));
  await expect(figure(page).locator(".title")).toHaveText("pasted.json");
  await page.evaluate(
    (words) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([words], "dropped.json"));
      dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
    },
    readFileSync(HEADLINE, "utf8"),
  );
  await expect(figure(page).locator(".title")).toHaveText("pasted.json and dropped.json");
});

test("a copied link shows the same figure, also beside a moment, and a damaged one says so", async ({ page }) => {
  await choose(page, OTHER);
  await page.getByRole("button", { name: "Copy a link" }).click();
  await expect(page.getByRole("status")).toContainText("The link is");
  const address = page.url();
  expect(address).toContain("#data=");
  await page.goto("about:blank");
  await page.goto(address);
  await expect(page.getByRole("status")).toHaveText(SAID);
  await figure(page).getByRole("slider").focus();
  await page.keyboard.press("End");
  await expect.poll(() => page.url()).toMatch(/#data=.+&memory=/);
  await page.goto("about:blank");
  await page.goto(address.slice(0, -300));
  await expect(page.getByRole("alert")).toHaveText("The data in this link are cut off or damaged.");
});

test("the figure can be saved as SVG and as PNG", async ({ page, problems }) => {
  await choose(page, OTHER);
  const save = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    const path = join(made, download.suggestedFilename());
    await download.saveAs(path);
    return readFileSync(path);
  };
  const svg = String(await save("Save as SVG"));
  expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  for (const words of ["memory_timelines.json", "Plain loop", "BackProp", "gradients", plain])
    expect(svg).toContain(words);
  expect(svg).not.toMatch(/class=|var\(--|light-dark/);
  const png = await save("Save as PNG");
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  const [drawn, saved] = [await figure(page).boundingBox(), png.readUInt32BE(16)];
  expect(saved).toBeGreaterThan(2 * (drawn?.width ?? Infinity));
  // What was saved is a picture by itself: the browser shows it in another document.
  await page.goto(`data:text/html,<title>x</title>`);
  const shown = await page.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    await image.decode();
    return [image.width, image.height];
  }, svg);
  expect(Math.min(...shown)).toBeGreaterThan(300);
  expect(problems.filter((problem) => !problem.includes("data:"))).toEqual([]);
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });
  test("says what is missing, and shows the headline", async ({ page }) => {
    await expect(page.getByText("it needs JavaScript")).toBeVisible();
    await expect(page.locator("#viewer-drop")).toBeHidden();
    await expect(figure(page).locator("[role=img]")).toHaveCount(2);
  });
});
