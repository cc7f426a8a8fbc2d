import type { ChildProcess } from "node:child_process";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { expect, test } from "@playwright/test";
import { ARTICLE } from "./support/built";
import { copyOfRepository, type Copy } from "./support/copy";

interface Timelines {
  default: { peak_gb: number };
  environment: { source: string };
}

/** Enough for a slow machine that is doing other things. */
const SOON = { timeout: 20_000 };

let copy: Copy;
test.beforeEach(() => {
  copy = copyOfRepository();
});
test.afterEach(() => copy.remove());

function change(how: (timelines: Timelines) => void): void {
  const timelines = JSON.parse(readFileSync(copy.data, "utf8")) as Timelines;
  how(timelines);
  // As the measuring command writes: a new file, moved into place.
  writeFileSync(`${copy.data}.new`, JSON.stringify(timelines));
  renameSync(`${copy.data}.new`, copy.data);
}

test("missing data stops the build, and says which file", async () => {
  rmSync(copy.data);
  const { code, output } = await copy.build();
  expect(code).not.toBe(0);
  expect(output).toMatch(/memory_timelines\.json: there is no such file/);
});

test("invalid data stops the build, and says which file, which field and why", async () => {
  change((timelines) => (timelines.default.peak_gb = -1));
  const { code, output } = await copy.build();
  expect(code).not.toBe(0);
  expect(output).toMatch(/memory_timelines\.json: default\.peak_gb must be >= 0, and is -1/);
});

test("in dev, a change of the data shows at once", async ({ page }) => {
  const server = copy.astro(["dev", "--host", "127.0.0.1", "--port", "0", "--ignore-lock"]);
  try {
    await page.goto((await address(server)) + ARTICLE);
    const prose = page.getByText("Both plots show one training step of the same model");
    const [before, after] = (await prose.innerText()).includes("on a CPU")
      ? ["on a CPU", "on a GPU"]
      : ["on a GPU", "on a CPU"];
    await expect(prose).toContainText(before);
    change((timelines) => (timelines.environment.source = after === "on a GPU" ? "cuda" : "cpu"));
    await expect(prose).toContainText(after, SOON); // in a module that was evaluated before
    await expect(page.locator("figure.memory-timelines figcaption")).toContainText(after); // drawn for each request
  } finally {
    server.kill();
  }
});

/** The address that a dev server prints when it is ready. */
function address(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const look = (text: Buffer) => {
      output += String(text);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0];
      if (url) resolve(url);
    };
    server.stdout?.on("data", look);
    server.stderr?.on("data", look);
    server.on("close", () => reject(new Error(`astro dev ended: ${output}`)));
  });
}
