"""The scripts that set up Python, Node and Chromium: what they say when something is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The layout that the scripts find their files by."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "site").mkdir()
    (tmp_path / "bin").mkdir()
    for name in ("python-env.sh", "node-env.sh", "chromium.sh", "requirements-node.txt"):
        shutil.copy(SCRIPTS / name, tmp_path / "scripts")
    (tmp_path / "site" / "package.json").write_text('{"engines": {"node": "^22.22.3 || >=24.16.0"}}')
    return tmp_path


def program(tree: Path, name: str, text: str) -> Path:
    path = tree / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def run(tree: Path, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}", **variables}
    return subprocess.run([tree / "scripts" / script], env=environment, capture_output=True, text=True)


def test_a_missing_python_is_one_sentence(tree: Path):
    done = run(tree, "python-env.sh", PYTHON="no-such-python")
    assert done.returncode == 2
    assert done.stderr == (
        "setup: there is no 'no-such-python' here; install Python 3.11 or newer, or name one: "
        "make PYTHON=/path/to/python3\n"
    )


def test_an_old_python_is_one_sentence_with_its_version(tree: Path):
    old = program(tree, "old-python", '[ "$1" = -V ] && echo "Python 3.9.6"; [ "$1" = -V ]')
    done = run(tree, "python-env.sh", PYTHON=str(old))
    assert done.returncode == 2
    assert done.stderr == (
        f"setup: {old} is Python 3.9.6, but 3.11 or newer is needed; name another: make PYTHON=/path/to/python3\n"
    )


def test_a_python_without_ensurepip_is_one_sentence(tree: Path):
    bare = program(tree, "bare-python", 'case "$2" in *version_info*) exit 0 ;; *) exit 1 ;; esac')
    done = run(tree, "python-env.sh", PYTHON=str(bare))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "has no venv or ensurepip module" in done.stderr


def test_a_pip_that_fails_says_how_to_measure_without(tree: Path):
    pip = program(tree, "no-network", 'case "$*" in *"-m pip"*) echo "no route" >&2; exit 1 ;; *) exit 0 ;; esac')
    (tree / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(pip, tree / ".venv" / "bin" / "python")
    done = run(tree, "python-env.sh")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "no route"
    assert "python3 experiments/backprop.py OUT" in done.stderr.splitlines()[1]


@pytest.mark.parametrize("version", ["22.22.3", "22.30.0", "24.16.0", "31.0.0"])
def test_an_own_node_in_range_is_used(tree: Path, version: str):
    node(tree, version)
    done = run(tree, "node-env.sh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("version", ["20.19.0", "22.22.2", "23.99.99", "24.15.9"])
def test_an_own_node_out_of_range_is_named_and_not_used(tree: Path, version: str):
    path = node(tree, version)
    done = run(tree, "node-env.sh", PYTHON=str(program(tree, "no-venv", "exit 1")))
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == (
        f"node: {path} is v{version}, which site/ cannot use; installing one into .node"
    )
    assert done.stderr.splitlines()[-1].startswith("node: ")
    assert not list(tree.glob(".node*"))


def node(tree: Path, version: str) -> Path:
    """A node that says it is of some version and otherwise is the real one, if there is any."""
    real = shutil.which("node")
    if real is None:
        pytest.skip("no node on PATH to stand behind the false one")
    script = f'[ "$1" = -v ] && echo v{version} && exit; c=$2; shift 2; ' + (
        f"""exec {real} -e "Object.defineProperty(process.versions, 'node', {{ value: '{version}' }}); $c" "$@" """
    )
    return program(tree, "node", script)


def test_a_chromium_that_is_not_there_is_one_sentence(tree: Path):
    done = run(tree, "chromium.sh", CHROMIUM="/no/such/chromium")
    assert (done.returncode, done.stderr) == (2, "chromium: CHROMIUM is '/no/such/chromium', which is not a program\n")


def test_a_chromium_that_is_there_is_taken(tree: Path):
    assert run(tree, "chromium.sh", CHROMIUM=str(program(tree, "browser", "exit 0"))).returncode == 0
