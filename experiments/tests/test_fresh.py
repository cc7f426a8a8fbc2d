import os

import pytest

from timelines import fresh
from timelines.bench import models
from timelines.errors import UsageError


def test_what_a_call_returns_comes_back():
    assert fresh.call(sorted, [3, 1, 2]) == [1, 2, 3]
    assert fresh.call(os.getpid) != os.getpid()


def test_a_process_that_dies_and_a_call_that_raises():
    assert fresh.call(os._exit, 3) == "its process ended with status 3"
    assert fresh.call(int, "x") == "ValueError: invalid literal for int() with base 10: 'x'"


def test_what_can_be_put_right_is_raised_here():
    with pytest.raises(UsageError, match=r"^unknown model 'a'; choose b$"):
        fresh.call(models.chosen, "model", {"b": 1}, ["a"])


def test_a_reason_is_one_short_line():
    assert fresh.reason(ImportError("\n  not installed.\n  Please\n" + "x" * 300)) == (
        "ImportError: " + ("not installed. Please " + "x" * 300)[:200]
    )
