"""Time reading and mapping beside another checkout of this project, in interleaved pairs of two processes.

`python -m bench.pairs /path/to/other [book ...] [--pairs N] [--rows N]`: each book is read once in each process and
then mapped anew (`Portfolio.from_workbook`) turn by turn; `--rows` maps and validates so many rows of 25 fields as
`bench_mapping` does. Processor seconds, so that other work on the machine counts little; the other checkout needs its
kernels and a `.venv` of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[1]
PAIRS = 30
CALLS = 5
"""Calls of a turn; its figure is the least of them."""

_CHILD = """
import gc, json, sys, time
from cushion import Portfolio, read

def book_work(path):
    book = read(path)
    return lambda: Portfolio.from_workbook(book)

def rows_work(rows):
    from bench.core import bench_mapping as mapping
    book, own = mapping.book(mapping.cells(rows), rows), mapping.mapping()
    return lambda: mapping.ours(book, own)

kind, what = sys.argv[1:]
work = rows_work(int(what)) if kind == "rows" else book_work(what)
work()
gc.collect()
print("ready", flush=True)
for line in sys.stdin:
    least = []
    for _ in range(int(line)):
        wall, start = time.perf_counter(), time.process_time()
        work()
        least.append((time.process_time() - start, time.perf_counter() - wall))
    print(json.dumps([min(column) for column in zip(*least)]), flush=True)
"""


class Child:
    """A process that holds the work of one checkout."""

    def __init__(self, tree: Path, kind: str, what: str) -> None:
        self._process = subprocess.Popen(
            [str(tree / ".venv/bin/python"), "-c", _CHILD, kind, what],
            cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process ended with {self._process.wait()}")
        return line

    def seconds(self, calls: int) -> tuple[float, float]:
        """Processor and wall seconds, the least of so many calls."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        processor, wall = json.loads(self._line())
        return processor, wall

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(other_path: Path, kind: str, what: str, pairs: int, calls: int) -> str:
    """One line: least and median milliseconds of both, and the ratios."""
    children = [Child(tree, kind, what) for tree in (other_path, HERE)]
    turns: list[list[tuple[float, float]]] = [[], []]
    for at in range(pairs):
        for which in (0, 1) if at % 2 else (1, 0):
            turns[which].append(children[which].seconds(calls))
    for child in children:
        child.close()
    parts = []
    for place, name in enumerate(("processor", "wall")):
        theirs, ours = ([turn[place] * 1e3 for turn in side] for side in turns)
        ratio = statistics.median(own / their for own, their in zip(ours, theirs, strict=True))
        parts.append(
            f"{name}: least {min(theirs):.2f} -> {min(ours):.2f} ms ({min(ours) / min(theirs):.3f}), "
            f"median {statistics.median(theirs):.2f} -> {statistics.median(ours):.2f} ms (pairs {ratio:.3f})"
        )
    return f"{Path(what).name}: " + "; ".join(parts)


def main(arguments: list[str]) -> None:
    """Print a line for each book and for the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("books", nargs="*", type=Path)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--rows", type=int)
    args = parser.parse_args(arguments)
    for book in args.books:
        print(compare(args.other, "book", str(book.resolve()), args.pairs, CALLS), flush=True)
    if args.rows:
        print(compare(args.other, "rows", str(args.rows), args.pairs, 1), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
