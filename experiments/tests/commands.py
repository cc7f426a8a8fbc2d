"""Running the `timelines` command inside a test."""

import sys

import pytest

from timelines import cli


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit status of `timelines ARGUMENTS`."""
    monkeypatch.setattr(sys, "argv", ["timelines", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return int(stopped.value.code or 0)
