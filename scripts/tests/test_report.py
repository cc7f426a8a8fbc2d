"""The report: complete, self-contained, safe with any text in the data, and clear about bad input."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from sample import Write

import files
import report

HOSTILE = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>\"'{{ 7 * 7 }}{% raw %}&amp;--><!--"
VOID = {"meta", "br", "link", "img", "hr", "input"}


class Page(HTMLParser):
    """Tags, attributes, texts outside <style>, and whether every tag was closed in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.texts.append(data.strip(" \n"))


def made(source: Path, *arguments: str) -> str:
    assert report.main([str(source), *arguments]) == 0
    return (Path(arguments[1]) if arguments else source.with_name("report.html")).read_text()


def rows(page: Page) -> str:
    return "|".join(text for text in page.texts if text)


def test_report_is_beside_its_data_or_where_it_is_told_and_the_same_each_time(write: Write, tmp_path: Path):
    first = made(write())
    assert (tmp_path / "report.html").exists()
    assert made(write(), "--out", str(tmp_path / "new" / "page.html")) == first
    assert len(first) < 300_000


def test_nothing_is_loaded_and_nothing_runs(write: Write):
    html = made(write())
    page = Page(html)
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "link", "img", "iframe", "object"})
    # Names of XML namespaces are the only addresses.
    assert set(re.findall(r"https?://[^\"'\s)]*", html)) == {
        "http://www.w3.org/1999/xlink",
        "http://www.w3.org/2000/svg",
    }
    assert "@import" not in html
    assert all(match.startswith("#") for match in re.findall(r"url\(([^)]*)\)", html))
    policy = [attributes["content"] for tag, attributes in page.tags if "http-equiv" in attributes and tag == "meta"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_both_looks_are_there_one_at_a_time_with_their_own_ids(write: Write):
    html = made(write())
    page = Page(html)
    assert [tag for tag, _ in page.tags].count("svg") == 2
    identifiers = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    assert {str(name).split("-")[0] for name in identifiers} == {"light", "dark"}
    assert re.search(r"\.dark \{ display: none; \}", html)
    assert re.search(r"prefers-color-scheme: dark\) \{.*\.light \{ display: none; \}", html, re.DOTALL)


def test_figures_are_the_datas(write: Write):
    text = rows(Page(made(write())))
    assert "−2.08 GB (−20.0\u00a0%)" in text
    assert "0.80 times" in text
    assert "Peak memory of the tensors|10.4000\u00a0GB|8.3200\u00a0GB" in text
    assert "Time of a step, not profiled|80.00\u00a0ms|64.00\u00a0ms" in text
    assert "python backprop.py out" in text
    assert "AdamW lr|0.01" in text
    assert "2026-01-02T03:04:05Z" in text
    assert "commit" not in text


def test_each_category_is_given_at_the_peak_and_at_each_phases_end(write: Write):
    text = rows(Page(made(write())))
    times = "peak|60.0 ms|end of forward|30.0 ms|end of backward|60.0 ms|end of optimizer step|99.0 ms"
    assert text.count(times.replace(" ms", "\u00a0ms")) == 2
    assert f"{files.categories.LABELS['GRADIENT']}|2.5000|0.0000|2.5000|0.0000" in text
    assert "Total|10.4000|8.0000|10.4000|7.1000" in text
    assert "Total|8.3200|6.4000|8.3200|5.6800" in text


def test_counters_are_shown_only_where_there_are_any(write: Write):
    def on_cuda(document: dict[str, Any]) -> None:
        document["environment"]["source"] = "cuda"
        document["default"].update(
            cuda_mallocs_per_step=0, cuda_frees_per_step=0, reserved_gb=14.5, allocator_peak_gb=10.4
        )
        document["backprop"].update(cuda_mallocs_per_step=2)

    without, shown = rows(Page(made(write()))), rows(Page(made(write(on_cuda))))
    for name in ("cudaMalloc", "cudaFree", "allocator", "resident"):
        assert name not in without
    assert "cudaMalloc calls in a step|0|2" in shown
    assert "cudaFree calls in a step|0|–" in shown
    assert "Reserved by the CUDA allocator|14.5000\u00a0GB|–" in shown


def test_a_prediction_has_no_step_time_and_says_what_it_is(write: Write):
    def predicted(document: dict[str, Any]) -> None:
        document["environment"]["source"] = "simulated"
        for mode in ("default", "backprop"):
            document[mode].update(step_ms=None, timed_steps=0)

    text = rows(Page(made(write(predicted))))
    assert "times as long" not in text
    assert "predicted for A processor" in text


def test_hostile_text_stays_text(write: Write):
    def hostile(document: dict[str, Any]) -> None:
        environment, workload = document["environment"], document["workload"]
        for key in ("device", "torch", "python", "platform", "command", "commit"):
            environment[key] = HOSTILE
        workload.update(name=HOSTILE, dtype=HOSTILE)
        workload["optimizer"].update(name=HOSTILE, settings={HOSTILE: [HOSTILE, {"a": HOSTILE}], "x": "\x00\ud800"})

    html = made(write(hostile))
    page = Page(html)
    calm = Page(made(write()))
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in calm.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert "{{ 7 * 7 }}" in html
    assert HOSTILE in page.texts


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: No such file or directory"),
        ("not JSON", "is not JSON"),
        ('{"default": {}}', "memory_timelines.json: "),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, reason: str
):
    source = tmp_path / "memory_timelines.json"
    if content is not None:
        source.write_text(content)
    assert report.main([str(source)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("report: ")
    assert reason in error
    assert error.count("\n") == 1
    assert not (tmp_path / "report.html").exists()


def test_bad_shape_names_the_field(write: Write, capsys: pytest.CaptureFixture[str]):
    source = write(lambda document: document["backprop"]["gb"][2].pop())
    assert report.main([str(source)]) == 2
    assert "backprop.gb[2]" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_one_sentence_and_exit_2(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert report.main([str(write()), "--out", str(tmp_path)]) == 2
    assert re.fullmatch(r"report: cannot write .*: Is a directory\n", capsys.readouterr().err)


def test_without_a_file_the_usage_is_shown_and_exit_2(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as stopped:
        report.main([])
    assert stopped.value.code == 2
    assert "usage:" in capsys.readouterr().err
