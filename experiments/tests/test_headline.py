import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from timelines import contract, devices, headline
from timelines.errors import UsageError
from workloads.linear_stack import LinearStack

EXPERIMENTS = Path(__file__).parents[1]
TINY = headline.Plan(LinearStack(16, 64, 3), torch.device("cpu"), "for-loop", warmup_steps=1, timed_steps=2)
FILES = ["backprop.json", "counters.json", "default.json", "memory_timelines.json"]


@pytest.mark.parametrize("implementation", ["for-loop", "foreach", "fused"])
def test_a_run_prints_the_lines_and_writes_the_files(
    implementation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    plan = headline.Plan(TINY.stack, TINY.device, implementation, 1, 2)
    written = headline.run(plan, tmp_path / "out")
    printed = capsys.readouterr()
    expected = (
        r"updates match default: True\n"
        r"default: \d+\.\d ms per training step, peak allocated 0\.0 GB\n"
        r"backprop: \d+\.\d ms per training step, peak allocated 0\.0 GB\n"
    )
    assert re.fullmatch(expected, printed.out)  # no line of CUDA's counters, which a CPU does not have
    assert "cudaMalloc" not in printed.out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == FILES
    document = contract.read(tmp_path / "out" / "memory_timelines.json")
    assert document == written
    assert document["workload"]["optimizer"]["implementation"] == implementation
    assert document["workload"]["parameters"] == 3 * 64**2 + 64 + 1
    for mode in contract.MODES:
        times, rows = json.loads((tmp_path / "out" / f"{mode}.json").read_text())
        assert len(times) == len(rows)
        assert {len(row) for row in rows} == {9}
        assert round(max(sum(row) for row in rows) / 1e9, 4) == document[mode]["peak_gb"]
        assert document[mode]["timed_steps"] == 2
        assert document[mode]["cuda_mallocs_per_step"] is None
    assert document["backprop"]["peak_gb"] <= document["default"]["peak_gb"]
    counters = json.loads((tmp_path / "out" / "counters.json").read_text())
    assert counters["default"]["reserved_gb"] is None


def test_progress_names_every_phase_with_the_time_left(capsys: pytest.CaptureFixture[str]):
    assert headline.run(TINY, None) is None
    lines = capsys.readouterr().err.splitlines()
    for mode in contract.MODES:
        for phase in ("building the model on cpu", "1 warm-up steps", "2 timed steps", "1 profiled step"):
            assert any(f"] {mode}: {phase}" in line for line in lines)
    assert all(re.match(r"\[(about \d+ (s|min) left|time left: known after the first step)\] ", line) for line in lines)


def test_a_run_killed_midway_leaves_the_old_data(tmp_path: Path):
    headline.run(TINY, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    code = (
        "import os, pathlib, signal, sys; sys.path.insert(0, 'tests')\n"
        "from test_headline import TINY; from timelines import headline\n"
        "taken = headline.TrainingStep.__call__\n"
        "def step(self, **phase):\n"
        "    if hasattr(self.optimizer, 'paused') and phase: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    taken(self, **phase)\n"
        "headline.TrainingStep.__call__ = step\n"
        f"headline.run(TINY, pathlib.Path({str(tmp_path)!r}))"
    )
    killed = subprocess.run([sys.executable, "-c", code], cwd=EXPERIMENTS, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert "default: " in killed.stdout  # it had finished one mode
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == before


def test_a_run_that_raises_midway_leaves_the_old_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    headline.run(TINY, tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in FILES}
    monkeypatch.setattr(headline.environment, "describe", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        headline.run(TINY, tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--device", "tpu"], "unknown device 'tpu'; choose auto, cpu, cuda or cuda:N"),
        (["--device", "meta"], "unknown device 'meta'; choose auto, cpu, cuda or cuda:N"),
        (["--device", "cuda:7"], "there is no device cuda:7 here; torch sees 0 CUDA devices, so take cpu"),
        (
            ["FILE/out"],
            "cannot write to the folder FILE/out (Not a directory); name another, or change its permissions",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    (tmp_path / "FILE").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        headline.main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"backprop.py: error: {sentence}\n"


@pytest.mark.parametrize("arguments", [["--size", "huge"], ["--optimizer-impl", "magic"]])
def test_an_unknown_choice_is_refused_by_the_parser(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        headline.main(arguments)
    assert stopped.value.code == 2
    assert "invalid choice" in capsys.readouterr().err


def test_a_size_that_does_not_fit_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 10**9)
    with pytest.raises(UsageError, match=r"size full needs about \d+ GB on cpu, where 1.0 GB are free; .*--size quick"):
        headline.plan("cpu", "full")
    assert headline.plan("cpu", "quick").stack.width == 1024


def test_a_full_size_step_on_the_cpu_is_timed_fewer_times(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 10**12)
    assert headline.plan("cpu", "full").timed_steps == 2
    assert headline.plan("cpu").timed_steps == 20


def test_the_command_that_is_recorded_names_no_folder_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert headline._shown(tmp_path) == "OUT"
    monkeypatch.chdir(tmp_path)
    assert headline._shown(Path("data/cpu")) == "data/cpu"


def test_backprop_py_measures_straight_from_the_tree(tmp_path: Path):
    """No package installed: only the folder that backprop.py is in is on the path."""
    code = (
        "import runpy, sys\n"
        "sys.modules['jsonschema'] = sys.modules['typer'] = sys.modules['rich'] = None\n"
        "sys.argv = ['backprop.py', 'OUT', '--device', 'nowhere']\n"
        f"runpy.run_path({str(EXPERIMENTS / 'backprop.py')!r}, run_name='__main__')"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(EXPERIMENTS)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.stderr == "backprop.py: error: unknown device 'nowhere'; choose auto, cpu, cuda or cuda:N\n"
    assert done.returncode == 2


def test_a_copied_backprop_py_says_what_it_lacks(tmp_path: Path):
    (tmp_path / "backprop.py").write_text((EXPERIMENTS / "backprop.py").read_text())
    done = subprocess.run(
        [sys.executable, "-S", "-c", _RUN_ALONE, *sys.path], cwd=tmp_path, capture_output=True, text=True
    )
    assert "timelines/ and workloads/" in done.stderr
    assert "Traceback" not in done.stderr


_RUN_ALONE = (
    "import runpy, sys\n"
    "sys.path[:] = [p for p in sys.argv[1:] if 'experiments' not in p]; sys.meta_path[:] = sys.meta_path[-1:] + "
    "[f for f in sys.meta_path[:-1] if 'Frozen' in repr(f) or 'Builtin' in repr(f)]\n"
    "runpy.run_path('backprop.py', run_name='__main__')"
)
