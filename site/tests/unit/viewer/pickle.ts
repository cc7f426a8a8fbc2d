/** Pickles JSON-like values and Maps with protocol 2, integers and floats both as floats where they are no int32. */
export function pickle(value: unknown): Uint8Array {
  const out = [0x80, 2];
  const write = (item: unknown): void => {
    if (item === null || item === undefined) out.push(0x4e);
    else if (typeof item === "boolean") out.push(item ? 0x88 : 0x89);
    else if (typeof item === "number") number(item);
    else if (typeof item === "string") text(item);
    else if (Array.isArray(item)) {
      out.push(0x5d, 0x28);
      item.forEach(write);
      out.push(0x65);
    } else {
      out.push(0x7d, 0x28);
      const entries: Iterable<[unknown, unknown]> = item instanceof Map ? item : Object.entries(item);
      for (const [key, member] of entries) {
        write(key);
        write(member);
      }
      out.push(0x75);
    }
  };
  const number = (n: number) => {
    const view = new DataView(new ArrayBuffer(8));
    const isInt = n === (n | 0);
    if (isInt) view.setInt32(0, n, true);
    else view.setFloat64(0, n);
    out.push(isInt ? 0x4a : 0x47, ...new Uint8Array(view.buffer, 0, isInt ? 4 : 8));
  };
  const text = (characters: string) => {
    const bytes = new TextEncoder().encode(characters);
    out.push(0x58, bytes.length & 255, bytes.length >> 8, 0, 0, ...bytes);
  };
  write(value);
  out.push(0x2e);
  return Uint8Array.from(out);
}
