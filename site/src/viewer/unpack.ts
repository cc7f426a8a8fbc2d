import { ViewerError } from "./trace";

/** Decompresses, up to `most` bytes. Throws ViewerError past that, and on data that are cut off or damaged. */
export async function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  format: CompressionFormat,
  most: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
      if (length > most) throw new ViewerError(`Unpacked, this is larger than ${Math.round(most / 2 ** 20)} MiB.`);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error instanceof ViewerError ? error : new ViewerError("This compressed file is cut off or damaged.");
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
