import { describe, expect, it } from "vitest";
import { label } from "../../../src/viewer/trace";
import { gzip, refusal, utf8 } from "./files";

const OPENS = "open a memory_timelines.json, what torch.profiler's export_memory_timeline wrote";
const bytes = (...values: number[]) => Uint8Array.from(values);
const utf16 = (text: string, mark: boolean) =>
  Uint8Array.from([...(mark ? [0xff, 0xfe] : []), ...[...text].flatMap((c) => [c.charCodeAt(0), 0])]);

describe("one sentence for each file of another kind", () => {
  it.each<[string, Uint8Array | string, string]>([
    ["an empty file", "", "it is empty"],
    ["white space", " \n", "it is no file that this viewer knows"],
    ["a PNG", bytes(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10), "it is an image"],
    ["a JPEG", bytes(0xff, 0xd8, 0xff, 0xe0), "it is an image"],
    ["a GIF", "GIF89a", "it is an image"],
    ["a PDF", "%PDF-1.7", "it is a PDF"],
    ["a zip", bytes(0x50, 0x4b, 3, 4, 0), "it is a zip archive, as torch.save writes"],
    ["a web page", "<!doctype html><p>", "it is a web page"],
    ["prose", "hello", "it is no file that this viewer knows"],
    ["a number", "3", "it is no file that this viewer knows"],
    ["a Chrome trace", '{"schemaVersion": 1, "traceEvents": [', "it is a Chrome trace"],
    ["JSON of another kind", '{"a": 1}', "it is JSON, but of another kind"],
    ["JSON with __proto__", '{"__proto__": {"default": 1}}', "it is JSON, but of another kind"],
    ["UTF-16", utf16('{"default": 1}', true), "it is UTF-16 or binary"],
    ["UTF-16 without its mark", utf16('{"default": 1}', false), "it is UTF-16 or binary"],
  ])("%s", async (_, file, reason) => {
    const message = await refusal(file);
    expect(message).toContain(`x.json: ${reason}`);
    expect(message).toContain(OPENS);
    expect(message).toMatch(/^[^\n]+[^.]\.$/);
  });

  it.each<[string, Uint8Array | string, RegExp]>([
    ["JSON that is cut off", '{"default": {"t": [0, 1', /^x\.json: this is not JSON: .+[^.]\.$/],
    ["Latin-1", Uint8Array.from([...utf8('{"default": "'), 0xe9, ...utf8('"}')]), /^x\.json: this is not UTF-8/],
    ["lists 200,000 deep", `{"default": ${"[".repeat(2e5)}${"]".repeat(2e5)}}`, /^x\.json: .+\.$/],
    ["brackets 200,000 deep", "[".repeat(2e5), /^x\.json: .+\.$/],
  ])("%s", async (_, file, sentence) => {
    expect(await refusal(file)).toMatch(sentence);
  });
});

describe("gzip", () => {
  it("that is broken or cut off", async () => {
    const packed = await gzip(utf8("[[1,2],[3]]".repeat(100)));
    const broken = packed.map((byte, i) => (i === 20 ? byte ^ 0xff : byte));
    for (const file of [bytes(0x1f, 0x8b), packed.slice(0, -1), packed.slice(0, 12), broken])
      expect(await refusal(file)).toBe("x.json: its compressed data are broken or cut off; copy or export it again.");
  });
  it("inside gzip", async () => {
    expect(await refusal(await gzip(await gzip(utf8("[]"))))).toContain("it is compressed twice");
  });
  it("that unpacks to more than may be", async () => {
    const bomb = await gzip(new Uint8Array(2e6));
    expect(await refusal(bomb, "x.json", 2 ** 20)).toContain("it unpacks to more than 0.001 GiB");
  });
});

it("keeps a sentence on one line whatever the file is called", async () => {
  expect(await refusal("", `a\n${"b".repeat(200)}`)).toMatch(/^a b{75}\.\.\.: it is empty; .+\.$/);
  expect(await refusal("", "")).toMatch(/^This file: it is empty; /);
});

it.each([
  ["run.json", "run"],
  ["a/b\\run 2.raw.json.gz", "run 2"],
  ["snapshot.pickle", "snapshot"],
  ["my.model.json.gz", "my.model"],
  ["noending", "noending"],
  [".json", "trace"],
  ["", "trace"],
])("labels %s as %s", (name, shown) => expect(label(name)).toBe(shown));
