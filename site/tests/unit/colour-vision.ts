import { linear } from "../../src/lib/palette";

/**
 * How colours look to people without one kind of cone: matrices on linear RGB for full severity, from Machado, Oliveira
 * and Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency (2009), table 1.
 */
const VISION = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
} as const;

export type Vision = keyof typeof VISION;
export const VISIONS = Object.keys(VISION) as Vision[];

const times = (matrix: readonly number[], v: readonly number[]) =>
  [0, 3, 6].map((row) => v.reduce((sum, x, i) => sum + (matrix[row + i] ?? 0) * x, 0));

/** Björn Ottosson's Oklab, in which equal distances look about equally different. */
function oklab(rgb: readonly number[]): number[] {
  const cones = times(
    [
      0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
      0.6299787005,
    ],
    rgb,
  ).map(Math.cbrt);
  return times(
    [
      0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662,
      -0.808675766,
    ],
    cones,
  );
}

/** Distance of two colours as one kind of eye sees them; black and white are 100 apart. */
export function distance(a: string, b: string, vision: Vision): number {
  const [p, q] = [a, b].map((hex) => oklab(times(VISION[vision], linear(hex)).map((c) => Math.min(1, Math.max(0, c)))));
  return 100 * Math.hypot(...(p ?? []).map((x, i) => x - (q?.[i] ?? 0)));
}
