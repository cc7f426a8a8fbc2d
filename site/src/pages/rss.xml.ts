import { render } from "astro:content";
import rss from "@astrojs/rss";
import { getContainerRenderer } from "@astrojs/mdx/container-renderer";
import type { APIContext } from "astro";
import { experimental_AstroContainer as AstroContainer } from "astro/container";
import { loadRenderers } from "astro:container";
import { feedHtml } from "../lib/feed-html";
import { loadTimelines } from "../lib/contract";
import { figures } from "../lib/figures";
import { absolute } from "../lib/href";
import { postPath, posts } from "../lib/posts";
import { site } from "../lib/site";

/** The feed, with whole articles. */
export async function GET({ site: origin }: APIContext): Promise<Response> {
  const container = await AstroContainer.create({ renderers: await loadRenderers([getContainerRenderer()]) });
  const f = figures(loadTimelines());
  const image = {
    src: absolute("/figures/memory_timelines-light.png", origin),
    alt: `Memory over one training step, by category. Peak ${f.default.peak} in the plain loop, ${f.backprop.peak} with BackProp.`,
  };
  const items = (await posts()).map(async (post) => {
    const { Content } = await render(post);
    const page = absolute(postPath(post), origin);
    return {
      title: post.data.title,
      description: post.data.description,
      pubDate: post.data.published,
      link: page,
      content: feedHtml(await container.renderToString(Content), { page, image }),
    };
  });
  return rss({
    title: site.name,
    description: site.description,
    site: absolute("/", origin),
    items: await Promise.all(items),
    customData: `<language>${site.language}</language><atom:link href="${absolute("/rss.xml", origin)}" rel="self" type="application/rss+xml"/>`,
    xmlns: { atom: "http://www.w3.org/2005/Atom" },
  });
}
