// @ts-check
/** rehype-katex only warns of a formula that it can't read, and prints it in red. This, after it, fails the build. */
export function rehypeStrictMath() {
  /** @param {import("hast").Root} _tree @param {import("vfile").VFile} file */
  return (_tree, file) => {
    const bad = file.messages.find((message) => message.source === "rehype-katex");
    if (!bad) return;
    const where = [file.path, bad.line, bad.column].filter((part) => part !== undefined).join(":");
    throw new Error(`${where}: bad formula: ${bad.cause instanceof Error ? bad.cause.message : bad.reason}`);
  };
}
