import { expect, it } from "vitest";
import { absolute, href } from "../../src/lib/href";

it.each([
  ["/about/", "/", "/about/"],
  ["/about/", "/repo/", "/repo/about/"],
  ["/about/", "/repo", "/repo/about/"],
  ["about/", "/repo", "/repo/about/"],
  ["/", "/repo/", "/repo/"],
])("puts %s under %s", (path, base, expected) => {
  expect(href(path, base)).toBe(expected);
});

it("gives whole addresses, and says what is missing", () => {
  expect(absolute("/og/about.png", new URL("https://host.example"))).toBe("https://host.example/og/about.png");
  expect(() => absolute("/og/about.png", undefined)).toThrow("`site` is not set in astro.config.mjs");
});
