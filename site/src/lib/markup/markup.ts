/** Markup that may be put into a page as it is. Only the tag below makes it. */
export class Markup {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

type Part = Markup | string | number | false | null | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * A template of HTML or SVG: markup`<b title="${text}">${text}</b>`. What is put in is escaped unless it is markup itself, so
 * a name out of somebody's file stays text; lists are joined, and false, null and undefined leave nothing. Indentation is
 * left out, line breaks are kept.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const [first = "", ...rest] = strings.map((text) => text.replace(/\n\s+/g, "\n"));
  return new Markup(rest.reduce((text, string, i) => text + written(parts[i]) + string, first));
}

function written(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === "string") return part.replace(/[&<>"]/g, (c) => ENTITIES[c] ?? c);
  if (typeof part === "number") return String(part);
  return part ? part.map(written).join("") : "";
}
