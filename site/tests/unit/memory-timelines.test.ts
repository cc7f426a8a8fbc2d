import { experimental_AstroContainer as AstroContainer } from "astro/container";
import { beforeAll, describe, expect, it } from "vitest";
import MemoryTimelines from "../../src/components/MemoryTimelines.astro";
import { headlineModes } from "../../src/lib/modes";
import { sample } from "./sample";

let container: AstroContainer;
beforeAll(async () => {
  container = await AstroContainer.create();
});
const render = (props: Record<string, unknown>) => container.renderToString(MemoryTimelines, { props });
const count = (html: string, pattern: RegExp) => html.match(pattern)?.length ?? 0;

describe("MemoryTimelines", () => {
  it("draws both modes, with words for those who can't see them", async () => {
    const html = await render({ timelines: sample() });
    expect(count(html, /role="img"/g)).toBe(2);
    expect(html).toMatch(/aria-label="Plain loop: memory over one training step of 100 ms[^"]* 17\.05 GB/);
    expect(html).toMatch(/aria-label="BackProp: memory [^"]* 15\.55 GB/);
    expect(html).toContain("1.50 GB (8.8\u202f%) lower");
  });
  it("needs no inline style and no inline script", async () => {
    const html = await render({ timelines: sample() });
    expect(html).not.toMatch(/\sstyle=/);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
  });
  it("has a table for each mode, with headings for its rows and columns", async () => {
    const html = await render({ timelines: sample() });
    expect(count(html, /<table/g)).toBe(2);
    expect(count(html, /<th scope="col"/g)).toBe(8);
    expect(count(html, /<th scope="row"/g)).toBe(16);
  });
  it("lists only categories that are held, from the bottom up", async () => {
    const html = await render({ timelines: sample() });
    const list = /<ul role="list"[\s\S]*?<\/ul>/.exec(html)?.[0] ?? "";
    const names = [...list.matchAll(/<\/svg>\s*([a-z ]+?)\s*<\/li>/g)].map(([, name]) => name);
    expect(names).toEqual(["parameters", "optimizer state", "input", "activations", "gradients", "temporary"]);
  });
  it("draws the reserved line where an allocator has a pool", async () => {
    const data = sample();
    expect(await render({ timelines: data })).not.toContain("reserved");
    data.default.reserved_gb = 18;
    expect(await render({ timelines: data })).toContain("reserved 18.00 GB");
  });
  it("compares other modes, under another title and ids", async () => {
    const [first] = headlineModes(sample());
    const html = await render({ timelines: sample(), modes: [{ ...first, label: "Alone" }], title: "One", id: "one" });
    expect(count(html, /role="img"/g)).toBe(1);
    expect(html).toContain('id="one-title"');
    expect(html).toContain("url(#one-gradient)");
  });
});
