/** Numbers as readers see them. Separators are fixed (en), so a build gives the same page everywhere. */

const MINUS = "\u2212";
const NARROW_SPACE = "\u202f";

const signed = (text: string) => text.replace("-", MINUS);

/** A number with `places` decimals and thousands separated by commas: `13,000.50`. */
export function fixed(value: number, places: number): string {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
  return signed(/^-0(\.0*)?$/.test(text) ? text.slice(1) : text);
}

/** How memory is written: GB, or MB or kB where even the largest amount in sight is under 1 GB or 1 MB. */
export interface Unit {
  name: "GB" | "MB" | "kB";
  perGb: number;
  places: number;
  /** All that the data has: it is rounded to 4 places of a GB. */
  allPlaces: number;
}

const GB: Unit = { name: "GB", perGb: 1, places: 2, allPlaces: 4 };
const MB: Unit = { name: "MB", perGb: 1000, places: 1, allPlaces: 1 };

const KB: Unit = { name: "kB", perGb: 1e6, places: 1, allPlaces: 1 };

export function unitFor(largestGb: number): Unit {
  return largestGb < 0.001 ? KB : largestGb < 1 ? MB : GB;
}

/** An amount without its unit, for columns and sums that say it once: `13.76`. */
export function amount(gigabytes: number, unit: Unit = GB): string {
  return fixed(gigabytes * unit.perGb, unit.places);
}

/** `13.76 GB`, `215.0 MB` */
export function memory(gigabytes: number, unit: Unit = GB): string {
  return `${amount(gigabytes, unit)} ${unit.name}`;
}

/** `13.7574 GB` */
export function exactMemory(gigabytes: number, unit: Unit = GB): string {
  return `${fixed(gigabytes * unit.perGb, unit.allPlaces)} ${unit.name}`;
}

/** `18 %` or, below ten, `4.2 %`. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  return `${fixed(value, Math.abs(value) < 9.95 ? 1 : 0)}${NARROW_SPACE}%`;
}

/** `0.31 ms`, `42.6 ms`, `412 ms`, `61.2 s`: three figures, and seconds from ten seconds up. */
export function duration(ms: number): string {
  if (ms >= 10_000) return `${fixed(ms / 1000, ms < 99_950 ? 1 : 0)} s`;
  return `${fixed(ms, ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0)} ms`;
}

/** `805 million`, `6.74 billion`, `12,345`: three figures with the word for their size. */
export function count(value: number): string {
  for (const [size, word] of [
    [1e12, "trillion"],
    [1e9, "billion"],
    [1e6, "million"],
  ] as const) {
    if (value >= size) return `${Number((value / size).toPrecision(3))} ${word}`;
  }
  return fixed(value, 0);
}

/** `1 December 2026`, in UTC. */
export function date(iso: string): string {
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }).format(new Date(iso));
}

/** `a`, `a and b`, `a, b and c`. */
export function list(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
