"""`python -m bench [NAME ...] [--check] [--record]`: run benchmarks, compare with the record.

`python -m bench load` is a command of its own: load on a running service (`bench/service/load/command.py`). NAME is a
part of a module's name (files, compliance); without one all run. `--check` ends with 1 when a figure falls under 60 %
of its record in three runs, `--record` adds the figures to the record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median

import msgspec
from rich.console import Console
from rich.table import Table

from bench.figures import Figure, yardstick
from bench.service.load import command as load

FOLDER = Path(__file__).parent
RECORD = FOLDER / "record.json"
GATE = 0.6
RUNS_KEPT = 5
"""The record of a figure is the median of its last runs: one lucky run would be a gate that honest ones do not pass."""
AGAIN = 2
"""Further runs of a benchmark in which a figure fell, after all others: what disturbed it may be over by then."""


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit code."""
    if arguments[:1] == ["load"]:
        return load.main(arguments[1:])
    flags = {argument for argument in arguments if argument.startswith("--")}
    names = [argument for argument in arguments if not argument.startswith("--")]
    if unknown := flags - {"--check", "--record"}:
        print(f"bench: unknown option {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    modules = [module for module in _modules() if not names or any(name in module for name in names)]
    if not modules:
        print(f"bench: no benchmark is called {' or '.join(names)}", file=sys.stderr)
        return 2
    runs: dict[str, list[float]] = msgspec.json.decode(RECORD.read_bytes()) if RECORD.exists() else {}
    record = {name: median(scores) for name, scores in runs.items()}
    measured = {module: _scored(import_module(module).run) for module in modules}
    for _ in range(AGAIN if "--check" in flags else 0):  # these machines are shared: a figure must fall each time
        for module in [module for module in modules if _fallen(measured[module], record)]:
            measured[module] = _better(measured[module], _scored(import_module(module).run))
    figures = [figure for module in modules for figure in measured[module]]
    _show(figures, record)
    if "--record" in flags:
        for figure, score in figures:
            runs[figure.name] = [*runs.get(figure.name, []), float(f"{score:.4g}")][-RUNS_KEPT:]
        record = {name: median(scores) for name, scores in runs.items()}
        RECORD.write_bytes(msgspec.json.format(msgspec.json.encode(dict(sorted(runs.items()))), indent=2) + b"\n")
    fallen = _fallen(figures, record)
    for name in fallen:
        print(f"bench: {name} fell under {GATE:.0%} of its record", file=sys.stderr)
    return 1 if fallen and "--check" in flags else 0


def _scored(run: Callable[[], list[Figure]]) -> list[tuple[Figure, float]]:
    before, figures = yardstick(), run()
    least = min(before, yardstick())
    return [(figure, figure.score(least)) for figure in figures]


def _fallen(figures: list[tuple[Figure, float]], record: dict[str, float]) -> list[str]:
    return [figure.name for figure, score in figures if score < GATE * record.get(figure.name, 0.0)]


def _better(one: list[tuple[Figure, float]], other: list[tuple[Figure, float]]) -> list[tuple[Figure, float]]:
    return [max(pair, key=lambda scored: scored[1]) for pair in zip(one, other, strict=True)]


def _modules() -> list[str]:
    files = sorted(FOLDER.glob("*/bench_*.py"))
    return [".".join(("bench", file.parent.name, file.stem)) for file in files]


def _show(figures: list[tuple[Figure, float]], record: dict[str, float]) -> None:
    table = Table(title="medians of one run")
    for name in ("work", "ours", "peer", "its time", "ratio", "target", "met", "of record"):
        table.add_column(name, justify="left" if name in ("work", "peer") else "right")
    for figure, score in figures:
        target = ""
        if figure.ratio_least is not None:
            target = f">= {figure.ratio_least:g}x"
        elif figure.seconds_most is not None:
            target = f"<= {_time(figure.seconds_most)}"
        table.add_row(
            figure.name,
            _time(figure.seconds),
            figure.peer or "",
            _time(figure.peer_seconds) if figure.peer_seconds is not None else "",
            f"{figure.ratio:.2f}x" if figure.ratio is not None else "",
            target,
            {True: "yes", False: "NO", None: ""}[figure.met],
            f"{score / record[figure.name]:.0%}" if record.get(figure.name) else "",
        )
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _time(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.{1 if seconds < 1e-5 else 0}f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
