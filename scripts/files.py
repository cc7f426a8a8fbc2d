"""Reading a memory_timelines.json and writing what is made from it, for the commands in this folder."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# The commands run straight from the tree with a bare `python3 scripts/...`, for instance on a GPU machine where nothing
# can be installed, so the package that defines the contract is found by its place beside this folder.
sys.path.insert(0, str(ROOT / "experiments"))

from timelines import categories, contract  # noqa: E402 (the line above makes it importable)

__all__ = ["MODES", "ROOT", "Stop", "categories", "contract", "exit_code", "read", "write"]


MODES = contract.MODES


class Stop(Exception):
    """What is wrong, in one sentence for the person who gave the command."""


def read(path: Path) -> dict[str, Any]:
    """A valid memory_timelines.json.

    Raises:
        Stop: the file is missing, is not JSON, or breaks the contract.
    """
    try:
        return contract.read(path)
    except contract.ContractError as error:
        raise Stop(str(error)) from error


def write(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all: whoever reads it meanwhile sees the old one.

    Raises:
        Stop: the folder or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            # mkstemp makes a private file; the result should be as readable as any other new file.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise Stop(f"cannot write {path}: {error.strerror or error}") from error


def exit_code(command: str, job: Callable[[], None]) -> int:
    """Does the job of a command; 0, or 2 after saying on stderr what stopped it."""
    try:
        job()
    except Stop as stop:
        print(f"{command}: {stop}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"{command}: this Python lacks {error.name}; 'make setup' installs all that is needed", file=sys.stderr)
        return 2
    return 0
