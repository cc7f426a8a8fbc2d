import type { Unit } from "./format";

/** Round numbers from 0 to `max`, at most `most` steps of 1, 2 or 5 times a power of ten. */
export function ticks(max: number, most: number): number[] {
  if (!(max > 0) || most < 1) return [0];
  const rough = max / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough * (1 - 1e-9)) ?? 10 * power;
  const n = Math.floor(max / step + 1e-9);
  // Multiplying by a fraction such as 0.2 leaves 0.6000000000000001; 12 figures don't.
  return Array.from({ length: n + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** From this long on, a time axis counts in seconds. */
const SECONDS_FROM_MS = 10_000;

/** Where the time axis has its ticks, in ms, and what they say; the last one says the unit. */
export function timeTicks(maxMs: number, most: number): { ms: number; text: string }[] {
  const unit = maxMs >= SECONDS_FROM_MS ? 1000 : 1;
  const values = ticks(maxMs / unit, most);
  const name = unit === 1 ? "ms" : "s";
  return values.map((v, i) => ({ ms: v * unit, text: i === values.length - 1 ? `${v} ${name}` : String(v) }));
}

/** The memory axis, the same way. */
export function memoryTicks(maxGb: number, most: number, unit: Unit): { gb: number; text: string }[] {
  const values = ticks(maxGb * unit.perGb, most);
  return values.map((v, i) => ({
    gb: v / unit.perGb,
    text: i === values.length - 1 ? `${v} ${unit.name}` : String(v),
  }));
}
