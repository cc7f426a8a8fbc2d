import { createMarkdownProcessor, rehypeShiki, type RehypePlugins } from "@astrojs/markdown-remark";
import rehypeKatex from "rehype-katex";
import remarkMath from "remark-math";
import { expect, it } from "vitest";
import { codeClasses } from "../../plugins/code-classes.mjs";
import { rehypeBase } from "../../plugins/rehype-base.mjs";
import { rehypeStrictMath } from "../../plugins/rehype-strict-math.mjs";
import { rehypeTables } from "../../plugins/rehype-tables.mjs";

/** Markdown through some of the plugins that astro.config.mjs lists. */
async function html(markdown: string, rehypePlugins: RehypePlugins): Promise<string> {
  const processor = await createMarkdownProcessor({
    remarkPlugins: [remarkMath],
    rehypePlugins,
    syntaxHighlight: false,
  });
  return (await processor.render(markdown)).code;
}

it("puts the base in front of links from the root, and of no others", async () => {
  const text = "[a](/x/) [b](//host/x) [c](#y) [d](https://host/)";
  expect(await html(text, [[rehypeBase, { base: "/repo/" }]])).toBe(
    '<p><a href="/repo/x/">a</a> <a href="//host/x">b</a> <a href="#y">c</a> <a href="https://host/">d</a></p>',
  );
});

it("lets a wide table scroll by itself", async () => {
  expect(await html("| a |\n|---|\n| b |", [rehypeTables])).toMatch(/^<div class="table" tabindex="0"><table>/);
});

it("writes formulas as MathML, and refuses a bad one", async () => {
  const plugins: RehypePlugins = [[rehypeKatex, { output: "mathml", strict: "error" }], rehypeStrictMath];
  expect(await html("$g_i$", plugins)).toContain("<math");
  await expect(html("$\\frac{1}$", plugins)).rejects.toThrow(/bad formula: .*frac/);
});

it("colours code by classes, marks lines and leaves no style", async () => {
  const shiki: RehypePlugins = [[rehypeShiki, { theme: "css-variables", transformers: [codeClasses] }]];
  const code = await html("```python {2}\nimport x\nx()  # y\n```", shiki);
  expect(code).toContain('<span class="line"><span class="token-keyword">import</span>');
  expect(code).toContain('<span class="line marked">');
  expect(code).not.toContain("style=");
});
