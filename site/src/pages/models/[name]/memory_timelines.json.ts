import type { APIRoute, InferGetStaticPropsType } from "astro";
import { loadPlans } from "../../../lib/plans";

export function getStaticPaths() {
  return loadPlans().map(({ name, timelines }) => ({ params: { name }, props: { timelines } }));
}

type Props = InferGetStaticPropsType<typeof getStaticPaths>;

/** One plan's data. */
export const GET: APIRoute<Props> = ({ props }) => Response.json(props.timelines);
