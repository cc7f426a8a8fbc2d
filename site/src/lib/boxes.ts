/** A rectangle in CSS pixels, y downwards. */
export interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export function overlaps(a: Box, b: Box): boolean {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/**
 * Where a box of `width` columns has the most room between a floor and a ceiling (heights per column, so that the floor's
 * highest and the ceiling's lowest point under the box count). Returns the middle of the roomiest stretch.
 */
export function roomiest(
  floor: ArrayLike<number>,
  ceiling: ArrayLike<number>,
  width: number,
): { middle: number; bottom: number; top: number } | undefined {
  const n = Math.min(floor.length, ceiling.length);
  const rooms: { start: number; bottom: number; top: number }[] = [];
  for (let start = 0; start + width <= n; start++) {
    let bottom = -Infinity;
    let top = Infinity;
    for (let c = start; c < start + width; c++) {
      bottom = Math.max(bottom, floor[c] ?? 0);
      top = Math.min(top, ceiling[c] ?? 0);
    }
    rooms.push({ start, bottom, top });
  }
  const best = Math.max(...rooms.map(({ bottom, top }) => top - bottom));
  // A plateau has many equal places; its middle looks chosen, its first one doesn't.
  const equal = rooms.filter(({ bottom, top }) => top - bottom >= best - 1e-9);
  const room = equal[Math.floor(equal.length / 2)];
  return room && { middle: room.start + width / 2, bottom: room.bottom, top: room.top };
}
