import { duration } from "../lib/format";
import type { Timeline } from "../lib/timelines";
import { nextChange, nextPeak } from "./moments";

const HINT =
  "← → next change · Page Up, Page Down a tenth · Home, End · P peak · Esc lets go. Click a name above to take it out.";

/** The one tab stop over all plots of a figure: a slider whose value is a moment of the step. */
export class Slider {
  readonly #element = document.createElement("div");
  readonly #timelines: readonly Timeline[];
  readonly #move: (ms: number | null) => void;
  #ms: number | null = null;

  constructor(
    figure: Element,
    timelines: readonly Timeline[],
    readonly maxMs: number,
    move: (ms: number | null) => void,
  ) {
    this.#timelines = timelines;
    this.#move = move;
    const hint = document.createElement("p");
    hint.id = `${figure.id}-keys`;
    hint.className = "keys";
    hint.textContent = HINT;
    Object.assign(this.#element, {
      className: "cursor",
      role: "slider",
      tabIndex: 0,
      ariaLabel: "Moment of the step",
      ariaValueMin: "0",
      ariaValueMax: String(maxMs),
    });
    this.#element.setAttribute("aria-describedby", hint.id);
    this.#element.addEventListener("keydown", (event) => this.#key(event));
    figure.querySelector(".panels")?.append(this.#element, hint);
    this.say(null, []);
  }

  /** What a screen reader says of the moment; `words` has a sentence for each mode. */
  say(ms: number | null, words: readonly string[]): void {
    this.#ms = ms;
    this.#element.ariaValueNow = String(ms ?? 0);
    this.#element.ariaValueText = ms === null ? "no moment chosen" : `${duration(ms)}. ${words.join(". ")}`;
  }

  #key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = this.#target(event.key);
    if (to === undefined) return;
    event.preventDefault();
    this.#move(to);
  }

  #target(key: string): number | null | undefined {
    const ms = this.#ms ?? 0;
    const tenth = this.maxMs / 10;
    switch (key) {
      case "ArrowRight":
      case "ArrowUp":
        return this.#ms === null ? 0 : (nextChange(this.#timelines, ms, 1) ?? this.maxMs);
      case "ArrowLeft":
      case "ArrowDown":
        return this.#ms === null ? this.maxMs : (nextChange(this.#timelines, ms, -1) ?? 0);
      case "PageUp":
        return ms + tenth;
      case "PageDown":
        return ms - tenth;
      case "Home":
        return 0;
      case "End":
        return this.maxMs;
      case "p":
      case "P":
        return nextPeak(this.#timelines, this.#ms);
      case "Escape":
        return null;
      default:
        return undefined;
    }
  }
}
