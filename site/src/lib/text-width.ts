/**
 * How wide words are at 12 px in DejaVu Sans, the widest of the faces that system-ui usually is: what fits in it fits in
 * the others. Measuring a font at build time would be exact for one reader's face only.
 */
const ADVANCE: Readonly<Record<string, number>> = {
  ...each("ijl", 3.35),
  ...each(" .,:;()", 4.2),
  ...each("frt", 4.9),
  ...each("ckszvxy", 7),
  ...each("w", 9.8),
  ...each("mM%", 11.7),
};
const OTHER_LOWER = 7.6;
const OTHER_UPPER = 9;

function each(characters: string, width: number): Record<string, number> {
  return Object.fromEntries([...characters].map((c) => [c, width]));
}

export function textWidth(text: string): number {
  return [...text].reduce((sum, c) => sum + (ADVANCE[c] ?? (/[A-Z]/.test(c) ? OTHER_UPPER : OTHER_LOWER)), 0);
}
