"""What a long run is doing and how long it still takes, one line a phase on stderr."""

import sys
import time


class Progress:
    """Counts training steps and extrapolates: steps of one run take about the same time each."""

    def __init__(self, steps: int) -> None:
        self.steps, self.done, self.began = steps, 0, time.perf_counter()

    def phase(self, text: str) -> None:
        """Prints that a phase begins."""
        print(f"[{self.left()}] {text}", file=sys.stderr, flush=True)

    def step_done(self, count: int = 1) -> None:
        """Counts training steps, one by default."""
        self.done += count

    def close(self) -> None:
        """Nothing is left to be shown."""

    def left(self) -> str:
        """How long the rest takes, in words."""
        if not self.done:
            return "time left: known after the first step"
        seconds = (time.perf_counter() - self.began) / self.done * (self.steps - self.done)
        return f"about {seconds:.0f} s left" if seconds < 90 else f"about {seconds / 60:.0f} min left"
