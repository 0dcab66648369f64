"""Runs of the suite as pytest-benchmark wrote them.

What of a file is read, and what of it is kept beside the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct, field

KEPT = Path(__file__).parents[1] / "runs"
"""The runs that README and guide show, oldest first by name; medians without samples."""


class RowTold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The extra_info of a contender's row; the comparison stands in ours."""

    question: str
    contender: str
    ours: bool
    seconds: float
    """The median."""
    best_peer: str | None = None
    ratio: float | None = None
    """The best peer's median over ours."""
    ratios: dict[str, float] = field(default_factory=dict)
    """Of all contenders."""
    bounds: list[str] = field(default_factory=list)
    """Those that do less than is asked, and are no peers."""
    bytes: int | None = None
    limit_ratio: float | None = None
    """The time to copy what must be touched over ours."""
    target: str = ""
    met: bool | None = None
    missed: str = ""
    """Of the targets."""
    note: str = ""
    rows: list[int] = field(default_factory=list)
    """Sizes of a question about growth, smallest first; of each what the next two lists say."""
    seconds_by_rows: list[float] = field(default_factory=list)
    peak_bytes_by_rows: list[int] = field(default_factory=list)
    time_exponent: float | None = None
    memory_exponent: float | None = None

    @property
    def targets(self) -> list[float]:
        """The ratios that are aimed at."""
        return [float(least) for least in re.findall(r">= (\S+) x", self.target)]

    @property
    def is_behind(self) -> bool:
        """Whether a peer is faster."""
        return self.ratio is not None and self.ratio < 1

    @property
    def met_text(self) -> str:
        """Whether the targets are met, and which are not."""
        return "" if self.met is None else "yes" if self.met else f"no: {self.missed or self.target}"


class BenchmarkRow(Struct, frozen=True, kw_only=True):
    """One row of pytest-benchmark's file."""

    group: str | None
    name: str
    fullname: str
    extra_info: RowTold

    @property
    def area(self) -> str:
        """The part of the house.

        `compliance` of bench/core/bench_compliance.py; all of bench/service is `HTTP`.
        """
        path = Path(self.fullname.partition("::")[0])
        return "HTTP" if path.parent.name == "service" else path.stem.removeprefix("bench_").replace("_", " ")


class MachineTold(Struct, frozen=True, kw_only=True):
    """What a run was made on.

    Sizes in bytes, the copy by one thread in bytes a second, read and written.
    """

    cpu: str
    cores: int
    memory_bytes: int
    copy_bytes_per_second: float
    system: str
    python: str
    versions: dict[str, str | None]


class MachineInfo(Struct, frozen=True, kw_only=True):
    """pytest-benchmark's own description; the suite's is one entry of it."""

    cushion: MachineTold


class CommitInfo(Struct, frozen=True, kw_only=True):
    """What was measured."""

    id: str
    dirty: bool = False


class BenchmarkRun(Struct, frozen=True, kw_only=True):
    """One file."""

    machine_info: MachineInfo
    commit_info: CommitInfo
    datetime: str
    benchmarks: list[BenchmarkRow]

    @property
    def machine(self) -> MachineTold:
        return self.machine_info.cushion

    @property
    def ours(self) -> list[BenchmarkRow]:
        """Our row of each question, in the order of the areas and of the file."""
        rows = [row for row in self.benchmarks if row.extra_info.ours]
        return sorted(rows, key=lambda row: (row.area == "HTTP", row.area))


class NoRunError(ValueError):
    """A file that no run of the suite wrote."""


def read(paths: Iterable[Path]) -> list[BenchmarkRun]:
    """The runs of files, and of folders of files such as pytest-benchmark's storage, by their time.

    Raises:
        NoRunError: a file is not one, or there is none.
    """
    files = [file for path in paths for file in (sorted(path.rglob("*.json")) if path.is_dir() else [path])]
    runs = []
    for file in files:
        try:
            runs.append(msgspec.json.decode(file.read_bytes(), type=BenchmarkRun))
        except (OSError, msgspec.DecodeError) as error:
            raise NoRunError(f"{file} is no run of the suite: {error}") from error
    if not runs:
        raise NoRunError("no run was given")
    return sorted(runs, key=lambda run: run.datetime)


def together(parts: list[BenchmarkRun]) -> BenchmarkRun:
    """Join the parts of one run; of a question measured twice the last counts."""
    rows = {(row.extra_info.question, row.extra_info.contender): row for part in parts for row in part.benchmarks}
    return msgspec.structs.replace(parts[-1], benchmarks=list(rows.values()))


def keep(run: BenchmarkRun, folder: Path = KEPT) -> None:
    """Write what is read of a run into the folder, under its time."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{run.datetime[:16].replace(':', '')}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1) + b"\n")
