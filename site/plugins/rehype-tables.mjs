// @ts-check
/** Puts each table into a box that scrolls by itself, so that a wide one never makes the page scroll sideways. */
export function rehypeTables() {
  /** @param {import("hast").Root | import("hast").Element} parent */
  const walk = (parent) => {
    parent.children.forEach((node, i) => {
      if (node.type !== "element") return;
      if (node.tagName !== "table") return walk(node);
      parent.children[i] = {
        type: "element",
        tagName: "div",
        properties: { className: ["table"], tabIndex: 0 }, // focusable, so that the keyboard can scroll it
        children: [node],
      };
    });
  };
  return walk;
}
