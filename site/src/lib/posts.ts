import { getCollection, type CollectionEntry } from "astro:content";

export type Post = CollectionEntry<"blog">;

/** Every post, the newest first. */
export async function posts(): Promise<Post[]> {
  const all = await getCollection("blog");
  return all.sort((a, b) => b.data.published.getTime() - a.data.published.getTime());
}

/** Where a post is, from the site's root. */
export function postPath(post: Post): string {
  return `/blog/${post.id}/`;
}
