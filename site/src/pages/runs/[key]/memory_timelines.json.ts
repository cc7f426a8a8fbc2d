import type { APIRoute, InferGetStaticPropsType } from "astro";
import { loadRuns } from "../../../lib/runs";

export function getStaticPaths() {
  return loadRuns().map(({ key, timelines }) => ({ params: { key }, props: { timelines } }));
}

type Props = InferGetStaticPropsType<typeof getStaticPaths>;

/** One run's data. */
export const GET: APIRoute<Props> = ({ props }) => Response.json(props.timelines);
