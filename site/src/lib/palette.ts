import { SERIES, slug, type Category, type Series } from "./categories.ts"; // with its ending, since astro.config.mjs imports this

/** data/palette.json: one colour per category and theme, sRGB as #rrggbb. */
export type Palette = Readonly<Record<Category, { light: string; dark: string }>>;

/** Of what has no category: no hue, so that it is no eighth category. */
const UNKNOWN = { light: "#8d8d8d", dark: "#7d7d7d" } as const;
const INKS = ["#ffffff", "#111111"] as const;
/** Pages that coloured words must be readable on: the least favourable of each theme. */
const SURFACES = { light: "#f3f1eb", dark: "#1d2025" } as const;
/** WCAG AA for text. */
const READABLE = 4.5;

function channels(hex: string): number[] {
  if (!/^#[0-9a-f]{6}$/i.test(hex)) throw new Error(`palette: ${JSON.stringify(hex)} is not a colour like #rrggbb`);
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
}

/** Linear-light red, green and blue. */
export function linear(hex: string): number[] {
  return channels(hex).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
}

/** WCAG contrast, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [a, b]
    .map((hex) => {
      const [red = 0, green = 0, blue = 0] = linear(hex);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    })
    .sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** White or near-black, whichever reads better on `fill`. */
export function ink(fill: string): string {
  return contrast(fill, INKS[0]) >= contrast(fill, INKS[1]) ? INKS[0] : INKS[1];
}

/** `colour`, moved towards the surface's opposite until words in it can be read on the surface. */
export function wordColour(colour: string, surface: string): string {
  const target = ink(surface);
  for (let share = 0; ; share += 0.04) {
    const mixed = mix(colour, target, Math.min(share, 1));
    if (share >= 1 || contrast(mixed, surface) >= READABLE) return mixed;
  }
}

function mix(a: string, b: string, share: number): string {
  const other = channels(b);
  const mixed = channels(a).map((c, i) => Math.round(255 * (c + ((other[i] ?? 0) - c) * share)));
  return `#${mixed.map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Custom properties and classes for the series. `fill-…` paints a shape, `ink-…` a label on that shape, `word-…` its
 * name in running text. light-dark() follows color-scheme, so a figure or a print sheet can force one.
 */
export function paletteCss(palette: Palette): string {
  const both = (light: string, dark: string) => (light === dark ? light : `light-dark(${light},${dark})`);
  const colours: Record<Series, { light: string; dark: string }> = { ...palette, UNKNOWN };
  const properties = SERIES.map((series) => {
    const { light, dark } = colours[series];
    const name = `--${slug(series)}`;
    return [
      `${name}:${both(light, dark)}`,
      `${name}-ink:${both(ink(light), ink(dark))}`,
      `${name}-word:${both(wordColour(light, SURFACES.light), wordColour(dark, SURFACES.dark))}`,
    ].join(";");
  });
  const classes = SERIES.map((series) => {
    const name = slug(series);
    return `.fill-${name}{fill:var(--${name})}.ink-${name}{fill:var(--${name}-ink)}.word-${name}{color:var(--${name}-word)}`;
  });
  return `:root{${properties.join(";")}}\n${classes.join("\n")}\n`;
}
