import { SERIES, SERIES_LABELS, type Series } from "../lib/categories";
import { columns } from "../lib/columns";
import { amount, duration, memory, type Unit } from "../lib/format";
import { GRID, pct, PLOT } from "../lib/geometry";
import { areas } from "../lib/stack";
import { phaseAt } from "../lib/story";
import { memoryAt, type Timeline } from "../lib/timelines";

export interface Scale {
  maxMs: number;
  topGb: number;
  head: number;
  unit: Unit;
}

/** One plot and its read-out. */
export class PanelView {
  readonly plot: SVGSVGElement;
  readonly #label: string;
  readonly #line: SVGLineElement;
  readonly #when: Element;
  readonly #sum: Element;
  readonly #values: Map<Series, Element>;
  readonly #paths: readonly SVGPathElement[];
  #hidden: ReadonlySet<Series> = new Set();

  constructor(
    panel: HTMLElement,
    readonly timeline: Timeline,
    readonly scale: Scale,
  ) {
    this.plot = part(panel, ".plot");
    this.#label = part(panel, ".name b").textContent ?? "";
    this.#when = part(panel, ".when");
    this.#sum = part(panel, ".sum");
    this.#values = new Map(
      [...panel.querySelectorAll<HTMLElement>(".readout li")].map((item) => [
        item.dataset["series"] as Series,
        part(item, ".value"),
      ]),
    );
    this.#paths = [...panel.querySelectorAll<SVGPathElement>(".areas path")];
    this.#line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    this.#line.setAttribute("class", "crosshair");
    this.#line.setAttribute("y1", String(scale.head));
    this.#line.setAttribute("y2", String(scale.head + PLOT.height));
  }

  /** Writes what is held at a moment, null for the peak, and returns the same in a sentence. */
  read(ms: number | null): string {
    const { timeline, scale } = this;
    const { peak_t, end_t } = timeline;
    const at = ms ?? peak_t;
    const held = memoryAt(timeline, at);
    const shown = [...this.#values.keys()].filter((series) => !this.#hidden.has(series));
    const sum = shown.reduce((total, series) => total + held[series], 0);
    for (const [series, value] of this.#values)
      value.textContent = this.#hidden.has(series) ? "–" : amount(held[series], scale.unit);
    const phase = phaseAt(timeline, at);
    const when = ms === null ? `At the peak, ${duration(at)}` : ms > end_t ? "After its end" : `At ${duration(at)}`;
    this.#when.textContent = phase && at <= end_t ? `${when}, ${phase}` : when;
    this.#sum.textContent = memory(sum, scale.unit);
    if (ms === null) this.#line.remove();
    else {
      this.#line.setAttribute("x1", pct(ms / scale.maxMs));
      this.#line.setAttribute("x2", pct(ms / scale.maxMs));
      this.plot.append(this.#line);
    }
    const parts = shown.filter((series) => held[series] > 0);
    const list = parts.map((series) => `${SERIES_LABELS[series]} ${amount(held[series], scale.unit)}`);
    return `${this.#label}: ${memory(sum, scale.unit)}${phase && ` in ${phase}`}: ${list.join(", ")}`;
  }

  /** Stacks what is left on the same scale. */
  restack(hidden: ReadonlySet<Series>): void {
    this.#hidden = hidden;
    const { timeline, scale } = this;
    const gb = timeline.gb.map((column, c) => {
      const series = SERIES[c];
      return series && hidden.has(series) ? column.map(() => 0) : column;
    });
    const rest = { ...timeline, gb };
    const drawn = areas(rest, columns(rest, (PLOT.width * GRID) / scale.maxMs), PLOT.height * GRID, scale.topGb);
    for (const path of this.#paths)
      path.setAttribute("d", drawn.find(({ category }) => category === path.dataset["series"])?.d ?? "");
  }
}

function part<E extends Element>(of: Element, selector: string): E {
  const found = of.querySelector<E>(selector);
  if (!found) throw new Error(`the figure has no ${selector}`);
  return found;
}
