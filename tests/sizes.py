"""Count what this house wants less of: `python -m tests.sizes`."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
NO_AREAS = {"platform", "commands", "host", "console", "deploy", "migrations"}
"""Folders of the service without routes of an area, or without Python that answers requests."""
BANNED = {"told", "said", "held", "made", "found", "owed", "given", "one", "other"}
"""Names that say nothing of the value."""
DUNDER = re.compile(r"__\w+__")


def sources(*folders: str) -> list[Path]:
    """Return the Python files below these folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def lines_of(paths: list[Path]) -> int:
    """Count the lines of some files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def area_sources() -> list[Path]:
    """Return the Python files of the service's areas."""
    return [
        path
        for path in sources("service")
        if len(parts := path.relative_to(ROOT).parts) > 2 and parts[1] not in NO_AREAS
    ]


def route_count() -> int:
    """Count the routes of the areas."""
    from service import app

    areas = (area for area in app.areas() if not all(".console." in route.handler.__module__ for route in area.routes))
    return sum(len(area.routes) for area in areas)


def repeated_classes(folder: str) -> dict[str, int]:
    """Return the public class names that a folder defines more than once, with how often."""
    names = Counter(
        node.name
        for path in sources(folder)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in sorted(names.items()) if count > 1}


def banned_names(path: Path) -> Iterator[str]:
    """Yield each banned name that a file gives to a function, a parameter or a variable, and where."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for name, line in _named(node):
            if name.lstrip("_") in BANNED:
                yield f"{path.relative_to(ROOT)}:{line} {name}"


def _named(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node.lineno
        parameters = () if DUNDER.fullmatch(node.name) else ast.walk(node.args)
        yield from ((each.arg, each.lineno) for each in parameters if isinstance(each, ast.arg))
    elif isinstance(node, ast.Lambda):
        yield from ((each.arg, each.lineno) for each in ast.walk(node.args) if isinstance(each, ast.arg))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id, node.lineno


def complaints(rule: str, setting: str) -> int:
    """Count what ruff says of core and service by one rule, reasons inline left aside."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--output-format", "concise"]
    command += ["--select", rule, "--config", setting, "core", "service"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.count(f" {rule} ")


def counted(text: str, *folders: str) -> int:
    """Count how often a text stands in the Python files below these folders."""
    return sum(path.read_text(encoding="utf-8").count(text) for path in sources(*folders))


def main() -> None:
    """Print the counts."""
    areas, routes = lines_of(area_sources()), route_count()
    rows = [
        ("lines a route in the areas", f"{areas / routes:.1f} ({areas:,} lines, {routes} routes)"),
        ("lines of service/platform", f"{lines_of(sources('service/platform')):,}"),
        ("lines of core/questions", f"{lines_of(sources('core/questions')):,}"),
        ("public classes named twice in core", str(len(repeated_classes("core")))),
        ("public classes named twice in service", str(len(repeated_classes("service")))),
        ("banned names", str(sum(1 for path in sources("core", "service") for _ in banned_names(path)))),
        ("functions too complex (C901 over 10)", str(complaints("C901", "lint.mccabe.max-complexity=10"))),
        ("functions with too many parameters (over 8)", str(complaints("PLR0913", "lint.pylint.max-args=8"))),
        (
            "reasons for either inline",
            str(counted("noqa: C901", "core", "service") + counted("noqa: PLR0913", "core", "service")),
        ),
        ("# fmt: skip", str(counted("# fmt: skip", "core", "service", "cushion", "tests", "bench", "docs"))),
    ]
    for name, figure in rows:
        print(f"{name:<45}{figure}")


if __name__ == "__main__":
    main()
