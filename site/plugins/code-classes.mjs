// @ts-check
/**
 * Highlighted code without inline styles, which the Content Security Policy forbids. Shiki's "css-variables" theme
 * writes `style="color:var(--astro-code-token-string)"`; this writes `class="token-string"` instead, and styles/code.css
 * says what the tokens look like in light, dark and print.
 *
 * A fence may mark lines: ```python {4,7-9}
 *
 * @type {import("shiki").ShikiTransformer}
 */
export const codeClasses = {
  name: "code-classes",
  pre(node) {
    delete node.properties["style"];
  },
  span(node) {
    const style = node.properties["style"];
    if (typeof style !== "string") return;
    delete node.properties["style"];
    const token = /^color:var\(--astro-code-(token-[a-z-]+)\)$/.exec(style)?.[1];
    if (token) this.addClassToHast(node, token);
    else if (style !== "color:var(--astro-code-foreground)") throw new Error(`unexpected style from Shiki: ${style}`);
  },
  line(node, number) {
    if (markedLines(this.options.meta?.__raw).has(number)) this.addClassToHast(node, "marked");
  },
};

/** The line numbers in `{4,7-9}`. @param {string | undefined} meta */
function markedLines(meta) {
  const numbers = new Set();
  for (const range of /\{([\d,\s-]+)\}/.exec(meta ?? "")?.[1]?.split(",") ?? []) {
    const [first = NaN, last = first] = range.split("-").map(Number);
    for (let n = first; n <= last; n++) numbers.add(n);
  }
  return numbers;
}
