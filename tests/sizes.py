"""Count what this house wants less of: `python -m tests.sizes`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.words.check import banned_names, repeated_classes, waivers

ROOT = Path(__file__).parents[1]
NO_AREAS = {"platform", "commands", "host", "console", "deploy", "migrations"}
"""Folders of the service without routes of an area, or without Python that answers requests."""


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
    banned = sum(1 for path in sources("core", "service") for _ in banned_names(path, ROOT))
    rows = [
        ("lines a route in the areas", f"{areas / routes:.1f} ({areas:,} lines, {routes} routes)"),
        ("lines of service/platform", f"{lines_of(sources('service/platform')):,}"),
        ("lines of core/questions", f"{lines_of(sources('core/questions')):,}"),
        ("public class names that stand twice", f"{len(list(repeated_classes(ROOT))):,}"),
        ("banned names in core and service", f"{banned:,}"),
        ("functions too complex (C901 over 10)", str(complaints("C901", "lint.mccabe.max-complexity=10"))),
        ("functions with too many parameters (over 8)", str(complaints("PLR0913", "lint.pylint.max-args=8"))),
        ("limits of complexity that are waived", f"{len(list(waivers(ROOT))):,}"),
        ("# fmt: skip in core and service", f"{counted('# fmt: skip', 'core', 'service'):,}"),
    ]
    for name, figure in rows:
        print(f"{name:<45}{figure}")


if __name__ == "__main__":
    main()
