"""The pictures: what is in them, that they are the same each time, and what is said when they cannot be made."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from sample import SAMPLE, Write

import facts
import figures
import files
import plot
import render

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["figures/memory_timelines-dark.png", "figures/memory_timelines-dark.svg"]
NAMES += [name.replace("dark", "light") for name in NAMES]


def drawn(source: Path, out: Path) -> dict[str, bytes]:
    assert figures.main([str(source), "--out", str(out)]) == 0
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("pictures")
    (folder / "sample.json").write_text(json.dumps(SAMPLE))
    return drawn(folder / "sample.json", folder / "out")


def area(svg: bytes, mode: str, category: str) -> list[tuple[float, float]]:
    """Corners of an area in the picture's points, y upwards from the baseline."""
    group = ElementTree.fromstring(svg).find(f".//{SVG}g[@id='area-{mode}-{category}']")
    assert group is not None
    path = group.find(f"{SVG}path")
    assert path is not None
    x = y = 0.0
    corners = []
    for command, numbers in re.findall(r"([Mhv])([^Mhvz]*)", path.attrib["d"]):
        values = [float(number) for number in numbers.split()]
        if command == "M":
            x, y = values
        elif command == "h":
            x += values[0]
        else:
            y += values[0]
        corners.append((x, y))
    base = corners[0][1]
    return [(round(x, 2), round(base - y, 2)) for x, y in corners]


def height_at(corners: list[tuple[float, float]], x: float) -> float:
    for (x0, y0), (x1, _) in itertools.pairwise(corners):
        if x0 <= x < x1:
            return y0
    raise AssertionError(f"no level line over {x}")


def test_writes_both_looks_in_both_formats(pictures: dict[str, bytes]):
    assert sorted(pictures) == sorted(NAMES)
    assert struct.unpack(">II", pictures["figures/memory_timelines-light.png"][16:24]) == (2160, 1100)
    assert all(len(content) < 150_000 for name, content in pictures.items() if name.endswith(".svg"))
    assert all(len(content) < 250_000 for content in pictures.values())


def test_the_same_data_gives_the_same_bytes_in_another_process(
    write: Write, pictures: dict[str, bytes], tmp_path: Path
):
    again = tmp_path / "again"
    # Another hash seed and another date, and nothing to import but matplotlib.
    blocked = "import sys; sys.modules.update(dict.fromkeys(['torch', 'jinja2', 'jsonschema', 'rich', 'typer']))"
    code = f"{blocked}; import figures; sys.exit(figures.main([{str(write())!r}, '--out', {str(again)!r}]))"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "1",
        "SOURCE_DATE_EPOCH": "1",
        "PYTHONPATH": str(files.ROOT / "scripts"),
    }
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=environment, stdout=subprocess.DEVNULL)
    assert {name: (again / name).read_bytes() for name in NAMES} == pictures


def test_no_date_and_no_program_name_is_in_a_picture(pictures: dict[str, bytes]):
    for content in pictures.values():
        assert b"Matplotlib" not in content
        assert not re.search(rb"<dc:date>|tIME|\d{4}-\d{2}-\d{2}T", content)


@pytest.mark.parametrize("look", ["light", "dark"])
def test_svg_is_well_formed_named_and_in_its_colours(pictures: dict[str, bytes], look: str):
    svg = pictures[f"figures/memory_timelines-{look}.svg"]
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    description = root.findtext(f"{SVG}desc") or ""
    for part in ("peak 10.40 GB at 60.0 ms", "peak 8.32 GB", "−2.08 GB", "A processor", "AdamW (fused)", "float32"):
        assert part in description
    text = svg.decode()
    palette = json.loads((files.ROOT / "data" / "palette.json").read_text())
    for colours in palette.values():
        assert colours[look] in text
    assert plot.theme(look).surface in text
    identifiers = re.findall(r'\bid="([^"]*)"', text)
    assert len(identifiers) == len(set(identifiers))
    assert set(re.findall(r'href="#([^"]*)"|url\(#([^)]*)\)', text)) <= {
        pair for name in identifiers for pair in ((name, ""), ("", name))
    }


@pytest.mark.parametrize("mode", ["default", "backprop"])
def test_areas_are_the_data_at_random_times(sample: dict[str, Any], pictures: dict[str, bytes], mode: str):
    svg = pictures["figures/memory_timelines-light.svg"]
    timeline = sample[mode]
    names = sample["categories"]
    areas = [area(svg, mode, name) for name in names]
    left = areas[0][0][0]
    # One scale for both modes: found from default's parameters, which are 3 GB all along.
    known = area(svg, "default", "PARAMETER")
    points_per_gb = max(y for _, y in known) / 3
    points_per_ms = (known[-1][0] - known[0][0]) / sample["default"]["end_t"]
    rng = random.Random(7)
    for _ in range(60):
        time = rng.uniform(0, timeline["end_t"] - 0.1)
        if any(0 <= t - time <= 0.25 / points_per_ms or 0 <= time - t <= 0.25 / points_per_ms for t in timeline["t"]):
            continue  # within a cell of a change
        total = 0.0
        for corners, held in zip(areas, facts.held_at(timeline, time), strict=True):
            total += held
            height = height_at(corners, left + time * points_per_ms)
            assert height == pytest.approx(total * points_per_gb, abs=0.2)


def test_a_level_category_is_one_rectangle(pictures: dict[str, bytes]):
    corners = area(pictures["figures/memory_timelines-light.svg"], "default", "PARAMETER")
    assert len(corners) == 4
    assert len({x for x, _ in corners}) == len({y for _, y in corners}) == 2


