import AxeBuilder from "@axe-core/playwright";
import { sitemap } from "./support/built";
import { expect, test } from "./support/test";

/** Pages of one template differ in their data, which the look of the screen does not change. */
const template = (path: string) => path.replace(/^\/(models|runs)\/(by-)?.+/, "/$1/$2*");
const pages = [...sitemap(), "/404.html"];

for (const [i, path] of pages.entries()) {
  test(`${path} is accessible, fits the screen and is silent`, async ({ page, problems }, { project }) => {
    const first = pages.findIndex((other) => template(other) === template(path)) === i;
    test.skip(project.name !== "light" && !first, "another page of its template is looked at here");
    await page.goto(path, { waitUntil: "networkidle" });
    for (const details of await page.locator("details > summary").all()) await details.click();
    const { violations } = await new AxeBuilder({ page })
      .withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"])
      .analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`)).toEqual([]);
    const screen = page.viewportSize()?.width ?? 0;
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width, "no sideways scroll").toBeLessThanOrEqual(screen);
    const text = await page.locator("main p").first().boundingBox();
    expect(text?.width, "the text uses the screen").toBeGreaterThan(Math.min(0.85 * screen, 500));
    expect(problems).toEqual([]);
  });
}
