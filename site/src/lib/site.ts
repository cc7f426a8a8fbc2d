/** What the site is called and what it is, wherever that is said. */
export const site = {
  name: "Training memory",
  description: "Where the memory of a PyTorch training step goes, when, and how to need less of it.",
  language: "en",
  authors: "The BackProp authors",
  /** Where the sources are, as https://host/name/repository; without it no page links to its own. */
  repository: process.env["SITE_REPOSITORY"] ?? "",
} as const;
