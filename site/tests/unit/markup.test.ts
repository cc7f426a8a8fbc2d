import { describe, expect, it } from "vitest";
import { figure } from "../../src/lib/markup/figure";
import { markup } from "../../src/lib/markup/markup";
import { timeline } from "./sample";

describe("markup", () => {
  it("escapes text, in elements and in attributes, and nothing that is markup already", () => {
    const hostile = `<img src=x onerror="alert('&')">`;
    const escaped = "&lt;img src=x onerror=&quot;alert('&amp;')&quot;&gt;";
    expect(String(markup`<b title="${hostile}">${hostile}</b>`)).toBe(`<b title="${escaped}">${escaped}</b>`);
    expect(String(markup`<p>${markup`<b>${"&"}</b>`}</p>`)).toBe("<p><b>&amp;</b></p>");
  });
  it("joins lists, writes numbers, and leaves nothing for what is absent", () => {
    const parts = [1, 0, [markup`<i></i>`, "a"], false, null, undefined, ""] as const;
    expect(String(markup`${parts}`)).toBe("10<i></i>a");
  });
  it("leaves out indentation", () => {
    expect(
      String(markup`<p>
        ${1}
      </p>`),
    ).toBe("<p>\n1\n</p>");
  });
});

describe("figure", () => {
  const hostile = `"><script>alert(1)</script>`;
  const mode = (key: string) => ({ key, label: hostile, timeline: timeline([0, 10], { GRADIENT: [1, 2] }) });
  const drawn = (n: number) =>
    String(
      figure(
        Array.from({ length: n }, (_, i) => mode(`m${i}`)),
        { id: "f", title: hostile, caption: markup`<p>${hostile}</p>` },
      ),
    );
  it.each([1, 2, 3, 4])("compares %i modes", (n) => {
    const text = drawn(n);
    expect(text.match(/role="img"/g)).toHaveLength(n);
    expect(text.match(/<table>/g)).toHaveLength(n);
    expect(text.includes("single")).toBe(n === 1);
  });
  it("shows names out of somebody's file as text", () => {
    expect(drawn(1)).not.toContain("<script");
    expect(drawn(1)).toContain("&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
  });
  it("stacks what has no category, over the rest", () => {
    const gb = [...timeline([0, 10], { GRADIENT: [1, 2] }).gb, [1, 3]];
    const foreign = { ...timeline([0, 10], {}), gb, peak_gb: 5, peak_t: 10 };
    const options = { id: "f", title: "", caption: markup`` };
    const text = String(figure([{ key: "t", label: "T", timeline: foreign }], options));
    expect(text).toMatch(/<li data-series="UNKNOWN">[\s\S]*unknown/);
    const areas = [...text.matchAll(/<path class="fill-([a-z-]+)/g)].map(([, name]) => name);
    expect(areas).toEqual(["unknown", "gradient"]);
  });
});