def test_a_peak_of_a_microsecond_among_many_samples_stays_and_the_file_stays_small(write: Write, tmp_path: Path):
    def long(document: dict[str, Any]) -> None:
        timeline = document["default"]
        count = 14_000
        timeline["t"] = [float(i) for i in range(count)] + [count - 0.999, count - 0.998]
        timeline["gb"] = [[column[i * 10 // count] for i in range(count)] + [0.0, 0.0] for column in timeline["gb"]]
        timeline["gb"][6][-2] = 30.0
        timeline.update(end_t=count, peak_gb=30.0, peak_t=count - 0.999)

    svg = drawn(write(long), tmp_path / "out")["figures/memory_timelines-light.svg"]
    assert len(svg) < 150_000
    top = max(y for _, y in area(svg, "default", "TEMPORARY"))
    points_per_gb = max(y for _, y in area(svg, "default", "PARAMETER")) / 3
    assert top / points_per_gb == pytest.approx(30, rel=0.01)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: [d[m].update(t=[0], gb=[[0.0]] * 7, peak_gb=0, peak_t=0) for m in files.MODES],
        lambda d: d["backprop"].update(d["default"]),
        lambda d: d.update(default=d["backprop"], backprop=d["default"]),
        lambda d: d["default"].update(end_t=90_000.0),
        lambda d: [p.update(start=99, end=99) for p in d["default"]["phases"]],
        lambda d: d["environment"].update(source="simulated", device="$x_1$ & \x07 <b>--></b> " + "long " * 200),
        lambda d: [d["workload"].pop(key) for key in ("layers", "widths")],
    ],
    ids=["nothing held", "equal peaks", "backprop higher", "seconds", "no time in phases", "hostile", "fewest fields"],
)
def test_odd_data_is_drawn_without_a_warning(write: Write, tmp_path: Path, change: Any):
    pictures = drawn(write(change), tmp_path / "out")
    ElementTree.fromstring(pictures["figures/memory_timelines-dark.svg"])


def labels(figure: plot.Figure) -> list[tuple[str, Any]]:
    render.png(figure, dpi=100)  # ticks and legend find their places while drawn, in pixels of this size
    shown = [text for text in figure.findobj(plot.Text) if isinstance(text, plot.Text) and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent()) for text in shown if text.get_visible()]


@pytest.mark.parametrize("shape", ["sample", "equal", "short backward", "late peak", "early peak", "small"])
def test_no_label_is_cut_off_or_on_another(sample: dict[str, Any], shape: str):
    for mode in files.MODES:
        timeline = sample[mode]
        if shape == "equal":
            timeline.update(sample["default"])
        elif shape == "short backward":
            timeline["phases"][1].update(start=30, end=30.2)
            timeline["phases"][2].update(start=30.3)
        elif shape in ("late peak", "early peak"):
            timeline["peak_t"] = 0 if shape == "early peak" else 90
        elif shape == "small":
            timeline["gb"] = [[value / 64 for value in column] for column in timeline["gb"]]
            timeline["peak_gb"] /= 64
    figure = plot.compare(sample, plot.theme("light"))
    shown = labels(figure)
    for text, box in shown:
        assert figure.bbox.x0 <= box.x0, text
        assert box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0, text
        assert box.y1 <= figure.bbox.y1, text
    for (one, box), (other, other_box) in itertools.combinations(shown, 2):
        assert not box.overlaps(other_box), f"{one!r} is on {other!r}"


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        ("M 0 10 \nL 0 5 \nL 2.5 5 \nL 2.5 7.25 \nL 0.5 7.25 \nz\n", "M0 10v-5h2.5v2.25h-2z"),
        ("M 0 0 \nL 0 0 \nL 0.000001 3 \nL 4 3 \nL 4 0 \n", "M0 0v3h4v-3"),
        ("M 0 0 \nL 1 1 \nL 2 0 \nL 3 1 \nL 4 4 \n", "M0 0L1 1L2 0L3 1L4 4"),
        ("M 0 0 \nQ 1 1 2 0 \nz\n", "M0 0Q1 1 2 0z"),
    ],
)
def test_compact_paths(d: str, expected: str):
    assert render.compact(d) == expected


@pytest.mark.parametrize(("fill", "text"), [("#000000", "#ffffff"), ("#ffffff", "#000000"), ("#117733", "#ffffff")])
def test_names_in_areas_are_readable(fill: str, text: str):
    assert plot.readable_on(fill) == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "is not JSON"),
        ("[]", "memory_timelines.json: "),
        ("{}", "memory_timelines.json: "),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, reason: str
):
    source = tmp_path / "memory_timelines.json"
    if content is not None:
        source.write_text(content)
    assert figures.main([str(source), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("figures: ")
    assert reason in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("key", ["workload", "environment"])
def test_a_missing_part_is_named_even_without_jsonschema(
    write: Write,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    key: str,
):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    assert figures.main([str(write(lambda document: document.pop(key))), "--out", str(tmp_path)]) == 2
    assert f"{key}." in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_sentence_and_exit_2(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "out").write_text("a file where a folder should be")
    assert figures.main([str(write()), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert re.fullmatch(r"figures: cannot write .*out/figures/memory_timelines-light\.svg: .*\n", error)


def test_a_python_without_matplotlib_is_one_sentence_and_exit_2(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    for name in ("plot", "render"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert figures.main([str(write()), "--out", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err == "figures: this Python lacks matplotlib; 'make setup' installs all that is needed\n"
    )


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target = tmp_path / "picture.png"
    files.write(target, b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(files.Stop, match=r"cannot write .*picture\.png: No space left on device"):
        files.write(target, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["picture.png"]
    assert target.read_bytes() == b"old"
