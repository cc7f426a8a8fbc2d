import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import satori from "satori";
import sharp from "sharp";
import { columns } from "./columns";
import { dataDirectory } from "./contract";
import { memory, unitFor } from "./format";
import { markup, type Markup } from "./markup/markup";
import type { Mode } from "./modes";
import type { Palette } from "./palette";
import { areas } from "./stack";

/** What link previews ask for: https://ogp.me and the networks' own pages. */
export const CARD = { width: 1200, height: 630 } as const;

const EDGE = 56;
const PLOT = { width: 520, height: 280 } as const;
const TOP = CARD.height - EDGE - PLOT.height;
const LEFTS = [EDGE, CARD.width - EDGE - PLOT.width];
const [PAPER, INK, QUIET] = ["#fcfbf8", "#211f1c", "#635e56"] as const;
const FAMILY = "Source Serif 4";

/** The picture that is shown beside a link to a page: its title over both modes' plots, as a PNG. */
export async function card(title: string, modes: readonly Mode[]): Promise<Buffer> {
  const topGb = Math.max(...modes.map(({ timeline }) => timeline.peak_gb));
  const unit = unitFor(topGb);
  const heads = modes.map(({ label, timeline }, i) =>
    box({ left: LEFTS[i], top: TOP - 52, width: PLOT.width, fontSize: 30, justifyContent: "space-between" }, [
      box({ position: "relative", color: QUIET }, label),
      box({ position: "relative", fontWeight: 700 }, memory(timeline.peak_gb, unit)),
    ]),
  );
  const size = title.length > 34 ? 54 : 72;
  const heading = box(
    { left: EDGE, top: EDGE - 16, width: CARD.width - 2 * EDGE, fontSize: size, fontWeight: 700 },
    title,
  );
  const words = await satori(box({ ...CARD, color: INK, fontFamily: FAMILY, lineHeight: 1.15 }, [heading, ...heads]), {
    ...CARD,
    fonts: ([400, 700] as const).map((weight) => ({ name: FAMILY, weight, data: font(weight) })),
  });
  const palette = JSON.parse(readFileSync(join(dataDirectory(), "palette.json"), "utf8")) as Palette;
  const plots = modes.map((mode, i) => plot(mode, topGb, LEFTS[i] ?? 0, palette));
  const { width, height } = CARD;
  const drawn = markup`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${PAPER}" />${plots}`;
  return sharp(Buffer.from(`${drawn}${words}</svg>`))
    .png({ palette: true })
    .toBuffer();
}

function plot({ timeline }: Mode, topGb: number, left: number, palette: Palette): Markup {
  const drawn = areas(timeline, columns(timeline, PLOT.width / timeline.end_t), PLOT.height, topGb);
  const paths = drawn.map(
    ({ category, d }) => category !== "UNKNOWN" && markup`<path fill="${palette[category].light}" d="${d}" />`,
  );
  return markup`<svg x="${left}" y="${TOP}" width="${PLOT.width}" height="${PLOT.height}">${paths}</svg>`;
}

/** An element as satori takes it, without React. */
function box(style: Record<string, unknown>, children: unknown) {
  return { type: "div", key: null, props: { style: { display: "flex", position: "absolute", ...style }, children } };
}

function font(weight: 400 | 700): Buffer {
  const file = `@fontsource/source-serif-4/files/source-serif-4-latin-${weight}-normal.woff`;
  return readFileSync(createRequire(join(process.cwd(), "package.json")).resolve(file));
}
