"""How far the benchmark is: a bar on a terminal, and elsewhere a line for each phase."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Columns

from timelines.progress import Progress


def progress(steps: int) -> Progress:
    """What shows how many of `steps` are done: a bar if stderr is a terminal, else lines."""
    console = Console(stderr=True)
    return Bar(steps, console) if console.is_terminal else Progress(steps)


class Bar(Progress):
    """One line that stays at the bottom: a bar, steps done and in all, what is left of the time, and the phase."""

    def __init__(self, steps: int, console: Console) -> None:
        super().__init__(steps)
        self.columns = Columns(
            BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False), console=console
        )
        self.task = self.columns.add_task("", total=steps)
        self.columns.start()

    def phase(self, text: str) -> None:
        """Shows what has begun."""
        self.columns.update(self.task, description=f"{self.left()}: {text}")

    def step_done(self, count: int = 1) -> None:
        """Counts steps, one by default."""
        super().step_done(count)
        self.columns.advance(self.task, count)

    def close(self) -> None:
        """Leaves the line as it is."""
        self.columns.stop()
