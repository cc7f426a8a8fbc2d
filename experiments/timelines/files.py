"""Files that are replaced whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from timelines.errors import UsageError


@contextlib.contextmanager
def replacing(directory: Path) -> Iterator[Path]:
    """Yields an empty folder; when the block ends, each file in it takes its place in `directory`, atomically.

    If the block raises, or the process dies in it, the files already in `directory` stay as they were.

    Raises:
        UsageError: `directory` cannot be made or written to, which shows before the block runs; or a folder has the
            name of a file.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        new = tempfile.TemporaryDirectory(prefix=".new-", dir=directory)
    except OSError as error:
        raise UsageError(
            f"cannot write to the folder {directory} ({error.strerror}); name another, or change its permissions"
        ) from error
    with new as name:
        yield Path(name)
        for path in sorted(Path(name).iterdir()):
            path.chmod(0o644)
            try:
                os.replace(path, directory / path.name)
            except OSError as error:
                raise UsageError(
                    f"cannot write {directory / path.name} ({error.strerror}); name another file"
                ) from error


def write_text(path: Path, text: str) -> None:
    """Writes `path` whole or leaves it as it was. Raises UsageError if its folder cannot be written to."""
    with replacing(path.parent) as new:
        (new / path.name).write_text(text, encoding="utf-8")
