"""The picture of growth: what it draws, and what it says of files that are none."""

import json

import pytest

import benchmarks


def row(along, size, contestant, ms, peak):
    return {"along": along, "size": size, "contestant": contestant, "step_ms": {"median": ms}, "peak_bytes": peak}


ROWS = [
    row("layers", 6, "plain fused", 10.0, 3_000_000),
    row("layers", 24, "plain fused", 40.0, 12_000_000),
    row("layers", 6, "backprop fused", 9.0, 2_500_000),
    row("layers", 24, "backprop fused", 37.5, 10_000_000),
    {"along": "layers", "size": 24, "contestant": "a peer", "reason": "ImportError: no"},
]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({"growth": ROWS}))
    return path


def test_it_draws_each_way_and_says_the_figures(source, tmp_path, capsys):
    out = tmp_path / "growth.svg"
    assert benchmarks.main([str(source), "--out", str(out)]) == 0
    drawn = out.read_text()
    assert drawn.startswith("<svg")
    assert "backprop fused, 24 layers: 37.5 ms, 10.0 MB." in drawn
    assert "a peer" not in drawn
    assert "growth.svg" in capsys.readouterr().out


def test_the_lines_go_through_the_points(source):
    time, peak = benchmarks.figure(benchmarks.read(source)).axes
    assert [list(line.get_ydata()) for line in time.lines] == [[10.0, 40.0], [9.0, 37.5]]
    assert [list(line.get_ydata()) for line in peak.lines] == [[3.0, 12.0], [2.5, 10.0]]
    assert [line.get_label() for line in time.lines] == ["plain fused", "backprop fused"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot read {} (No such file or directory); `make bench` writes it"),
        ("{", "{} is no file of `timelines bench`; `make bench` writes one"),
        ("{}", "{} is no file of `timelines bench`; `make bench` writes one"),
        ('{"growth": []}', "{} holds no growth that was measured; `make bench` measures it"),
    ],
)
def test_other_files_get_a_sentence(content, sentence, tmp_path, capsys):
    path = tmp_path / "cpu.json"
    if content is not None:
        path.write_text(content)
    assert benchmarks.main([str(path), "--out", str(tmp_path / "growth.svg")]) == 2
    assert capsys.readouterr().err == f"benchmarks: {sentence.format(path)}\n"
    assert not (tmp_path / "growth.svg").exists()
