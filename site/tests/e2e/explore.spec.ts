import type { Page } from "@playwright/test";
import { ARTICLE } from "./support/built";
import { expect, test } from "./support/test";

/** The article's figure, near the screen and awake. */
async function awake(page: Page, address = ARTICLE) {
  await page.goto(address);
  const figure = page.locator("figure.memory-timelines");
  await figure.scrollIntoViewIfNeeded();
  await expect(figure.getByRole("slider")).toBeAttached();
  return figure;
}

const when = (page: Page) => page.locator(".memory-timelines .when");
const sums = (page: Page) => page.locator(".memory-timelines .sum").allInnerTexts();
const paths = (page: Page) =>
  page.locator(".areas path").evaluateAll((all) => all.map((path) => path.getAttribute("d") ?? ""));

test("a figure far from the screen fetches nothing", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.setViewportSize({ width: 800, height: 300 });
  await page.goto(ARTICLE, { waitUntil: "networkidle" });
  expect(asked.filter((path) => path.endsWith("memory_timelines.json") || path.includes("explorer"))).toEqual([]);
  await page.locator("figure.memory-timelines").scrollIntoViewIfNeeded();
  await expect.poll(() => asked.some((path) => path.endsWith("memory_timelines.json"))).toBe(true);
});

test("keys walk from change to change, to the ends, to the peaks and back", async ({ page, problems }) => {
  const figure = await awake(page);
  const slider = figure.getByRole("slider", { name: "Moment of the step" });
  const peaks = await sums(page);
  await slider.focus();
  await expect(figure.locator(".keys")).toBeVisible();
  const value = async () => Number(await slider.getAttribute("aria-valuenow"));
  const max = Number(await slider.getAttribute("aria-valuemax"));
  await page.keyboard.press("ArrowRight");
  expect(await value()).toBe(0);
  const walked: number[] = [];
  for (let i = 0; i < 5; i++) {
    await page.keyboard.press("ArrowRight");
    walked.push(await value());
  }
  expect([...walked].sort((a, b) => a - b)).toEqual(walked);
  expect(new Set(walked).size).toBe(5);
  await page.keyboard.press("ArrowLeft");
  expect(await value()).toBe(walked[3]);
  await page.keyboard.press("End");
  expect(await value()).toBe(max);
  await page.keyboard.press("PageDown");
  expect(await value()).toBeCloseTo(0.9 * max, 3);
  await page.keyboard.press("Home");
  expect(await value()).toBe(0);
  await page.keyboard.press("p");
  const atFirst = await sums(page);
  await page.keyboard.press("p");
  const atSecond = await sums(page);
  // One mode's peak after the other's, each with the sum that stands at its peak.
  const named = [0, 1].map((mode) => [atFirst[mode], atSecond[mode]].includes(peaks[mode]));
  expect(named).toEqual([true, true]);
  await expect(slider).toHaveAttribute("aria-valuetext", /Plain loop: [\d.]+ [GM]B in .*BackProp: /);
  await expect.poll(() => new URL(page.url()).hash).toMatch(/^#memory=\d/);
  await page.keyboard.press("Escape");
  await expect(figure.locator(".crosshair")).toHaveCount(0);
  expect(await sums(page)).toEqual(peaks);
  await expect.poll(() => new URL(page.url()).hash).toBe("");
  expect(problems).toEqual([]);
});

test("a mouse over one plot reads both, and lets go when it leaves; a click stays", async ({ page }) => {
  const figure = await awake(page);
  const plot = figure.locator(".plot").first();
  await plot.hover({ position: { x: 150, y: 200 } });
  await expect(figure.locator(".crosshair")).toHaveCount(2);
  const [left, right] = await when(page).allInnerTexts();
  expect(left).toMatch(/^At \d/);
  expect(right?.split(",")[0]).toBe(left?.split(",")[0]);
  await page.mouse.move(5, 5);
  await expect(figure.locator(".crosshair")).toHaveCount(0);
  await plot.click({ position: { x: 150, y: 200 } });
  await page.mouse.move(5, 5);
  await expect(figure.locator(".crosshair")).toHaveCount(2);
});

test("a name in the legend leaves the stack, on the same scale, and comes back", async ({ page }) => {
  const figure = await awake(page);
  const scale = await figure.locator(".numbers").first().innerHTML();
  const before = await paths(page);
  const button = figure.getByRole("button", { name: "optimizer state" });
  await expect(button).toHaveAttribute("aria-pressed", "true");
  await button.click();
  await expect(button).toHaveAttribute("aria-pressed", "false");
  expect(await paths(page)).not.toEqual(before);
  expect(await figure.locator(".numbers").first().innerHTML()).toBe(scale);
  await expect.poll(() => new URL(page.url()).hash).toBe("#memory=&without=optimizer-state");
  await button.click();
  expect(await paths(page), "the same paths as those of the build").toEqual(before);
});

test("an address brings a moment and a stack back", async ({ page }) => {
  const figure = await awake(page, `${ARTICLE}#memory=1&without=gradient`);
  await expect(figure.getByRole("button", { name: "gradients" })).toHaveAttribute("aria-pressed", "false");
  await expect(when(page).first()).toContainText("At 1.00 ms");
  await expect(figure).toBeInViewport();
});

test("without the data, the figure stays as it was, and nobody is told", async ({ page, problems }) => {
  await page.route("**/memory_timelines.json", (route) => route.fulfill({ status: 200, body: "<!doctype html>" }));
  await page.goto(ARTICLE);
  await page.locator("figure.memory-timelines").scrollIntoViewIfNeeded();
  await page.waitForLoadState("networkidle");
  await expect(page.getByRole("slider")).toHaveCount(0);
  expect(problems).toEqual([]);
});

test.describe("with a finger", () => {
  test.use({ hasTouch: true });

  test("a drag along a plot reads it, and the reading stays", async ({ page }) => {
    const figure = await awake(page);
    const box = await figure.locator(".plot").first().boundingBox();
    if (!box) throw new Error("the plot isn't there");
    const client = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", x: number) =>
      client.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchEnd" ? [] : [{ x, y: box.y + box.height / 2 }],
      });
    await touch("touchStart", box.x + 0.2 * box.width);
    const first = await when(page).first().innerText();
    await touch("touchMove", box.x + 0.5 * box.width);
    await touch("touchMove", box.x + 0.8 * box.width);
    await touch("touchEnd", 0);
    await expect(when(page).first()).not.toHaveText(first);
    await expect(figure.locator(".crosshair")).toHaveCount(2);
  });
});

test("in forced colours, the crosshair and the names’ state can be seen", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  const figure = await awake(page);
  await figure
    .locator(".plot")
    .first()
    .click({ position: { x: 100, y: 200 } });
  const colours = await figure
    .locator(".crosshair")
    .first()
    .evaluate((line) => [getComputedStyle(line).stroke, getComputedStyle(document.body).backgroundColor]);
  expect(colours[0]).not.toBe(colours[1]);
  const button = figure.getByRole("button", { name: "gradients" });
  await button.click();
  expect(await button.evaluate((element) => getComputedStyle(element).textDecorationLine)).toBe("line-through");
});
