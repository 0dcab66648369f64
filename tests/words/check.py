"""Find names that say nothing, public class names that exist twice, and waived limits of complexity."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "service", "cushion", "bench", "docs", "tests", ".ci")
ROOMS = ("core", "service")
"""A public class name exists once in each of these."""

RULES = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
BANNED = frozenset(RULES["banned"])
WAIVER = re.compile(r"#\s*noqa:[^#]*\b(?:C901|PLR0913)\b(?P<reason>.*)")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(root: Path) -> list[Path]:
    """Return every Python file of the project at `root`."""
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    return [*files, *sorted(root.glob("*.py"))]


def _is_binary_dunder(node: ast.AST) -> bool:
    return isinstance(node, Function) and node.name.startswith("__") and len(node.args.args) == 2


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of whatever a file names.

    Functions, parameters, variables and attributes that it sets.
    """
    operands = {id(node.args.args[1]) for node in ast.walk(tree) if _is_binary_dunder(node)}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.arg(arg=name) if not (name == "other" and id(node) in operands):
                yield node.lineno, name


def banned_names(path: Path, root: Path) -> Iterator[str]:
    """Yield "path:line: name" of each banned name in a file, leading underscores ignored."""
    place = path.relative_to(root).as_posix()
    for line, name in _names(ast.parse(path.read_text(encoding="utf-8"))):
        if name.strip("_") in BANNED and f"{place}:{name}" not in RULES["published"]:
            yield f"{place}:{line}: {name}"


def repeated_classes(root: Path) -> Iterator[str]:
    """Yield each public class name that exists more than once in a room, with its files."""
    for room in ROOMS:
        homes: dict[str, list[str]] = defaultdict(list)
        for path in sorted((root / room).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(path.relative_to(root).as_posix())
        yield from (f"{room}: class {name} in {', '.join(paths)}" for name, paths in homes.items() if len(paths) > 1)


def waivers(root: Path) -> Iterator[tuple[str, bool]]:
    """Yield ("path:line", whether a reason is given) of each function that may pass the limits of complexity."""
    for path in sources(root):
        for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if (match := WAIVER.search(line)) is not None:
                yield f"{path.relative_to(root).as_posix()}:{at}", len(match["reason"].strip(" -,:")) > 5


def faults(root: Path = ROOT) -> list[str]:
    """Return every fault of the project at `root`, one line each."""
    waived = list(waivers(root))
    return [
        *(fault for path in sources(root) for fault in banned_names(path, root)),
        *repeated_classes(root),
        *(
            f"{place}: a limit of complexity is waived without a reason"
            for place, has_reason in waived
            if not has_reason
        ),
        *(
            [f"{len(waived)} limits are waived, over {RULES['waived_functions']}"]
            if len(waived) > RULES["waived_functions"]
            else []
        ),
    ]


def main() -> None:
    """Print the faults and the number of waivers; exit with 1 where there is a fault."""
    lines = faults()
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"words: {len(lines)} faults, {len(list(waivers(ROOT)))} limits of complexity waived")
    sys.exit(bool(lines))
