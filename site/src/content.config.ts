import { defineCollection } from "astro:content";
import { glob } from "astro/loaders";
import { z } from "astro/zod";

const blog = defineCollection({
  loader: glob({ base: "./src/content/blog", pattern: "**/*.mdx" }),
  schema: z.strictObject({
    title: z.string().min(1),
    /** One or two sentences: the line under the title, the feed's summary and the page's description. */
    description: z.string().min(1),
    published: z.coerce.date(),
    updated: z.coerce.date().optional(),
  }),
});

export const collections = { blog };
