/**
 * A link to a path written from the site's root, wherever the site is served: `href("/about/")`. Every link in a
 * template goes through here; links in Markdown go through plugins/rehype-base.mjs.
 */
export function href(path: string, base: string = import.meta.env.BASE_URL): string {
  return `${base.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
}

/** The same with the site's host, for feeds and for `og:` and canonical links. */
export function absolute(path: string, site: URL | undefined): string {
  if (!site) throw new Error("`site` is not set in astro.config.mjs");
  return new URL(href(path), site).href;
}
