import type { APIRoute, InferGetStaticPropsType } from "astro";
import { loadPlans } from "../../../lib/plans";
import { served } from "../../../lib/served";

export function getStaticPaths() {
  return loadPlans().map(({ name, file }) => ({ params: { name }, props: { file } }));
}

type Props = InferGetStaticPropsType<typeof getStaticPaths>;

/** One plan's data. */
export const GET: APIRoute<Props> = ({ props }) => served(props.file, "application/json");
