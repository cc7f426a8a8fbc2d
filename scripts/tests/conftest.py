"""What the tests of the scripts share: ways to have the sample changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample import SAMPLE, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the sample as memory_timelines.json after `change(document)`, and returns where."""

    def written(change: Callable[[dict[str, Any]], object] = lambda document: None) -> Path:
        document = copy.deepcopy(SAMPLE)
        change(document)
        path = tmp_path / "memory_timelines.json"
        path.write_text(json.dumps(document))
        return path

    return written


@pytest.fixture
def sample() -> dict[str, Any]:
    return copy.deepcopy(SAMPLE)
