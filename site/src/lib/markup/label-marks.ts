import { slug } from "../categories";
import { pct } from "../geometry";
import type { Label } from "../labels";
import type { Panel } from "../layout";
import { markup, type Markup } from "./markup";

/** What is written and marked on a plot: the peak, the reserved and the reference line, and the series' names. */
export function labelMarks({ labels, peak, end, reservedY, referenceY }: Panel, head: number): Markup {
  const x = pct(peak.x);
  const across = (kind: string, y: number, to: string) =>
    markup`<line class="${kind}" x1="0" x2="${to}" y1="${round(head + y)}" y2="${round(head + y)}" />`;
  const saving = labels.some(({ kind }) => kind === "saving");
  const down = [round(head + (referenceY ?? 0)), round(head + peak.y)] as const;
  return markup`<g class="marks">
    ${reservedY !== null && across("reserved", reservedY, pct(end))}
    ${referenceY !== null && across("reference", referenceY, "100%")}
    ${saving && markup`<line class="saving" x1="${x}" x2="${x}" y1="${down[0]}" y2="${down[1]}" />`}
    ${labels.map((label) => labelMark(label, head))}
    <circle class="peak-mark" cx="${x}" cy="${down[1]}" r="3.5" />
  </g>`;
}

function labelMark({ kind, text, x, dx, y, anchor, shown, category, leader }: Label, head: number): Markup {
  const line =
    leader &&
    markup`<line
        class="leader"
        x1="${pct(leader.x)}"
        x2="${pct(leader.x)}"
        y1="${round(head + leader.y0)}"
        y2="${round(head + leader.y1)}"
      />
      <circle cx="${pct(leader.x)}" cy="${round(head + leader.y1)}" r="2.5" />`;
  const ink = kind === "area" && category ? ` ink-${slug(category)}` : "";
  const shift = dx ? markup` dx="${round(dx)}"` : null;
  // What names a series is away while the reader takes series out of the stack.
  const naming = category ? " naming" : "";
  return markup`<g class="shown-${shown}${naming}">
    ${line}
    <text class="${kind}${ink}" x="${pct(x)}"${shift} y="${Math.round(head + y)}" text-anchor="${anchor}">${text}</text>
  </g>`;
}

function round(pixels: number): number {
  return Number(pixels.toFixed(2));
}
