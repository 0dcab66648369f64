"""The report of the suite's runs.

Pages show the kept runs and nothing else, pictures hold what they are given.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from bench.report import pages, pictures, tables
from bench.report.runs import (
    KEPT,
    BenchmarkRow,
    BenchmarkRun,
    CommitInfo,
    MachineInfo,
    MachineTold,
    NoRunError,
    RowTold,
    keep,
    read,
    together,
)

SVG = "{http://www.w3.org/2000/svg}"


def row(question: str, *, seconds: float = 0.01, area: str = "core/bench_files", **answer: object) -> BenchmarkRow:
    extra = {"question": question, "contender": "cushion", "ours": True, "seconds": seconds, **answer}
    return BenchmarkRow(
        group=question, name=question, fullname=f"bench/{area}.py::x", extra_info=msgspec.convert(extra, RowTold)
    )


def run_of(*rows: BenchmarkRow, at: str = "2026-11-23T10:00:00+00:00") -> BenchmarkRun:
    machine = MachineTold(
        cpu="A processor", cores=2, memory_bytes=8 << 30, copy_bytes_per_second=9.96e9, system="Linux 6",
        python="3.11.7", versions={"polars": "2.1.0", "absent": None},
    )  # fmt: skip
    return BenchmarkRun(
        machine_info=MachineInfo(cushion=machine), commit_info=CommitInfo(id="0123456789abcdef"), datetime=at,
        benchmarks=list(rows),
    )  # fmt: skip


def beside(question: str, ratio: float, **answer: object) -> BenchmarkRow:
    return row(question, best_peer="Polars", ratio=ratio, ratios={"Polars": ratio, "NumPy": ratio * 3}, **answer)


def test_readme_and_guide_show_what_the_report_writes_of_the_kept_runs() -> None:
    """`python -m bench.report --publish` mends it."""
    for path, text in pages.published(read([KEPT])).items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} shows other figures than bench/runs"


def test_the_readme_has_no_other_figures_of_speed() -> None:
    text = re.sub(r"<!-- measured: .*?<!-- /measured -->", "", (pages.ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert re.findall(r"[\d.]+ ?x\b|[\d.,]+ (?:us|ms|milliseconds)\b|\w+ of a millisecond|milliseconds", text) == []


def test_a_block_is_written_anew_and_what_stands_around_it_is_left() -> None:
    empty = "after\n<!-- measured: trend -->\n<!-- /measured -->\n"
    page = f"before\n<!-- measured: short -->\nold\n<!-- /measured -->\n{empty}"
    result = pages.filled(page, [run_of(beside("tape", 3.3))])
    assert result.startswith("before\n<!-- measured: short -->\n\nOf 1 questions beside peers Cushion is ahead")
    assert "| files | tape | 10 ms | Polars | 3.3x | none |" in result
    assert "old" not in result
    assert result.endswith(f"<!-- /measured -->\n{empty}")
    assert pages.filled(result, [run_of(beside("tape", 3.3))]) == result


def test_the_short_table_takes_the_longest_work_whoever_is_ahead() -> None:
    rows = [beside("fast", 9.0, seconds=0.1), beside("long", 0.5, seconds=2.0), row("alone", seconds=9.0)]
    http = beside("answer", 2.0, area="service/bench_load")
    assert [item.extra_info.question for item in tables.chosen(run_of(http, *rows))] == ["long", "answer"]


def test_the_short_table_takes_whatever_is_behind_or_misses_its_target() -> None:
    rows = [
        beside("ahead", 9.0, seconds=0.1, target=">= 5 x Polars", met=True),
        beside("behind", 0.9, seconds=0.2),
        beside("long", 2.0, seconds=2.0),
        beside("short of it", 2.0, target=">= 5 x Polars, <= 1 s", met=False, missed=">= 5 x Polars"),
        row("alone and late", target="<= 1 ms", met=False, missed="<= 1 ms"),
        row("alone", seconds=9.0),
    ]
    run = run_of(*rows)
    chosen = [item.extra_info.question for item in tables.chosen(run)]
    assert chosen == ["behind", "long", "short of it", "alone and late"]
    assert tables.counts(run) == (
        "Of 4 questions beside peers Cushion is ahead of the fastest in 3 and behind in 1."
        " Of 3 questions with a target 1 meet it and 2 do not."
    )
    assert "| 2x | missed: >= 5 x Polars |" in tables.short(run)
    assert 'class="behind"' in pages.drawn([run])["speed.svg"]


def test_a_target_that_is_missed_is_said_to_be() -> None:
    result = tables.whole(run_of(beside("tape", 0.4, target=">= 0.5 x Polars", met=False, limit_ratio=0.0725)))
    assert "| tape | 10 ms | Polars | 0.4x | NumPy 1.2x | >= 0.5 x Polars | no: >= 0.5 x Polars | 7.2 % |" in result


def test_growth_tells_each_size_and_both_exponents() -> None:
    answer = {
        "rows": [1_000, 10_000], "seconds_by_rows": [0.001, 0.02], "peak_bytes_by_rows": [2_000_000, 30_000_000],
        "time_exponent": 1.301, "memory_exponent": 1.176,
    }  # fmt: skip
    assert "| reading | 1 ms, 2 MB | 20 ms, 30 MB | 1.30 | 1.18 |" in tables.growth(run_of(row("reading", **answer)))
    assert tables.growth(run_of(row("reading"))) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5e-6, "2.5 us"), (0.000999, "999 us"), (0.0012, "1.2 ms"), (0.1234, "123 ms"), (12.0, "12 s")],
)
def test_times_are_said_in_their_unit(seconds: float, text: str) -> None:
    assert tables.time(seconds) == text


def test_a_bar_is_as_long_as_its_ratio_and_no_two_texts_of_a_picture_share_a_line() -> None:
    rows = [
        beside(f"question {at}", ratio, target=">= 5 x Polars") for at, ratio in enumerate((0.1, 1.0, 10.0, 1_000.0))
    ]
    tree = ElementTree.fromstring(pictures.peers(rows))
    bars = [float(bar.get("width", "")) for bar in tree.iter(f"{SVG}rect") if bar.get("class") in ("ahead", "behind")]
    assert bars[0] == pytest.approx(bars[2], abs=0.2)
    assert bars[3] == pytest.approx(3 * bars[2], abs=0.2)
    assert len([line for line in tree.iter(f"{SVG}line") if line.get("class") == "target"]) == len(rows)
    places = [(text.get("text-anchor"), text.get("x"), text.get("y")) for text in tree.iter(f"{SVG}text")]
    assert len(set(places)) == len(places)
    width = float(tree.get("viewBox", "").split()[2])
    assert all(0 <= float(text.get("x", "")) < width for text in tree.iter(f"{SVG}text"))


def test_the_trend_goes_over_all_runs_and_leaves_out_what_came_once() -> None:
    runs = [run_of(beside("tape", ratio), at=f"2026-11-2{day}T10:00:00") for day, ratio in enumerate((1.0, 2.0, 4.0))]
    runs[-1].benchmarks.append(beside("new", 7.0))
    (path,) = ElementTree.fromstring(pictures.trend(runs)).iter(f"{SVG}polyline")
    heights = [float(place.split(",")[1]) for place in path.get("points", "").split()]
    assert heights[0] - heights[1] == pytest.approx(9.0)  # half and twice the median are the row's edges
    assert heights[1] - heights[2] == pytest.approx(9.0)
    assert "speed-trend.svg" not in pages.drawn(runs[:1])


def test_parts_of_a_run_are_put_together_and_kept_without_samples(tmp_path: Path) -> None:
    first, second = run_of(row("a"), row("b", seconds=1.0)), run_of(row("b", seconds=2.0), at="2026-11-23T11:00:00")
    keep(together([first, second]), tmp_path)
    (kept,) = read([tmp_path])
    assert {benchmark.extra_info.question: benchmark.extra_info.seconds for benchmark in kept.benchmarks} == {
        "a": 0.01,
        "b": 2.0,
    }
    assert kept.machine == first.machine


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"benchmarks": []}')
    with pytest.raises(NoRunError, match=r"other\.json is no run of the suite"):
        read([tmp_path])
    with pytest.raises(NoRunError, match="no run was given"):
        read([])


def test_the_command_writes_a_page_with_its_pictures(tmp_path: Path) -> None:
    (kept, *_) = sorted(KEPT.iterdir())
    command = [sys.executable, "-m", "bench.report", str(kept), "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True, cwd=pages.ROOT)
    page = (tmp_path / "speed.md").read_text()
    assert set(re.findall(r"\]\((.*?\.svg)\)", page)) <= {path.name for path in tmp_path.iterdir()}
    assert "| question |" in page
