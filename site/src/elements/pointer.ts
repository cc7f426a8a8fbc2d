export interface Follower {
  /** A mouse is over a plot, at this fraction of its width; null once it has left. */
  over: (fraction: number | null) => void;
  /** A click, or a finger that is dragged along. */
  pin: (fraction: number) => void;
}

/** Follows a mouse, a pen or a finger over the plots. Fingers that go up or down still scroll (touch-action: pan-y). */
export function followPointer(plots: readonly SVGSVGElement[], { over, pin }: Follower): void {
  for (const plot of plots) {
    const fraction = ({ clientX }: PointerEvent) => {
      const { left, width } = plot.getBoundingClientRect();
      return Math.min(Math.max((clientX - left) / width, 0), 1);
    };
    plot.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") over(fraction(event));
      else if (event.isPrimary) pin(fraction(event));
    });
    plot.addEventListener("pointerdown", (event) => event.isPrimary && pin(fraction(event)));
    plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && over(null));
  }
}
