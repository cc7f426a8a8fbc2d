import type { APIRoute, GetStaticPaths } from "astro";
import { card } from "../../lib/card";
import { loadTimelines, type MemoryTimelines } from "../../lib/contract";
import { headlineModes } from "../../lib/modes";
import { loadPlans } from "../../lib/plans";
import { posts } from "../../lib/posts";
import { loadRuns } from "../../lib/runs";
import { site } from "../../lib/site";

interface Props {
  title: string;
  timelines: MemoryTimelines;
}

/** A picture for every page that names one. */
export const getStaticPaths = (async () => {
  const timelines = loadTimelines();
  const own = [
    ["index", site.name],
    ["about", "About these pages"],
    ["models", "Memory of models that people train"],
    ["viewer", "See where your training memory goes"],
    ...(await posts()).map((post) => [`blog/${post.id}`, post.data.title]),
  ].map(([path, title]) => ({ path, title, timelines }));
  const runs = loadRuns().map((run) => ({
    path: `runs/${run.key}`,
    title: `One step: ${run.label}`,
    timelines: run.timelines,
  }));
  const models = loadPlans().map((plan) => ({
    path: `models/${plan.name}`,
    title: plan.name,
    timelines: plan.timelines,
  }));
  return [...own, ...runs, ...models].map(({ path, ...props }) => ({ params: { card: path }, props }));
}) satisfies GetStaticPaths;

export const GET: APIRoute<Props> = async ({ props: { title, timelines } }) =>
  new Response(new Uint8Array(await card(title, headlineModes(timelines))), {
    headers: { "content-type": "image/png" },
  });
