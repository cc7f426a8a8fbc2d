import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from timelines.errors import UsageError
from timelines.files import replacing, write_text


def test_files_appear_when_the_block_ends(tmp_path: Path):
    with replacing(tmp_path / "new" / "folder") as new:
        (new / "a").write_text("1")
        assert list((tmp_path / "new" / "folder").glob("a")) == []
    assert (tmp_path / "new" / "folder" / "a").read_text() == "1"
    assert [p.name for p in (tmp_path / "new" / "folder").iterdir()] == ["a"]


def test_a_block_that_raises_changes_nothing(tmp_path: Path):
    write_text(tmp_path / "a", "old")

    def fail() -> None:
        with replacing(tmp_path) as new:
            (new / "a").write_text("new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (tmp_path / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_process_killed_in_the_block_changes_nothing(tmp_path: Path):
    write_text(tmp_path / "a", "old")
    code = (
        "import os, pathlib, signal; from timelines.files import replacing\n"
        f"with replacing(pathlib.Path({str(tmp_path)!r})) as new:\n"
        "    (new / 'a').write_text('new'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1])
    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "a").read_text() == "old"


def test_a_folder_that_cannot_be_is_refused_before_the_block(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match=r"cannot write to the folder .*file/sub .*; name another"),
        replacing(tmp_path / "file" / "sub"),
    ):
        pytest.fail("the block ran")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which not even root may write")
def test_a_folder_without_permission_is_refused():
    with pytest.raises(UsageError, match=r"cannot write to the folder /proc/self"), replacing(Path("/proc/self")):
        pytest.fail("the block ran")
