// @ts-check
import mdx from "@astrojs/mdx";
import sitemap from "@astrojs/sitemap";
import { rehypeShiki, unified } from "@astrojs/markdown-remark";
import { defineConfig } from "astro/config";
import rehypeKatex from "rehype-katex";
import remarkMath from "remark-math";
import { memoryTimelines } from "./memory-timelines.mjs";
import { codeClasses } from "./plugins/code-classes.mjs";
import { rehypeBase } from "./plugins/rehype-base.mjs";
import { rehypeStrictMath } from "./plugins/rehype-strict-math.mjs";
import { rehypeTables } from "./plugins/rehype-tables.mjs";

// Where the site will be served: SITE_URL=https://name.github.io SITE_BASE=/repository/
const site = process.env["SITE_URL"] || "https://example.org";
const base = process.env["SITE_BASE"] || "/";

export default defineConfig({
  site,
  base,
  // With a base, any other setting makes the sitemap list each page twice.
  trailingSlash: "always",
  // "jsx", the default, joins words that are on two lines of a template.
  compressHTML: true,
  devToolbar: { enabled: false },
  // No unsafe-inline anywhere: Astro adds hashes for what it inlines, and everything else is a file of our own.
  security: {
    csp: {
      directives: [
        "default-src 'self'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'none'",
        "img-src 'self' blob:",
      ],
    },
  },
  // Inlined styles of components inside MDX get no hash.
  build: { inlineStylesheets: "never" },
  // Every browser that runs the element knows <link rel="modulepreload">, and a lazy part is one file.
  vite: { build: { assetsInlineLimit: 0, modulePreload: false } },
  integrations: [mdx(), sitemap(), memoryTimelines()],
  markdown: {
    // Astro's own Markdown processor runs no remark or rehype plugins.
    // Astro warns that Shiki's inline styles break the CSP. codeClasses removes them, so Shiki runs as a plugin of ours.
    syntaxHighlight: false,
    processor: unified({
      remarkPlugins: [remarkMath],
      rehypePlugins: [
        [rehypeShiki, { theme: "css-variables", transformers: [codeClasses] }],
        [rehypeBase, { base }],
        rehypeTables,
        [rehypeKatex, { output: "mathml", strict: "error" }],
        rehypeStrictMath,
      ],
    }),
  },
});
