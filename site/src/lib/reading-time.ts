/** Words in a minute: adults read English prose silently at 238 on average (Brysbaert 2019, doi 10.1016/j.jml.2019.104047). */
const WORDS_PER_MINUTE = 238;

/** Minutes to read an article's Markdown, code and imports left out; at least one. */
export function readingMinutes(markdown: string): number {
  const prose = markdown
    .replaceAll(/^```[\s\S]*?^```/gm, "")
    .replaceAll(/^(import|export) .*$/gm, "")
    .replaceAll(/<[^>]*>|\{[^}]*\}/g, " word ");
  return Math.max(1, Math.round((prose.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) / WORDS_PER_MINUTE));
}
