"""Change the code a little and see whether a test fails.

`python -m tests.mutation compliance --count 40`.

A mutant is one change of one .py file: a comparison turned, a boundary moved, a number doubled. The tests of the file
run first, then those of the room. Mutants that no test fails on have survived. Compiled modules (.pyx) are left out.

Files are changed in a copy of the tree. The sample depends on the seed, the function's name and the changed text, so
that functions which move to another file keep their mutants.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from itertools import accumulate
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = {
    "formula": "core/formula",
    "compliance": "core/compliance",
    "reconciliation": "core/reconciliation",
    "provenance": "core/provenance",
    "access": "service/platform/access",
}
TEST_TIMEOUT_SECONDS = 60
RUN_TIMEOUT_SECONDS = 600
MEMORY_BYTES = 8 << 30
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "bench", "*.c", ".*_cache", "guide.zip")

TURNS = ((ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE))
MOVES = ((ast.Lt, ast.LtE), (ast.Gt, ast.GtE))
SIGNS = ((ast.Add, ast.Sub), (ast.Mult, ast.Div), (ast.FloorDiv, ast.Mult), (ast.Mod, ast.Mult))
TURNED, MOVED, ARITHMETIC = (
    {**{second: first for first, second in reversed(pairs)}, **dict(pairs)} for pairs in (TURNS, MOVES, SIGNS)
)
FIELDS_NOT_CHANGED = {"annotation", "returns", "decorator_list"}
LOGGERS = {"log", "logger", "_log", "warnings"}


class Mutant(NamedTuple):
    """One change of one file."""

    path: str
    line: int
    kind: str
    function: str
    start: int  # in bytes of the file, as the end
    end: int
    before: str
    after: str

    @property
    def title(self) -> str:
        before, after = (" ".join(text.split())[:120] for text in (self.before, self.after))
        return f"{self.path}:{self.line} {self.function}: {self.kind}: {before}  ->  {after}"


def is_left_out(node: ast.AST) -> bool:
    """Return whether changes of this node would be equivalent.

    Log lines, type checking, `__all__`, a program's end.
    """
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name in LOGGERS
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case ast.Expr(value=ast.Constant()) | ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.JoinedStr() | ast.Assert():  # the parts of the first have no exact places before Python 3.12
            return True
    return False


def nodes(node: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """List the nodes of a tree that may change, each with the name of its function."""
    for field, value in ast.iter_fields(node):
        if field in FIELDS_NOT_CHANGED or (field == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or is_left_out(child):
                continue
            scope = [child.name] if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else []
            name = ".".join([function, *scope]).lstrip(".")
            yield child, name
            yield from nodes(child, name)


def changes(node: ast.AST) -> Iterator[tuple[str, Any, str]]:
    """List the changes of one node.

    Their kind, the part of the tree that is replaced, and its new text.
    """
    match node:
        case ast.Compare():
            yield from comparison_changes(node)
        case ast.BoolOp(op=operator, values=values):
            swapped = ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
            yield "and/or swapped", node, f"({ast.unparse(swapped)})"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC and not is_text(node):
            yield "arithmetic changed", node, f"({ast.unparse(ast.BinOp(left, ARITHMETIC[type(operator)](), right))})"
        case ast.Constant(value=bool() as value):
            yield "constant changed", node, repr(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant changed", node, repr(value * 2 if value > 9 else value + 1)
        case ast.Return(value=ast.AST() as value) if getattr(value, "value", True):
            yield "return value dropped", node, "return None"
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
            yield "call removed", node, "pass"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition negated", test, f"(not ({ast.unparse(test)}))"


def comparison_changes(node: ast.Compare) -> Iterator[tuple[str, Any, str]]:
    """List the changes of each operator of a comparison."""
    for place, operator in enumerate(node.ops):
        for kind, table in (("comparison turned", TURNED), ("boundary moved", MOVED)):
            if changed := table.get(type(operator)):
                operators = [*node.ops[:place], changed(), *node.ops[place + 1 :]]
                yield kind, node, f"({ast.unparse(ast.Compare(node.left, operators, node.comparators))})"


def is_text(node: ast.AST) -> bool:
    """Return whether an operand is a text, a list or a tuple, which would fail at once."""
    match node:
        case ast.BinOp(left=left, right=right):
            return is_text(left) or is_text(right)
        case ast.Constant(value=str() | bytes()) | ast.JoinedStr() | ast.List() | ast.Tuple():
            return True
    return False


def mutants_of(path: str) -> Iterator[Mutant]:
    """List every mutant of a file."""
    source = (ROOT / path).read_bytes()
    lines = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
    for node, function in nodes(ast.parse(source)):
        for kind, part, after in changes(node):
            start = lines[part.lineno - 1] + part.col_offset
            end = lines[part.end_lineno - 1] + part.end_col_offset
            yield Mutant(path, part.lineno, kind, function, start, end, source[start:end].decode(), after)


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Choose mutants by a hash of what they change, in turn from each kind."""
    repeats: Counter[str] = Counter()
    kinds = defaultdict(list)
    for mutant in mutants:
        key = f"{seed}|{mutant.kind}|{mutant.function}|{' '.join(mutant.before.split())}|{mutant.after}"
        repeats[key] += 1
        kinds[mutant.kind].append((sha256(f"{key}|{repeats[key]}".encode()).digest(), mutant))
    turns = ((place, kind, item) for kind, items in kinds.items() for place, (_, item) in enumerate(sorted(items)))
    return sorted(mutant for _, _, mutant in sorted(turns)[:count])


