/**
 * The area under a step line, one height for each column of width 1, standing on y = `floor`. Whole units and relative
 * moves keep it short: `M0 9v-3h2v1h1V9z`. Steps, never slopes: memory does not glide from one value to the next.
 */
export function stepArea(heights: ArrayLike<number>, floor: number): string {
  let path = `M0 ${floor}`;
  let level = 0;
  let run = 0;
  for (let i = 0; i < heights.length; i++) {
    const height = Math.round(heights[i] ?? 0);
    if (height !== level) {
      if (run > 0) path += `h${run}`;
      path += `v${level - height}`;
      level = height;
      run = 0;
    }
    run++;
  }
  if (run > 0) path += `h${run}`;
  return level === 0 ? `${path}z` : `${path}V${floor}z`;
}
