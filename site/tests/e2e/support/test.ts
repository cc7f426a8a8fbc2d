import { test as base } from "@playwright/test";
import { DIST } from "./built";
import { serve } from "./server";

interface Fixtures {
  /** Everything that went wrong in the page so far: errors, warnings, failed and foreign requests. */
  problems: string[];
}

/** Playwright's test with the built site behind it: `page.goto("/about/")`. */
export const test = base.extend<Fixtures, { built: string }>({
  built: [
    async ({}, use) => {
      const { origin, close } = await serve(DIST);
      await use(origin);
      close();
    },
    { scope: "worker" },
  ],
  baseURL: async ({ built }, use) => use(built),
  problems: async ({ page, baseURL }, use) => {
    const problems: string[] = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("requestfailed", (request) => problems.push(`${request.url()} ${request.failure()?.errorText}`));
    page.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (!["data:", "blob:"].includes(protocol) && origin !== baseURL)
        problems.push(`asks another host: ${request.url()}`);
    });
    page.on("response", (response) => {
      if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
    });
    await use(problems);
  },
});

export { expect } from "@playwright/test";
