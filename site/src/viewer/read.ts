import type { Answer } from "./worker";

/** Reads one file in a worker of its own, which ends with it and takes its memory along. The page never waits. */
export function read(file: File): Promise<Answer> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const done = (answer: Answer) => {
      worker.terminate();
      resolve(answer);
    };
    worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => done(data));
    worker.addEventListener("error", () => done({ complaint: `${file.name} is too large for this browser’s memory.` }));
    worker.postMessage(file);
  });
}
