import { SERIES, slug, type Series } from "../lib/categories";

/** What a reader sees in a figure: the moment that is read, ms, and the series taken out of the stack. */
export interface ViewState {
  ms: number | null;
  hidden: readonly Series[];
}

/** The state of the figure `id` in an address: `#memory=412.3&without=input.temporary`. Undefined where it has none. */
export function readState(hash: string, id: string): ViewState | undefined {
  const parts = new URLSearchParams(hash.slice(1));
  const moment = parts.get(id);
  if (moment === null || !hash.includes("=")) return undefined;
  const without = parts.get("without")?.split(".") ?? [];
  const ms = moment === "" ? NaN : Number(moment);
  return { ms: Number.isFinite(ms) ? ms : null, hidden: SERIES.filter((series) => without.includes(slug(series))) };
}

/** The same state as an address's hash, beside what else `hash` says; empty where there is nothing to tell. */
export function writeState({ ms, hidden }: ViewState, id: string, hash = ""): string {
  const parts = hash
    .slice(1)
    .split("&")
    .filter((part) => part.includes("=") && !part.startsWith(`${id}=`) && !part.startsWith("without="));
  if (ms !== null || hidden.length > 0) parts.push(`${id}=${ms === null ? "" : Number(ms.toFixed(3))}`);
  if (hidden.length > 0) parts.push(`without=${hidden.map(slug).join(".")}`);
  return parts.length > 0 ? `#${parts.join("&")}` : "";
}
