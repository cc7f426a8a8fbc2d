import { expect, it } from "vitest";
import { readingMinutes } from "../../src/lib/reading-time";

const words = (n: number) => "word ".repeat(n);

it("counts prose at 238 words a minute, and at least one minute", () => {
  expect(readingMinutes(words(238 * 7))).toBe(7);
  expect(readingMinutes("")).toBe(1);
});

it("leaves out code, imports and tags", () => {
  const code = `\`\`\`python\n${words(1000)}\n\`\`\``;
  expect(
    readingMinutes(`import A from "./a";\nexport const b = 1;\n\n${words(238 * 2)}\n${code}\n<Table a={1} />`),
  ).toBe(2);
});
