import io
import sys

from rich.console import Console

from timelines.bench import bar
from timelines.progress import Progress


def test_a_bar_on_a_terminal_counts_and_names_the_phase():
    screen = io.StringIO()
    shown = bar.Bar(4, Console(file=screen, force_terminal=True, width=100))
    try:
        shown.phase("small-tensors: [step] times")
        shown.step_done()
        shown.phase("the rest")
        shown.step_done(2)
    finally:
        shown.close()
    assert shown.done == 3
    last = screen.getvalue().rpartition("1/4")[2]
    assert "3/4" in last
    assert "s left: the rest" in last
    assert "\u2501" in last  # the bar


def test_lines_where_there_is_no_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    shown = bar.progress(2)
    assert type(shown) is Progress
    shown.phase("a phase")
    shown.close()
    assert screen.getvalue() == "[time left: known after the first step] a phase\n"
