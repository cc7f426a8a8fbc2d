import type { Series } from "../lib/categories";
import { unitFor } from "../lib/format";
import type { Timeline } from "../lib/timelines";
import { legendButtons } from "./legend-buttons";
import { PanelView } from "./panel-view";
import { followPointer } from "./pointer";
import { Slider } from "./slider";
import { writeState, type ViewState } from "./view-state";

/** Safari refuses more than a hundred changes of the address in half a minute. */
const ADDRESS_DELAY_MS = 300;

/** Crosshair, read-outs, legend buttons and keys of one figure. */
export class Explorer {
  readonly #figure: HTMLElement;
  readonly #panels: PanelView[];
  readonly #slider: Slider;
  readonly #press: (hidden: ReadonlySet<Series>) => void;
  /** The moment that stays; a mouse passing over shows others meanwhile. */
  #pinned: number | null = null;
  #hidden: ReadonlySet<Series> = new Set();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(figure: HTMLElement, timelines: Readonly<Record<string, Timeline>>) {
    this.#figure = figure;
    const found = [...figure.querySelectorAll<HTMLElement>(".panel")].flatMap((panel) => {
      const timeline = timelines[panel.dataset["mode"] ?? ""];
      return timeline ? [{ panel, timeline }] : [];
    });
    const unit = unitFor(Math.max(...found.map(({ timeline }) => timeline.peak_gb)));
    const { maxMs, topGb, head } = figure.dataset;
    const scale = { maxMs: Number(maxMs), topGb: Number(topGb), head: Number(head), unit };
    this.#panels = found.map(({ panel, timeline }) => new PanelView(panel, timeline, scale));
    this.#slider = new Slider(
      figure,
      found.map(({ timeline }) => timeline),
      scale.maxMs,
      (ms) => this.pin(ms),
    );
    this.#press = legendButtons(figure, (series) => this.#toggle(series));
    followPointer(
      this.#panels.map(({ plot }) => plot),
      {
        over: (fraction) => this.#draw(fraction === null ? this.#pinned : fraction * scale.maxMs),
        pin: (fraction) => this.pin(fraction * scale.maxMs),
      },
    );
  }

  /** What an address names. */
  show({ ms, hidden }: ViewState): void {
    this.#hide(new Set(hidden));
    this.pin(ms);
  }

  /** Keeps the crosshair at a moment; null lets it go, and the read-outs return to the peaks. */
  pin(ms: number | null): void {
    this.#pinned = ms === null ? null : Math.min(Math.max(ms, 0), this.#slider.maxMs);
    this.#draw(this.#pinned);
    this.#address();
  }

  #draw(ms: number | null): void {
    const words = this.#panels.map((panel) => panel.read(ms));
    this.#slider.say(ms, words);
  }

  #toggle(series: Series): void {
    const hidden = new Set(this.#hidden);
    if (!hidden.delete(series)) hidden.add(series);
    this.#hide(hidden);
    this.#draw(this.#pinned);
    this.#address();
  }

  #hide(hidden: ReadonlySet<Series>): void {
    this.#hidden = hidden;
    this.#press(hidden);
    this.#figure.classList.toggle("restacked", hidden.size > 0);
    for (const panel of this.#panels) panel.restack(hidden);
  }

  #address(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const hash = writeState({ ms: this.#pinned, hidden: [...this.#hidden] }, this.#figure.id, location.hash);
      if (hash !== location.hash) history.replaceState(history.state, "", hash || location.pathname + location.search);
    }, ADDRESS_DELAY_MS);
  }
}
