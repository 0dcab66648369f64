"""The walls of the house, by the syntax tree: imports run down only, SQL has its place, files say their aim."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("core", "service", "bench")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)
CYTHON = sorted((ROOT / "core").rglob("*.pyx"))
WRITTEN = [
    path
    for folder in ("core", "service", "bench", "tests")
    for kind in ("*.py", "*.pyx", "*.pxd", "*.pxi", "*.pyi", "*.sql", "*.lua", "*.md", "*.toml")
    for path in sorted((ROOT / folder).rglob(kind))
]

CORE_FLOORS = [
    "values confined remembered seed",
    "grid",
    "files formula portfolio redact",
    "recalc compliance reconciliation scenario generate provenance retention",
    "facts",
    "warm",
]
"""Bottom first; who stands on one floor knows nothing of the neighbours."""
CORE_NEIGHBOURS = {("compliance", "portfolio"), ("generate", "files")}

AREA_ORDER = [
    "auth activity audit dlq health",
    "mappings",
    "workbooks",
    "admin calculations formulas compliance reconciliation exports insights webhooks",
    "scenarios reports alerts ai",
]
AREAS = {area: floor for floor, areas in enumerate(AREA_ORDER) for area in areas.split()}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> Iterator[str]:
    """Modules that a file imports when it runs; what is imported for type hints alone counts too."""
    if path.suffix == ".pyx":
        for match in re.finditer(r"^(?:from|c?import) ([\w.]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            yield match[1]
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def each(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def floor_of(module: str) -> int | None:
    """The floor of a part of core; None for its front door, which knows every part."""
    steps = module.split(".")
    return next(
        (floor for floor, parts in enumerate(CORE_FLOORS) if len(steps) > 1 and steps[1] in parts.split()), None
    )


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 50
    assert len(CYTHON) > 2


@each([path for path in SOURCES + CYTHON if path.is_relative_to(ROOT / "core")])
def test_core_is_pure_and_its_floors_stand_in_order(path: Path) -> None:
    name = name_of(path)
    outside = {
        "service",
        "starlette",
        "psycopg",
        "psycopg_pool",
        "redis",
        "arq",
        "httpx",
        "obstore",
        "structlog",
        "socket",
        "urllib.request",
    }
    own = floor_of(name)
    if name != "core":
        assert own is not None, f"{name} stands on no floor: give it one in CORE_FLOORS"
    for imported in imports_of(path):
        assert not within(imported, *outside), imported
        below = floor_of(imported) if within(imported, "core") else None
        if own is None or below is None:
            continue
        mine, theirs = name.split(".")[1], imported.split(".")[1]
        assert mine == theirs or below < own or (mine, theirs) in CORE_NEIGHBOURS, f"{name} imports {imported}"


PORTFOLIO_STEPS = ["cells", "layout", "profile", "assemble deal mapping detection"]
"""Cells know no sheets, a sheet's layout no mappings that people write, and none of them who reads a workbook."""


@pytest.mark.parametrize("step", range(3))
def test_the_parts_of_portfolio_stand_in_order(step: int) -> None:
    above = [f"core.portfolio.{name}" for later in PORTFOLIO_STEPS[step + 1 :] for name in later.split()]
    for path in sorted((ROOT / "core/portfolio" / PORTFOLIO_STEPS[step]).glob("*.py*")):
        for imported in imports_of(path):
            assert not within(imported, *above), f"{path}: {imported}"


@each([path for path in SOURCES if path.is_relative_to(ROOT / "core")])
def test_core_has_no_clock_and_no_environment(path: Path) -> None:
    allowed = {"core/confined/run.py"}  # starts children: their memory, their time, their environment
    if str(path.relative_to(ROOT)) in allowed:
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert (ast.unparse(node.value), node.attr) not in {
                ("os", "environ"),
                ("os", "getenv"),
                ("datetime", "now"),
                ("datetime", "utcnow"),
                ("datetime.datetime", "now"),
                ("date", "today"),
                ("time", "time"),
            }


@each([path for path in SOURCES if path.is_relative_to(ROOT / "service" / "platform")])
def test_platform_knows_no_area_and_no_core(path: Path) -> None:
    for imported in imports_of(path):
        if within(imported, "service"):
            assert within(imported, "service.platform") or imported in ("service", "service.migrations"), imported
        assert not within(imported, "core"), imported


