"""The walls of the house, by the syntax tree.

Imports run down only, SQL has its place, files say their aim.
"""

from __future__ import annotations

import ast
import re
import sys
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.metadata import packages_distributions
from inspect import cleandoc
from io import StringIO
from pathlib import Path

import pytest

from tests.rows import every

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path
    for folder in ("core", "cushion", "service", "bench", "docs")
    for path in (ROOT / folder).rglob("*.py")
    if "__pycache__" not in path.parts
)
CYTHON = sorted((ROOT / "core").rglob("*.pyx"))
WRITTEN = [
    path
    for folder in ("core", "cushion", "service", "bench", "docs", "tests")
    for kind in ("*.py", "*.pyx", "*.pxd", "*.pxi", "*.pyi", "*.sql", "*.lua", "*.md", "*.toml")
    for path in sorted((ROOT / folder).rglob(kind))
]

CORE_FLOORS = [
    "values words amounts labels checked confined remembered seed typeset charts grounding",
    "frames native threads",
    "grid",
    "files formula portfolio redact",
    "definition",
    "recalc compliance reconciliation generate provenance retention",
    "interpretation pool",
    "deals scenario facts alerts parts",
    "export report",
    "batch insights",
    "questions",
    "warm",
]
"""Bottom first; who stands on one floor knows nothing of the neighbours."""
CORE_NEIGHBOURS = {("compliance", "portfolio"), ("generate", "files"), ("reconciliation", "recalc")}

AREA_ORDER = [
    "auth activity audit dlq health jobs notifications processes",
    "mappings",
    "workbooks",
    "portfolios documents wording",
    "admin calculations formulas compliance reconciliation webhooks",
    "batches deals scenarios exports readings",
    "reports insights",
    "alerts ai console",
]
AREAS = {area: floor for floor, areas in enumerate(AREA_ORDER) for area in areas.split()}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<home>[\w.]+)[ \t]+(?P<verb>c?import)[ \t]+(?P<names>\([^)]*\)|[^\n#]+)"
    r"|c?import[ \t]+(?P<modules>[\w.]+(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[\w.]+(?:[ \t]+as[ \t]+\w+)?)*)"
    r"|include[ \t]+[\"'](?P<include>[^\"']+)[\"'])",
    re.MULTILINE,
)
"""An import, a cimport or an include of Cython, at any depth and however many lines it takes."""