def tests_of(path: str, room: str, kills: Counter[str]) -> list[list[str]]:
    """List the runs of tests for a file.

    Its mirrored tests, then the room's, those that killed most mutants first.
    """
    folder, stem = Path("tests") / Path(path).parent, Path(path).stem.lstrip("_")
    files = [file.relative_to(ROOT) for file in (ROOT / "tests" / room).rglob("test_*.py")]
    first = [file for file in files if file.parent == folder and f"{file.stem}_".startswith(f"test_{stem}_")]
    rest = sorted(set(files) - set(first), key=lambda file: (-kills[str(file)], file.parent != folder, file))
    return [[*map(str, run)] for run in (first, rest) if run]


def run_tests(tree: Path, tests: Sequence[str]) -> str | None:
    """Run tests in the copy of the tree.

    Return the file of the first one that failed, None where all passed.
    """
    options = ("-q", "-x", "-p", "no:cacheprovider", "--reruns=1", f"--timeout={TEST_TIMEOUT_SECONDS}")
    output = tree / "output.txt"
    with output.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=tree,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(tree)},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
        )
        for number in (signal.SIGINT, signal.SIGKILL):  # at the first its fixtures stop the servers that they started
            with suppress(subprocess.TimeoutExpired):
                process.wait(RUN_TIMEOUT_SECONDS)
                break
            os.killpg(process.pid, number)
    if process.wait() == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) ([^\s:]+)", output.read_text(errors="replace"), re.MULTILINE)
    return failed[1] if failed else "no test"


def killer_of(tree: Path, mutant: Mutant, room: str, kills: Counter[str]) -> str | None:
    """Return the file of the test that fails while the mutant stands in the copy."""
    path = tree / mutant.path
    source = path.read_bytes()
    compiled = Path(cache_from_source(str(path)))
    try:
        path.write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
        compiled.unlink(missing_ok=True)
        runs = tests_of(mutant.path, room, kills)
        return next((killer for tests in runs if (killer := run_tests(tree, tests)) is not None), None)
    finally:
        path.write_bytes(source)
        compiled.unlink(missing_ok=True)


def try_room(name: str, count: int, seed: int) -> str:
    """Print what becomes of each mutant of a room.

    Return the room's line of the summary.
    """
    room = ROOMS[name]
    paths = sorted(str(path.relative_to(ROOT)) for path in (ROOT / room).rglob("*.py"))
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    chosen = sample(mutants, count, seed)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        Path(folder).chmod(0o755)  # servers of the tests run under an account of their own
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=NOT_COPIED, symlinks=True)
        if failed := run_tests(tree, [f"tests/{room}"]):
            raise SystemExit(f"the tests of {room} fail without any change: {failed}")
        kills: Counter[str] = Counter()
        for mutant in chosen:
            start = monotonic()
            killer = killer_of(tree, mutant, room, kills)
            kills.update([killer] if killer else [])
            print(f"{'killed  ' if killer else 'SURVIVED'} {monotonic() - start:5.1f} s  {mutant.title}", flush=True)
        killed = kills.total()
    share = killed / max(len(chosen), 1)
    return f"{name}: {killed} of {len(chosen)} killed ({share:.0%}), from {len(mutants)} mutants of {len(paths)} files"


def main() -> None:
    """Try a sample of mutants of each room."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="+", choices=sorted(ROOMS), metavar="ROOM", help=", ".join(sorted(ROOMS)))
    parser.add_argument("--count", type=int, default=40, help="how many mutants of each room")
    parser.add_argument("--seed", type=int, default=33, help="another seed chooses another sample")
    options = parser.parse_args()
    print("Compiled modules (.pyx) are left out.", flush=True)
    print(*[try_room(name, options.count, options.seed) for name in options.rooms], sep="\n")


if __name__ == "__main__":
    main()
