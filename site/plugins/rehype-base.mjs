// @ts-check
/**
 * Puts the site's base in front of root-relative links and images written in Markdown, which Astro leaves alone.
 *
 * @param {{ base: string }} options
 */
export function rehypeBase({ base }) {
  const prefix = base.replace(/\/$/, "");
  /** @param {import("hast").Root | import("hast").Element} parent */
  const walk = (parent) => {
    for (const node of parent.children) {
      if (node.type !== "element") continue;
      for (const name of ["href", "src"]) {
        const value = node.properties[name];
        if (typeof value === "string" && /^\/(?!\/)/.test(value)) node.properties[name] = prefix + value;
      }
      walk(node);
    }
  };
  return walk;
}
