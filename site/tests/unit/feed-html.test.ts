import { expect, it } from "vitest";
import { feedHtml } from "../../src/lib/feed-html";

const options = {
  page: "https://host.example/repo/blog/post/",
  image: { src: "https://host.example/a.png", alt: "A" },
};
const feed = (html: string) => feedHtml(html, options);

it("keeps elements and text, without what needs our style sheets", () => {
  expect(feed('<p class="x" id="y" data-z>One <span class="word">word</span></p><script>1</script><!-- c -->')).toBe(
    "<p>One word</p>",
  );
});

it("makes links absolute", () => {
  expect(feed('<a href="/repo/x/">a</a><a href="#b">b</a><a href="https://other.example/">c</a>')).toBe(
    '<a href="https://host.example/repo/x/">a</a><a href="https://host.example/repo/blog/post/#b">b</a><a href="https://other.example/">c</a>',
  );
});

it("shows formulas as the TeX that KaTeX keeps", () => {
  const math = (display: string) =>
    `<math${display}><semantics><mrow><mi>g</mi></mrow><annotation encoding="application/x-tex">g_i</annotation></semantics></math>`;
  expect(feed(`<p>a ${math("")} b</p>`)).toBe("<p>a <code>g_i</code> b</p>");
  expect(feed(math(' display="block"'))).toBe("<pre><code>g_i</code></pre>");
});

it("puts the image in place of a drawing, and keeps its caption", () => {
  expect(
    feed("<figure><p>Legend</p><svg></svg><figcaption>Caption<details>Table</details></figcaption></figure>"),
  ).toBe('<figure><img src="https://host.example/a.png" alt="A"><figcaption>Caption</figcaption></figure>');
});

it("opens what is folded up in the text", () => {
  expect(feed("<details class='x'><summary>Guess</summary><p>Half</p></details>")).toBe("<p>Guess</p><p>Half</p>");
});

it("leaves out buttons and ways around the page", () => {
  expect(feed("<nav><a href='#a'>a</a></nav><p>b</p><button>Copy</button>")).toBe("<p>b</p>");
});

it("keeps lines of code apart", () => {
  expect(feed('<pre><code><span class="line"><span>a</span></span>\n<span class="line">b</span></code></pre>')).toBe(
    "<pre><code>a\nb</code></pre>",
  );
});
