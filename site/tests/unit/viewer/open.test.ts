import { describe, expect, it } from "vitest";
import { open } from "../../../src/viewer/open";
import { complaint, fixture, gzip, json } from "./opening";
import { sample } from "../sample";

const text = (words: string) => new TextEncoder().encode(words);

describe("open", () => {
  it("tells files by what is in them, gzipped or not", async () => {
    const files = [
      json(sample()),
      fixture("profiler.json"),
      fixture("profiler.raw.json.gz"),
      fixture("snapshot-4.pickle"),
    ];
    for (const bytes of files) {
      const { kind, traces } = await open(bytes);
      const again = await open(gzip(bytes));
      expect(again.kind).toBe(kind);
      expect(again.traces).toEqual(traces);
    }
  });
  it("reads a file that begins with blank lines", async () => {
    expect((await open(text(`\n\n  ${JSON.stringify(sample())}`))).kind).toBe("memory_timelines");
  });
  it.each<[string, Uint8Array<ArrayBuffer>, RegExp]>([
    ["an empty file", text(""), /^This file is empty\.$/],
    ["an empty gzip file", gzip(text("")), /^This file is empty\.$/],
    [
      "a web page",
      text("<!doctype html><title>x</title>"),
      /^This is a web page or XML\. Expected is a memory_timelines/,
    ],
    ["a picture", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10]), /^This file is of another kind\./],
    ["an archive", text("PK\x03\x04"), /^This file is of another kind\./],
    ["blanks", text("   \n "), /^This file is of another kind\./],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0]), /^This file is of another kind\./],
    ["bytes that are no text", new Uint8Array([0x7b, 0xff, 0xff, 0x7d]), /^This file is of another kind\./],
    ["JSON that is cut off", text('{"categories": ['), /^This JSON is cut off or damaged: .+\.$/],
    ["gzip that is cut off", gzip(text("[1, 2, 3]")).slice(0, 12), /^This compressed file is cut off or damaged\.$/],
    ["JSON of another kind", json({ a: 1 }), /^This is JSON, but of another kind\. Expected is/],
    ["a list", json([1, 2, 3]), /^This is JSON, but of another kind\./],
    ["an empty list", json([]), /^This is JSON, but of another kind\./],
    ["a Chrome trace", json({ traceEvents: [] }), /^This is a trace of torch\.profiler without its memory timeline\./],
  ])("says what is wrong with %s", async (_, bytes, sentence) => {
    expect(await complaint(bytes)).toMatch(sentence);
  });
  it("doesn't unpack a bomb", async () => {
    let bomb = new Uint8Array(64 << 20);
    bomb = gzip(bomb);
    const many = new Uint8Array(bomb.length * 17);
    for (let i = 0; i < 17; i++) many.set(bomb, i * bomb.length); // gzip members one after the other are one file
    expect(await complaint(many)).toMatch(/larger than 1024 MiB|cut off or damaged/);
  });
});
