"""scripts/publish, on a copy of this layout whose `make` only lays out a page, with a bare repository as origin."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "publish"
Publish = Callable[..., subprocess.CompletedProcess[str]]


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in {"NAME": "A", "EMAIL": "a@example.org"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    git(tmp_path, "init", "--quiet", "--bare", "origin.git")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "checkout")
    folder = tmp_path / "checkout"
    (folder / "scripts").mkdir()
    shutil.copy(SCRIPT, folder / "scripts")
    (folder / ".gitignore").write_text("site/dist/\n")
    (folder / "page.html").write_text("one")
    (folder / "Makefile").write_text(
        ".PHONY: site\n"
        "site:\n\tmkdir -p site/dist/_astro && cp page.html site/dist/index.html && touch site/dist/_astro/a.css\n"
    )
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    git(folder, "remote", "add", "origin", str(tmp_path / "origin.git"))
    return folder


@pytest.fixture
def publish(checkout: Path) -> Publish:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([checkout / "scripts" / "publish", *arguments], capture_output=True, text=True)

    return run


def published(checkout: Path, what: str = "gh-pages:index.html") -> str:
    return git(checkout.parent / "origin.git", "show", what)


def change(checkout: Path, text: str) -> None:
    (checkout / "page.html").write_text(text)
    git(checkout, "commit", "--quiet", "-am", text)


def test_the_built_site_becomes_the_branch_and_the_checkout_stays_as_it_was(checkout: Path, publish: Publish):
    before = git(checkout, "rev-parse", "HEAD")
    done = publish()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("publish: 3 files are on gh-pages of ")
    names = git(checkout.parent / "origin.git", "ls-tree", "-r", "--name-only", "gh-pages").split()
    assert names == [".nojekyll", "_astro/a.css", "index.html"]
    assert published(checkout) == "one"
    assert git(checkout, "rev-parse", "HEAD") == before
    assert git(checkout, "status", "--porcelain") == ""
    assert git(checkout, "branch", "--format=%(refname:short)").split() == ["main"]


def test_a_second_time_adds_a_commit_and_an_unchanged_site_adds_none(checkout: Path, publish: Publish):
    publish()
    change(checkout, "two")
    assert publish().returncode == 0
    assert published(checkout) == "two"
    assert git(checkout.parent / "origin.git", "rev-list", "--count", "gh-pages") == "2\n"
    assert publish().stdout == "publish: gh-pages already holds this site\n"
    assert git(checkout.parent / "origin.git", "rev-list", "--count", "gh-pages") == "2\n"


def test_dry_run_changes_nothing(checkout: Path, publish: Publish):
    done = publish("--dry-run")
    assert done.returncode == 0
    assert done.stdout.startswith("publish: would put 3 files on gh-pages of ")
    assert git(checkout.parent / "origin.git", "branch") == ""


def untracked(checkout: Path) -> None:
    (checkout / "note.txt").write_text("not committed")


def no_remote(checkout: Path) -> None:
    git(checkout, "remote", "remove", "origin")


def lost_remote(checkout: Path) -> None:
    shutil.rmtree(checkout.parent / "origin.git")


def broken_build(checkout: Path) -> None:
    (checkout / "Makefile").write_text(".PHONY: site\nsite:\n\t@exit 1\n")
    git(checkout, "commit", "--quiet", "-am", "break")


def empty_build(checkout: Path) -> None:
    (checkout / "Makefile").write_text(".PHONY: site\nsite:\n")
    git(checkout, "commit", "--quiet", "-am", "empty")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (untracked, "there are uncommitted changes"),
        (no_remote, "there is no remote named origin"),
        (lost_remote, "cannot reach origin"),
        (broken_build, "the site could not be built"),
        (empty_build, "the build left no site/dist/index.html"),
    ],
)
def test_what_stops_it_is_one_sentence_and_exit_2(
    checkout: Path, publish: Publish, spoil: Callable[[Path], None], reason: str
):
    spoil(checkout)
    done = publish()
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("publish: ")]
    assert len(said) == 1
    assert said[0].startswith(f"publish: {reason}")


def test_an_unknown_option_is_not_taken_for_none(publish: Publish):
    done = publish("--dryrun")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot make sense of '--dryrun'" in done.stderr