AREA_FILES = [path for path in SOURCES if path.parent.parent == ROOT / "service" and path.parent.name in AREAS]


def room_of(module: str) -> str:
    """What a file of an area is for: its last word, so that issue_store is a store."""
    return module.rpartition("_")[2]


@each(AREA_FILES)
def test_an_area_imports_its_own_and_what_stands_below(path: Path) -> None:
    area, room = path.parent.name, room_of(path.stem)
    for imported in imports_of(path):
        if not within(imported, "service") or imported == "service" or within(imported, "service.platform"):
            continue
        steps = imported.split(".")
        assert steps[1] in AREAS, f"{area}.{room} imports {imported}"
        other, their_room = steps[1], room_of(steps[2]) if len(steps) > 2 else ""
        if other == area:
            if room == "schema":
                assert their_room == "schema", f"schema stands below its area: {imported}"
            if room == "store":
                assert their_room in ("schema", "store"), f"store knows its schema: {imported}"
            continue
        assert AREAS[other] < AREAS[area], f"{area} imports {other}, which does not stand below it"
        assert their_room not in ("actions", "routes", "jobs"), f"{area}.{room} imports {imported}"
        if room in ("schema", "store", "routes", "jobs"):
            assert their_room in ("", "schema"), f"{area}.{room} imports {imported}"


@each([path for path in AREA_FILES if room_of(path.stem) == "store"])
def test_a_store_calls_no_kernel(path: Path) -> None:
    for imported in imports_of(path):
        assert not within(
            imported,
            "core.compliance.run",
            "core.compliance.measures",
            "core.compliance.kernels",
            "core.files",
            "core.formula",
        ), imported


def test_every_area_has_its_place_in_the_order() -> None:
    found = {path.parent.name for path in SOURCES if path.name == "routes.py"}
    assert found - set(AREAS) == set()


@each([path for path in SOURCES if path.is_relative_to(ROOT / "service")])
def test_sql_stands_in_stores_and_the_platform_only(path: Path) -> None:
    if (
        room_of(path.stem) == "store"
        or path.is_relative_to(ROOT / "service" / "platform")
        or path.name in ("embedded.py", "ground.py")
    ):
        return
    statement = re.compile(r"\s*(SELECT\b.+\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|WITH \w+ AS)\b", re.DOTALL)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not statement.match(node.value), node.value[:80]


@each([path for path in SOURCES if path.is_relative_to(ROOT / "service")])
def test_values_never_become_part_of_a_statement(path: Path) -> None:
    """Only constants (in capitals or with an underscore) and the module's own pieces of SQL are put into SQL."""
    verbs = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b")
    pieces = {
        "where",
        "order",
        "listed",
        "columns",
        "table",
        "source",
        "matching",
        "filters",
        "condition",
        "SERVICE_ROLE",
        "name",
    }
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.JoinedStr):
            continue
        fixed = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        if not verbs.search(fixed):
            continue
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                put = ast.unparse(part.value)
                assert put.isupper() or put.startswith("_") or put in pieces, f"{{{put}}} in {fixed[:60]!r}"


@each([path for path in WRITTEN if path.suffix == ".py"])
def test_a_file_opens_with_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if text.strip() or path.name != "__init__.py":
        told = ast.get_docstring(ast.parse(text))
        assert told, "no docstring"
        assert told.splitlines()[0].endswith((".", ":")), told.splitlines()[0]


@each([path for path in SOURCES if path in AREA_FILES or path.is_relative_to(ROOT / "service" / "platform")])
def test_public_functions_and_classes_say_what_they_do(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [
        node.name
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert bare == []


FOREIGN = re.compile(r"/wor" + r"k/|shar" + r"ed/")
"""Folders of the machine that the project is written on; in pieces, so that this file passes too."""


@each(WRITTEN)
def test_nothing_written_names_a_folder_of_this_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.is_relative_to(ROOT / "tests"):
        text = text.replace("../shar" + "ed/", "")  # a test may read what lies beside the project
    assert [match[0] for match in FOREIGN.finditer(text)] == []


@each(CYTHON)
def test_a_compiled_module_has_its_stub(path: Path) -> None:
    assert path.with_suffix(".pyi").exists()