def said_in_cython(path: Path, *, cimports: bool) -> Iterator[tuple[str, str | None]]:
    """(module, name) of every import of a source in Cython and of all that it includes; the name None for a module."""
    for match in IMPORT.finditer(path.read_text(encoding="utf-8")):
        if match["include"]:
            yield from said_in_cython(path.parent / match["include"], cimports=cimports)
        elif match["modules"]:
            yield from ((name.split()[0], None) for name in match["modules"].split(","))
        elif cimports or match["verb"] == "import":
            assert not match["home"].startswith("."), f"{path}: relative import"
            names = re.sub(r"#[^\n]*", "", match["names"]).strip(" ()\n")
            yield from ((match["home"], name.split()[0]) for name in names.split(",") if name.strip())


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def is_for_hints(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and is_name(node.test, "TYPE_CHECKING")


@cache
def imports_in(text: str) -> tuple[tuple[str, str | None, bool], ...]:
    """(module, name, whether for type hints alone) of every import, late ones and the homes of names that a front door
    loads when they are used. A dozen tests ask, and a tree takes its time: only what it says is kept, not the tree."""
    imports: list[tuple[str, str | None, bool]] = []
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(text), False)]
    while waiting:
        node, hints = waiting.pop()
        if isinstance(node, ast.Import):
            imports += ((alias.name, None, hints) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            assert node.module is not None
            imports += ((node.module, alias.name, hints) for alias in node.names)
        elif isinstance(node, ast.Assign) and is_name(node.targets[0], "_HOMES"):
            imports += ((home, name, hints) for name, home in ast.literal_eval(node.value).items())
        hints = hints or is_for_hints(node)
        # No statement stands in an expression.
        waiting.extend((inner, hints) for inner in ast.iter_child_nodes(node) if not isinstance(inner, ast.expr))
    return tuple(imports)


def said_in_python(path: Path, *, hints: bool) -> Iterator[tuple[str, str | None]]:
    """(module, name) of every import of a source; `hints`: those for type hints, too."""
    for module, name, for_hints in imports_in(path.read_text(encoding="utf-8")):
        if hints or not for_hints:
            yield module, name


def imports_of_module(path: Path, *, hints: bool = True, cimports: bool = True) -> Iterator[tuple[str, str | None]]:
    """(module, name) of every import of a module, its .pxd included.

    `hints`: those for type hints, its .pyi, too.
    """
    if path.suffix == ".py":
        yield from said_in_python(path, hints=hints)
    else:
        yield from said_in_cython(path, cimports=cimports)
    if (declarations := path.with_suffix(".pxd")).exists():
        yield from said_in_cython(declarations, cimports=cimports)
    if hints and (stub := path.with_suffix(".pyi")).exists():
        yield from said_in_python(stub, hints=True)


def imports_of(path: Path) -> Iterator[str]:
    """Modules that a file imports, and what could be one.

    What is imported for type hints alone counts too.
    """
    for module, name in imports_of_module(path):
        yield module
        if name is not None:
            yield f"{module}.{name}"


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def each(paths: list[Path]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A test of all of these files, which tells of every one that fails."""
    return every("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


def floor_of(module: str) -> int | None:
    """The floor of a part of core; None for its front door, which knows every part."""
    steps = module.split(".")
    return next(
        (floor for floor, parts in enumerate(CORE_FLOORS) if len(steps) > 1 and steps[1] in parts.split()), None
    )


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 50
    assert len(CYTHON) > 2


NETWORK = ("ftplib", "http", "smtplib", "socket", "socketserver", "ssl", "urllib.request", "xmlrpc")
HANDS_PIPES_OVER = ("core/confined/child.py", "core/confined/kept.py")
"""They use a pair of sockets within this machine: nothing else carries a pipe from process to process."""

BARE = [path for path in SOURCES + CYTHON if path.is_relative_to(ROOT / "core")]


OF_AN_EXTRA = {
    "core/export/seal.py": {"cryptography", "pyhanko"},
    "core/batch/write.py": {"pyarrow"},
    "core/frames/given.py": {"polars", "pyarrow"},
    "core/frames/frame.py": {"pandas", "polars", "pyarrow"},
    "core/pool/source.py": {"pyarrow"},
    "core/pool/columns.py": {"pyarrow"},
    "core/pool/chunk.py": {"pyarrow"},
    "core/pool/obligors.py": {"pyarrow"},
    "core/pool/outline.py": {"pyarrow"},
    "core/pool/partitions.py": {"pyarrow"},
    "core/native/code.py": {"llvmlite"},
    "core/native/compiler.py": {"llvmlite", "numba"},
}
"""Packages that few need and that bring a dozen others: without them a seal, or a frame, is refused in words, and a
long column runs in chunks."""


def test_the_library_needs_no_package_of_an_extra() -> None:
    """What `pip install .` brings is all that `core` imports, wherever the import stands."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = {re.split(r"[\[<>=]", requirement)[0] for requirement in project["dependencies"]}
    distributions = packages_distributions()
    strange = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in BARE
        for module, _ in imports_of_module(path, hints=False)
        if (top := module.partition(".")[0])
        not in {"core", "cython", "cpython", "libc", "libcpp", *sys.stdlib_module_names}
        and top not in OF_AN_EXTRA.get(str(path.relative_to(ROOT)), ())
        and brought.isdisjoint(distributions.get(top, ()))
    ]
    assert strange == []


@each(BARE)
def test_core_is_pure_and_its_floors_stand_in_order(path: Path) -> None:
    name = name_of(path)
    own = floor_of(name)
    if name != "core":
        assert own is not None, f"{name} stands on no floor: give it one in CORE_FLOORS"
    for module, what in imports_of_module(path):
        assert module != "core" or floor_of(f"core.{what}") is not None, f"{name} takes {what} from the library's face"
    for imported in imports_of(path):
        is_pair = imported == "socket" and str(path.relative_to(ROOT)) in HANDS_PIPES_OVER
        assert is_pair or not within(imported, "service", *NETWORK), imported
        below = floor_of(imported) if within(imported, "core") else None
        if own is None or below is None:
            continue
        mine, theirs = name.split(".")[1], imported.split(".")[1]
        assert mine == theirs or below < own or (mine, theirs) in CORE_NEIGHBOURS, f"{name} imports {imported}"


CIRCLES_IN = ("core", "service")
"""Packages in which no module may need itself, in whatever way."""


def test_only_front_doors_and_children_import_by_name() -> None:
    """An import by a text is none that these tests could read."""
    by_name = re.compile(r"\bimport_module\b|\b__import__\b|\bspec_from\b|\bexec_module\b")
    users = {
        str(path.relative_to(ROOT))
        for path in (*SOURCES, *BARE, *(ROOT / "core").rglob("*.pxi"))
        if not path.is_relative_to(ROOT / "bench") and by_name.search(path.read_text(encoding="utf-8"))
    }
    doors = {"core/__init__.py", "cushion/__init__.py", "core/definition/__init__.py", "core/formula/__init__.py"}
    assert users == doors | {"core/confined/wire.py"}


def test_no_module_needs_itself() -> None:
    """Late imports, cimports and includes count.

    A package that loads its own modules does not, nor do type hints.
    """
    paths = [path for path in (*SOURCES, *CYTHON) if path.relative_to(ROOT).parts[0] in CIRCLES_IN]
    modules = {name_of(path): path for path in paths}
    needs: dict[str, set[str]] = {}
    for name, path in modules.items():
        homes = {
            f"{home}.{what}" if f"{home}.{what}" in modules else home
            for home, what in imports_of_module(path, hints=False)
        }
        needs[name] = homes & set(modules)
    assert sum(map(len, needs.values())) > len(modules), "few imports were found: does this test read them?"
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


def test_imports_are_read_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "one.pyx").write_text(
        "from a.b cimport (\n    C, D,  # why\n    E,\n)\ndef f():\n    from g import h as i, j\n    import k.l\n"
        'include "more.pxi"\n'
    )
    (tmp_path / "one.pxd").write_text("from m cimport n\ncimport o\n")
    (tmp_path / "more.pxi").write_text("cdef object p():\n    from q import (r)\n")
    imports = {("g", "h"), ("g", "j"), ("k.l", None), ("o", None), ("q", "r")}
    cimports = {("a.b", "C"), ("a.b", "D"), ("a.b", "E"), ("m", "n")}
    assert set(imports_of_module(tmp_path / "one.pyx")) == imports | cimports
    (tmp_path / "two.pxd").write_text("from s cimport t\n")
    assert set(imports_of_module(tmp_path / "one.pyx", cimports=False)) == imports
    (tmp_path / "two.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\ndef f():\n    from b import c\n"
        "_HOMES = {'Name': 'd.e'}\n"
    )
    answer = {("typing", "TYPE_CHECKING"), ("b", "c"), ("d.e", "Name"), ("s", "t")}
    assert set(imports_of_module(tmp_path / "two.py", hints=False)) == answer
    assert set(imports_of_module(tmp_path / "two.py")) == answer | {("a", None)}
    (tmp_path / "two.pyi").write_text("from u import v\n")
    assert set(imports_of_module(tmp_path / "two.py")) == answer | {("a", None), ("u", "v")}
    (tmp_path / "three.pyx").write_text("from .b cimport C\n")
    with pytest.raises(AssertionError, match="relative import"):
        list(imports_of_module(tmp_path / "three.pyx"))


ROOMS = ["values", "language", "ranges", "functions", "machine", "columns", "blocks", "translation"]
FRONT_DOORS = {"core.formula", "core.formula.evaluate", *(f"core.formula.{room}" for room in ROOMS)}
FORMULA_FLOORS = [
    "values",
    "language",
    "ranges",
    "functions.catalogue functions.describe",
    "suggest",
    "machine",
    "functions native",
    "columns context",
    "program",
    "evaluate work blocks translation",
]
"""Bottom first. The machine reads the rows of the catalogue, and the bodies of the functions may run the machine."""


def formula_floor(module: str) -> int | None:
    """The floor of a module of core.formula.

    None for its front door, and for what is none of it.
    """
    rest = module.removeprefix("core.formula.")
    floors = {part: floor for floor, parts in enumerate(FORMULA_FLOORS) for part in parts.split()}
    return floors.get(".".join(rest.split(".")[:2]), floors.get(rest.split(".")[0])) if rest != module else None


@each([path for path in BARE if path.is_relative_to(ROOT / "core/formula")])
def test_the_rooms_of_the_formula_engine_stand_in_order(path: Path) -> None:
    name = name_of(path)
    own = formula_floor(name)
    assert own is not None or name == "core.formula", f"{name} stands on no floor: give it one in FORMULA_FLOORS"
    for imported in imports_of(path):
        below = formula_floor(imported)
        if own is None or below is None or imported.split(".")[2] == name.split(".")[2]:
            continue
        assert below < own, f"{name} imports {imported}"


OUTSIDE_THE_FORMULA_ENGINE = [
    path
    for path in SOURCES + CYTHON
    if path.relative_to(ROOT).parts[0] in ("core", "service") and not path.is_relative_to(ROOT / "core/formula")
]


def test_a_front_door_lends_what_somebody_takes() -> None:
    taken = {
        (module, name)
        for path in OUTSIDE_THE_FORMULA_ENGINE
        for module, name in imports_of_module(path, cimports=False)
    }
    idle = [
        f"{door}.{name}"
        for door in sorted(FRONT_DOORS - {"core.formula.evaluate"})
        for name in import_module(door).__all__
        if (door, name) not in taken
    ]
    assert idle == []


@each(OUTSIDE_THE_FORMULA_ENGINE)
def test_the_formula_engine_is_entered_by_its_front_doors(path: Path) -> None:
    """A compiled module may cimport from the module itself.

    What C shares has no front door.
    """
    for module, name in imports_of_module(path, cimports=False):
        assert (module, name) != ("core", "formula"), "all of its rooms at once"
        if within(module, "core.formula"):
            assert module in FRONT_DOORS, module
            assert module == "core.formula.evaluate" or name in import_module(module).__all__, f"{module}.{name}"


ROOM_FILES_MAX = 15
ROOMY = ["core/formula", "service/platform"]
"""Folders that are divided into rooms."""
WRITTEN_BY_HAND = {".py", ".pyx", ".pxd", ".pxi", ".pyi", ".h", ".lua"}


@pytest.mark.parametrize("house", ROOMY)
def test_a_room_is_taken_in_at_one_look(house: str) -> None:
    for room in (ROOT / house, *(path for path in (ROOT / house).rglob("*") if path.is_dir())):
        files = [path.name for path in room.iterdir() if path.suffix in WRITTEN_BY_HAND]
        assert len(files) <= ROOM_FILES_MAX, f"{room.relative_to(ROOT)} has {len(files)} files"


PORTFOLIO = ROOT / "core/portfolio"
PORTFOLIO_FILES = [path for path in BARE if path.is_relative_to(PORTFOLIO)]
PORTFOLIO_ROOMS = ["model", "cells", "sheets", "pages", "mapping", "assemble"]
"""Bottom first: what a portfolio is, what a cell means, where loans stand in a sheet, what the pages of a workbook say
of each other, what a mapping makes of them, and who reads a workbook from its file to a portfolio."""
PORTFOLIO_FILES_MAX = {"pages/report": 25}
"""Folders that may have more modules than others, until their tables are brought together."""
PORTFOLIO_CIRCLES = {("sheets/rows", "sheets"), ("pages/report", "pages")}
"""Folder and folder above it that need each other, each in modules that need nothing of the other way."""


def portfolio_folder(module: str) -> str | None:
    """The folder of core.portfolio in which a module stands, "" for its front door.

    None for what is none of it.
    """
    path = ROOT.joinpath(*module.split("."))
    if not path.is_relative_to(PORTFOLIO) or not (path.is_dir() or any(path.parent.glob(f"{path.name}.py*"))):
        return None
    folder = path if path.is_dir() else path.parent
    return "" if folder == PORTFOLIO else str(folder.relative_to(PORTFOLIO))


def portfolio_ties() -> Iterator[tuple[str, str, str]]:
    """(module, its folder, another folder of which it imports) in core.portfolio, type hints included."""
    for path in PORTFOLIO_FILES:
        name = name_of(path)
        own = portfolio_folder(name)
        for imported in imports_of(path):
            second = portfolio_folder(imported)
            if own is not None and second is not None and second != own and imported != "core.portfolio":
                yield name, own, second


def test_the_rooms_of_the_portfolio_stand_in_order() -> None:
    rooms = {path.relative_to(PORTFOLIO).parts[0] for path in PORTFOLIO_FILES if path.parent != PORTFOLIO}
    assert rooms == set(PORTFOLIO_ROOMS)
    ties = [portfolio_tie for portfolio_tie in portfolio_ties() if portfolio_tie[1]]
    assert len(ties) > 100, "few imports were found: does this test read them?"
    floors = {room: floor for floor, room in enumerate(PORTFOLIO_ROOMS)}
    up = [
        f"{name} imports {second or 'the front door'}"
        for name, own, second in ties
        if not second or floors[second.split("/")[0]] > floors[own.split("/")[0]]
    ]
    assert up == []


def test_no_folder_of_the_portfolio_needs_itself() -> None:
    ties = {(own, second) for _, own, second in portfolio_ties()}
    assert ties >= PORTFOLIO_CIRCLES, "a circle is gone: strike it here"
    needs: dict[str, set[str]] = {}
    for own, second in ties - PORTFOLIO_CIRCLES:
        needs.setdefault(own, set()).add(second)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of folders: {' <- '.join(error.args[1])}")


def test_no_folder_of_the_portfolio_has_too_many_modules() -> None:
    counts: dict[str, int] = {}
    for path in PORTFOLIO_FILES:
        if path.stem != "__init__":
            folder = str(path.parent.relative_to(PORTFOLIO))
            counts[folder] = counts.get(folder, 0) + 1
    most = {folder: PORTFOLIO_FILES_MAX.get(folder, ROOM_FILES_MAX) for folder in counts}
    assert {folder: count for folder, count in counts.items() if count > most[folder]} == {}
    assert all(counts[folder] > ROOM_FILES_MAX for folder in PORTFOLIO_FILES_MAX), "an exception that is none any more"


def base_of(node: ast.AST) -> str:
    """The name at which a chain of members and items begins; "" for anything else."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def handed_in(tree: ast.Module) -> Iterator[str]:
    """Statements by which a module changes another one as it is loaded, or may be changed by one later."""
    taken = {
        (alias.asname or alias.name).split(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in tree.body:
        changed: list[ast.AST] = []
        if isinstance(node, ast.Assign):
            changed = [target for target in node.targets if not isinstance(target, ast.Name)]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changed = [node.value.func]
        if any(base_of(item) in taken for item in changed):
            yield ast.unparse(node)
    yield from (ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Global))


def test_no_module_of_the_portfolio_hands_itself_to_another() -> None:
    """An import that runs up would hide behind a function that is put into a module below."""
    result = {
        str(path.relative_to(ROOT)): words
        for path in PORTFOLIO_FILES
        if path.suffix == ".py" and (words := [*handed_in(parse(path))])
    }
    assert result == {}


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("from a import b\nb.hook = len\n", 1),
        ("import a.b\na.b.HOOKS['x'] = len\n", 1),
        ("from a import hand_in\nhand_in(len)\n", 1),
        ("_hook = None\ndef hand_in(hook):\n    global _hook\n    _hook = hook\n", 1),
        ("from a import b\nTABLE = b()\nTABLE['x'] = b\n", 0),
    ],
)
def test_what_is_handed_in_is_seen(text: str, count: int) -> None:
    assert len([*handed_in(ast.parse(text))]) == count


WALL_CLOCK = re.compile(
    r"\bos\.(environ|getenv)\b|\bdate(time)?\.(now|utcnow|today)\b|\btime\.(time|time_ns|localtime|gmtime|strftime)\b"
    r"|^from (os|time) import .*\b(environ|getenv|time|time_ns|localtime|gmtime|strftime)\b",
    re.MULTILINE,
)
"""The time of day and the environment, in whatever way they are asked; a deadline may be counted."""
CLOCK_WORDS = re.compile(r"\b(environ|getenv|now|utcnow|today|time|time_ns|localtime|gmtime|strftime)\b")
"""One of these is in every match of `WALL_CLOCK`: a file without them need not be printed anew."""


def test_core_has_no_clock_and_no_environment() -> None:
    sources = [*BARE, *(ROOT / "core").rglob("*.pxi")]
    asked = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sources
        for text in [path.read_text(encoding="utf-8")]
        if CLOCK_WORDS.search(text)
        # A syntax tree printed anew has no comments; texts are kept there, for they may be evaluated.
        for match in WALL_CLOCK.finditer(ast.unparse(ast.parse(text)) if path.suffix == ".py" else text)
    }
    source_texts = "core/formula/translation/translations.py: "  # what a translated TODAY and NOW say
    cache = "core/native/folder.py: os.environ"  # where the user keeps what can be made again
    assert asked == {source_texts + "date.today", source_texts + "datetime.now", cache}


SERVICE = [path for path in SOURCES if path.is_relative_to(ROOT / "service")]
SERVICE_FLOORS = ["migrations", "platform", "areas", "work", "guide", "app", "host", "worker", "commands"]
"""Bottom first. `areas` are the folders of AREAS; app puts them and the guide together, worker their jobs, and host
starts both as programs."""
SERVICE_STRANGERS = {("host", "areas"), ("host", "app"), ("areas", "migrations")}
"""Who knows nothing of whom, besides what stands above."""

PLATFORM = ROOT / "service/platform"
PLATFORM_FLOORS = ["base", "data", "access", "route", "unit", "events", "http work"]
"""Folders, bottom first; those on one floor know nothing of each other. All stand on the modules beside them (`config`,
`clock`, `log`, ...), which know of no folder."""
PLATFORM_FOLDERS = {name: floor for floor, names in enumerate(PLATFORM_FLOORS) for name in names.split()}

AREA_FILES = [path for path in SERVICE if path.relative_to(ROOT).parts[1] in AREAS]
AREA_ROOMS = {"__init__", "schema", "store", "actions", "jobs", "routes", "shared", "child"}
"""Words, SQL, decisions, background work, rows, what neighbours may use, and the program of a confined process."""


def service_floor(module: str) -> str | None:
    """The floor of a module of the service; None for the package itself."""
    steps = module.split(".")
    if len(steps) == 1:
        return None
    return "areas" if steps[1] in AREAS else steps[1]


@each(SERVICE)
def test_the_floors_of_the_service_stand_in_order(path: Path) -> None:
    own = service_floor(name_of(path))
    if own is None:
        return
    assert own in SERVICE_FLOORS, f"{path} stands on no floor: an area has its place in AREA_ORDER"
    for imported in imports_of(path):
        below = service_floor(imported) if within(imported, "service") else None
        if below is None or below == own:
            continue
        assert SERVICE_FLOORS.index(below) < SERVICE_FLOORS.index(own), f"{name_of(path)} imports {imported}"
        assert (own, below) not in SERVICE_STRANGERS, f"{name_of(path)} imports {imported}"


@each([path for path in SERVICE if path.is_relative_to(ROOT / "service" / "platform")])
def test_platform_knows_no_core(path: Path) -> None:
    for imported in imports_of(path):
        assert not within(imported, "core"), imported


def platform_floor(module: str) -> int | None:
    """The floor of a module of the platform, -1 for one outside of its folders.

    None for what is none of it.
    """
    steps = module.split(".")
    if steps[:2] != ["service", "platform"] or len(steps) == 2:
        return None
    return PLATFORM_FOLDERS[steps[2]] if (PLATFORM / steps[2]).is_dir() else -1


def test_the_floors_of_the_platform_are_its_folders() -> None:
    assert set(PLATFORM_FOLDERS) == {path.parent.name for path in PLATFORM.glob("*/*.py")}


@each([path for path in SERVICE if path.is_relative_to(PLATFORM)])
def test_the_folders_of_the_platform_stand_in_order(path: Path) -> None:
    """Imports for type hints count, too."""
    name = name_of(path)
    own = platform_floor(name)
    for imported in imports_of(path):
        below = platform_floor(imported)
        if own is not None and below is not None and imported.split(".")[2] != name.split(".")[2]:
            assert below < own or own == below == -1, f"{name} imports {imported}"


def room_of(module: str) -> str:
    """What a file of an area is for: its last word, so that issue_store is a store."""
    return module if module == "__init__" else module.rpartition("_")[2]


def test_the_files_of_an_area_have_fixed_names() -> None:
    strange = [
        str(path.relative_to(ROOT))
        for path in AREA_FILES
        if room_of(path.stem) not in AREA_ROOMS or path.parent.parent != ROOT / "service"
    ]
    split = [path for path in AREA_FILES if room_of(path.stem) == "shared" and path.stem != "shared"]
    assert (strange, split) == ([], [])


@each(AREA_FILES)
def test_an_area_imports_its_own_and_what_stands_below(path: Path) -> None:
    area, room = path.relative_to(ROOT).parts[1], room_of(path.stem)
    for imported in imports_of(path):
        if not within(imported, "service") or service_floor(imported) != "areas":
            continue
        steps = imported.split(".")
        second, their_room = steps[1], room_of(steps[2]) if len(steps) > 2 else ""
        if second == area:
            if room == "schema":
                assert their_room in ("", "schema"), f"schema stands below its area: {imported}"
            if room == "store":
                assert their_room in ("", "schema", "store"), f"store knows its schema: {imported}"
            continue
        assert AREAS[second] < AREAS[area], f"{area} imports {second}, which does not stand below it"
        lent = ("", "schema") if room in ("schema", "store", "routes") else ("", "schema", "shared")
        assert their_room in lent, f"{area}.{room} imports {imported}; what {second} lends stands in its shared.py"


@each([path for path in AREA_FILES if room_of(path.stem) == "store"])
def test_a_store_calls_no_kernel(path: Path) -> None:
    words = {f"core.{name}" for name in ("compliance.result", "reconciliation.rules", "portfolio.model.fields")}
    words |= {"core.insights.insight", "core.insights.subject", "core.portfolio.model.notes", "core.values"}
    for module, _ in imports_of_module(path):
        assert not within(module, "core") or module in words, f"{module} is more than words"


def test_every_area_has_its_place_in_the_order() -> None:
    names = {path.parent.name for path in SOURCES if path.name == "routes.py"}
    assert names <= set(AREAS)


STATEMENT = re.compile(
    r"\s*(SELECT\b.+\bFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|WITH \w+ AS|COPY \w+|TRUNCATE|CALL \w+\()", re.DOTALL
)
VERBS = re.compile(r"SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|COPY|TRUNCATE|CALL")
"""One of these is in every statement: a file without them need not be parsed."""


@each([path for path in SOURCES if path.relative_to(ROOT).parts[0] in ("core", "service")])
def test_sql_stands_in_stores_and_the_platform_only(path: Path) -> None:
    if (
        (path in AREA_FILES and room_of(path.stem) == "store")
        or path.is_relative_to(ROOT / "service" / "platform")
        or path in {ROOT / "service/host" / name for name in ("backup_store.py", "data_folder.py", "embedded.py")}
    ):
        return
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if VERBS.search(source) else ():
        text = node.value if isinstance(node, ast.Constant) else _with_gaps(node)
        if isinstance(text, str):
            assert not STATEMENT.match(text), text[:80]


def _with_gaps(node: ast.AST) -> str | None:
    """The text of an f-string, a word for each value."""
    if not isinstance(node, ast.JoinedStr):
        return None
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "value" for part in node.values)


@each(SERVICE)
def test_values_never_become_part_of_a_statement(path: Path) -> None:
    """Only constants (in capitals or with an underscore), the module's own pieces of SQL, and names of columns that
    the platform has checked (those of `Records` among them) are put into SQL."""
    verbs = re.compile(r"\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b")
    pieces, checked = (
        {"where", "order", "columns", "source", "table", "values"},
        ("columns_of(", "insert_of(", "set_of("),
    )
    source = path.read_text(encoding="utf-8")
    records = {f"{name}.columns" for name in re.findall(r"^(\w+) = Records\(", source, re.MULTILINE)} | {"self.columns"}
    for node in ast.walk(ast.parse(source)) if VERBS.search(source) else ():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            parts = [side.value for side in (node.left, node.right) if isinstance(side, ast.Constant)]
            assert not any(isinstance(part, str) and verbs.search(part) for part in parts), ast.unparse(node)[:80]
        if isinstance(node, ast.Attribute) and node.attr == "format" and isinstance(node.value, ast.Constant):
            assert not verbs.search(str(node.value.value)), ast.unparse(node)[:80]
        if not isinstance(node, ast.JoinedStr):
            continue
        fixed = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        if not verbs.search(fixed):
            continue
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                put = ast.unparse(part.value)
                is_constant = put.rpartition(".")[2].isupper() or put in records
                is_checked = is_constant or put.startswith(("_", *checked)) or put in pieces
                assert is_checked, f"{{{put}}} in {fixed[:60]!r}"


def docstring_of(text: str) -> str | None:
    """A module's docstring, by its first token.

    Fifteen hundred files need not be parsed for it.
    """
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            return cleandoc(ast.literal_eval(token.string)) if token.type == tokenize.STRING else None
    return None


@each([path for path in WRITTEN if path.suffix == ".py"])
def test_a_file_opens_with_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if text.strip() or path.name != "__init__.py":
        docstring = docstring_of(text)
        assert docstring, "no docstring"
        assert docstring.splitlines()[0].endswith((".", ":")), docstring.splitlines()[0]


@each([path for path in SOURCES if path in AREA_FILES or path.is_relative_to(ROOT / "service" / "platform")])
def test_public_functions_and_classes_say_what_they_do(path: Path) -> None:
    tree = parse(path)
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


WHOLE_PACKAGES = {
    "tests/core/compliance/test_mag17.py",  # a published deal through all of it
    "tests/core/compliance/test_workbook.py",  # from a workbook's cells to results
    "tests/core/formula/test_cases.py",  # what other engines and Excel say of whole formulas
    "tests/core/formula/test_fuzz.py",
    "tests/core/portfolio/pages/report/test_made_pages.py",  # reports made by seed, in many trustees' words and shapes
    "tests/core/portfolio/pages/report/test_layouts.py",  # pages in many layouts, from sheets and PDF to facts
    "tests/core/portfolio/test_made_reports.py",  # loans of reports in several styles, and of changed ones
    "tests/core/portfolio/test_paged.py",  # reports with pages, from sheets to tie-outs
    "tests/core/portfolio/test_real_reports.py",  # printed figures and columns of real files, as delivered
    "tests/core/portfolio/pages/report/test_printed.py",  # all that five files print, against a transcript
    "tests/core/recalc/test_road.py",  # a file as Excel writes one, to its values
    "tests/core/questions/test_asked.py",  # an analyst's questions, held against answers worked out by hand
    "tests/core/reconciliation/test_seeded.py",  # every discrepancy of made-up tapes
    "tests/service/commands/test_documents.py",  # a report as a PDF through the commands
}
"""Tests of a package as a whole rather than of one of its files."""


def has_source(test: Path) -> bool:
    """Whether a test is of a source.

    That of x/y.py is x/test_y.py, or several x/test_y_part.py.
    """
    folder = ROOT / test.relative_to(ROOT / "tests").parent
    words = test.stem.removeprefix("test_").split("_")
    names = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    return any(
        (folder / f"{prefix}{name}{ending}").exists()
        for name in names
        for prefix in ("", "_")
        for ending in (".py", ".pyx", "/__init__.py")
    )


def test_tests_stand_where_their_sources_do() -> None:
    tests = [path for part in ("core", "service") for path in sorted((ROOT / "tests" / part).rglob("test_*.py"))]
    assert {str(path.relative_to(ROOT)) for path in tests if not has_source(path)} == WHOLE_PACKAGES
