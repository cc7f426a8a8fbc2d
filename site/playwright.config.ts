import { existsSync } from "node:fs";
import { defineConfig, devices } from "@playwright/test";

// Debian's Chromium where there is one; otherwise the browser from `npx playwright install chromium`.
const chromium = process.env["CHROMIUM"] ?? (existsSync("/usr/bin/chromium") ? "/usr/bin/chromium" : undefined);

/** Specs whose outcome depends on the screen; the others run once, in `light`. */
const looks = /pages\.spec\.ts/;

export default defineConfig({
  testDir: "tests/e2e",
  outputDir: "test-results",
  fullyParallel: true,
  forbidOnly: Boolean(process.env["CI"]),
  workers: 2,
  timeout: 180_000, // some build the site, on machines that are doing other things
  reporter: "list",
  use: {
    ...devices["Desktop Chrome"],
    launchOptions: {
      ...(chromium ? { executablePath: chromium } : {}),
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
    },
  },
  projects: [
    { name: "light", use: { colorScheme: "light", viewport: { width: 1440, height: 900 } } },
    { name: "dark", testMatch: looks, use: { colorScheme: "dark" } },
    { name: "phone", testMatch: looks, use: { ...devices["Pixel 7"], viewport: { width: 360, height: 780 } } },
  ],
});
