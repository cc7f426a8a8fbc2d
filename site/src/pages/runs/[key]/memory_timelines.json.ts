import type { APIRoute, InferGetStaticPropsType } from "astro";
import { loadRuns } from "../../../lib/runs";
import { served } from "../../../lib/served";

export function getStaticPaths() {
  return loadRuns().map(({ key, file }) => ({ params: { key }, props: { file } }));
}

type Props = InferGetStaticPropsType<typeof getStaticPaths>;

/** One run's data. */
export const GET: APIRoute<Props> = ({ props }) => served(props.file, "application/json");
