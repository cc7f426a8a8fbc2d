import { ViewerError } from "./error";

/** All that compressed bytes hold, unless it is more than `most`. */
export async function unpack(bytes: Uint8Array, format: CompressionFormat, most: number): Promise<Uint8Array> {
  const reader = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream(format)).getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const chunk = await reader.read().catch(() => {
      throw new ViewerError("its compressed data are broken or cut off; copy or export it again");
    });
    if (!chunk.value) break;
    size += chunk.value.length;
    if (size > most) {
      reader.cancel().catch(() => undefined);
      throw new ViewerError(
        `it unpacks to more than ${(most / 2 ** 30).toLocaleString("en")} GiB, which is too much here; record fewer steps`,
      );
    }
    chunks.push(chunk.value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
