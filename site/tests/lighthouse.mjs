// @ts-check
// Lighthouse's scores of the built site, with its mobile settings: `npm run build && npm run lighthouse`. Writes
// tests/lighthouse.json. Not part of the tests: the scores of a slow or busy machine say little about the site.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";

const LIGHTHOUSE = "lighthouse@13.5.0";
const PAGES = { article: "/blog/gradients-that-never-coexist/", viewer: "/viewer/", gallery: "/models/" };
const PORT = 4329;
const RUNS = 3;
const METRICS = [
  "first-contentful-paint",
  "largest-contentful-paint",
  "total-blocking-time",
  "cumulative-layout-shift",
];
const chrome = process.env["CHROMIUM"] ?? (existsSync("/usr/bin/chromium") ? "/usr/bin/chromium" : undefined);

const server = spawn(
  process.execPath,
  ["node_modules/astro/bin/astro.mjs", "preview", "--ignore-lock", "--host", "127.0.0.1", "--port", String(PORT)],
  { stdio: "ignore" },
);
try {
  await ready();
  const pages = Object.fromEntries(Object.entries(PAGES).map(([name, path]) => [name, median(path)]));
  const result = {
    command: "npm run lighthouse",
    lighthouse: LIGHTHOUSE,
    settings: `mobile, simulated throttling, median of ${RUNS}`,
    pages,
  };
  writeFileSync("tests/lighthouse.json", `${JSON.stringify(result, null, 2)}\n`);
  console.log(JSON.stringify(pages, null, 2));
} finally {
  server.kill();
}

async function ready() {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(`http://127.0.0.1:${PORT}/`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("astro preview did not start; is the site built?");
}

/** The run of the middle performance score, as Lighthouse's own guide advises. @param {string} path */
function median(path) {
  const runs = Array.from({ length: RUNS }, () => measure(path)).sort((a, b) => a.performance - b.performance);
  return runs[(RUNS - 1) / 2];
}

/** @param {string} path */
function measure(path) {
  const flags = "--headless=new --no-sandbox --disable-gpu";
  const out = execFileSync(
    "npx",
    ["--yes", LIGHTHOUSE, `http://127.0.0.1:${PORT}${path}`, "--output=json", "--quiet", `--chrome-flags=${flags}`],
    { encoding: "utf8", env: { ...process.env, ...(chrome && { CHROME_PATH: chrome }) }, maxBuffer: 1 << 28 },
  );
  const { categories, audits, fetchTime } = JSON.parse(out);
  const scores = Object.values(categories).map(({ id, score }) => [id, Math.round(score * 100)]);
  const failed = Object.values(audits)
    .filter(({ score, scoreDisplayMode }) => score !== null && score < 0.9 && scoreDisplayMode !== "informative")
    .map(({ id }) => id);
  const metrics = METRICS.map((id) => [id, audits[id].displayValue]);
  return { ...Object.fromEntries(scores), ...Object.fromEntries(metrics), failed, measured: fetchTime };
}
