import type { Timeline } from "../lib/timelines";
import type { Explorer } from "./explorer";
import { readState } from "./view-state";

/** How far from the screen a figure wakes. */
const NEAR = "50%";

/**
 * <memory-timelines src="memory_timelines.json"> around a figure of src/lib/markup/figure.ts. The figure is complete without
 * it. When it comes near the screen, or the address names one of its moments, the element fetches the data and adds the
 * crosshair, the legend's buttons and the keys. Until then it does nothing, and without the data it stays that way.
 */
export class MemoryTimelinesElement extends HTMLElement {
  #observer: IntersectionObserver | undefined;
  #explorer: Explorer | undefined;
  #awake = false;

  connectedCallback(): void {
    this.#observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void this.#wake(), {
      rootMargin: NEAR,
    });
    this.#observer.observe(this);
    addEventListener("hashchange", this);
    this.handleEvent();
  }

  disconnectedCallback(): void {
    this.#observer?.disconnect();
    removeEventListener("hashchange", this);
  }

  /** The address changed: shows the moment that it names, if that is one of this figure. */
  handleEvent(): void {
    const figure = this.querySelector("figure");
    const state = figure && readState(location.hash, figure.id);
    if (!state) return;
    void this.#wake().then(() => {
      this.#explorer?.show(state);
      figure.scrollIntoView();
    });
  }

  /** Makes the figure explorable with data at hand: by mode, the key that its panel names. */
  async explore(timelines: Readonly<Record<string, Timeline>>): Promise<void> {
    this.#awake = true;
    this.#observer?.disconnect();
    const figure = this.querySelector("figure");
    const { Explorer } = await import("./explorer");
    if (figure) this.#explorer = new Explorer(figure, timelines);
  }

  async #wake(): Promise<void> {
    const src = this.getAttribute("src");
    if (this.#awake || !src) return;
    this.#awake = true;
    try {
      const response = await fetch(src);
      if (response.ok) await this.explore((await response.json()) as Record<string, Timeline>);
    } catch {
      // Offline, or the file is gone: the picture, its words and its table are all there already.
    }
  }
}

customElements.define("memory-timelines", MemoryTimelinesElement);
