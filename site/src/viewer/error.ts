/** What a person is told about a file that can't be shown: one sentence, what is wrong, where, and what to do. */
export class ViewerError extends Error {
  override name = "ViewerError";
}

/** What the viewer opens, as the end of a sentence that tells someone who gave it something else. */
export const OPENS =
  "open a memory_timelines.json, what torch.profiler's export_memory_timeline wrote (.json, .json.gz or " +
  ".raw.json.gz) or a CUDA memory snapshot (.pickle) instead";

/** A value as a message shows it: short, on one line, and never all of a long list. */
export function shown(value: unknown): string {
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return oneLine(JSON.stringify(value) ?? String(value));
}

/** Text without line breaks and other control characters, cut to a length that fits a sentence. */
export function oneLine(text: string, longest = 120): string {
  const flat = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return flat.length > longest ? `${flat.slice(0, longest - 3)}...` : flat;
}
