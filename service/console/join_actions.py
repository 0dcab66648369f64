"""The console's modules joined into the files that a browser loads.

Fifty small ones would compress badly.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final

from service.console.script_actions import Script

ENTRIES: Final = ("app.js", "screens.js")
"""What the page loads, and what is loaded once somebody is there. A module stands in the first that reaches it."""
VENDOR: Final = "vendor/"
"""Libraries stay files of their own."""

STATEMENT: Final = re.compile(
    r'^import (?:(?:\{(?P<names>[^}]*)\}|\* as (?P<whole>\w+)) from )?"(?P<source>[^"]+)";\n'
    r'|^export \* from "(?P<all>[^"]+)";\n'
    r"|^export (?P<default>default )?(?P<kind>(?:async )?function\*?|const|class) (?P<name>\w+)"
    r'|\bimport\("(?P<later>[^"]+)"\)',
    re.MULTILINE,
)
"""The ways in which the console's modules import and export."""
OTHER: Final = re.compile(r"(?<![.$\w])(?:import\b(?!\(|\.meta\b)|export\b)(?!\s*:)")
"""What of these words is no `STATEMENT` is written in a way that is not read here."""
PLACED: Final = re.compile(r'(?<![.$\w])import(?:\.meta\b|\((?!"))')
"""An address that changes with the folder of the file."""
WAITS: Final = re.compile(r"^(?:(?:const|let)\b[^(\n]*= *|for +)?await\b", re.MULTILINE)
"""Waiting while a module is loaded, which a function cannot."""


def join_modules(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the files by name: each entry with all modules that it alone reaches.

    A module becomes a constant that has what it exports by name, made where the browser would have run the module.

    Raises:
        ValueError: a module is not there, lacks what another imports, imports in a circle, or is written in a way that
            is not read here.
    """
    modules = {path: Module(path, text) for path, text in texts.items()}
    if len({_constant_name(path) for path in modules}) < len(modules):
        raise ValueError("two modules have names that differ in signs only")
    files: dict[str, str] = {}
    places: dict[str, str] = {}  # of each module: its file
    for entry in ENTRIES:
        if entry in modules:
            parts = [path for path in _ordered(modules, entry) if path not in places]
            places |= dict.fromkeys(parts, entry)
            files[entry] = _file(modules, parts, entry, places)
    return files


class Module:
    """A module as far as others are concerned with it."""

    def __init__(self, path: str, text: str) -> None:
        """Read what a module imports and exports.

        Raises:
            ValueError: it is written in a way that is not read here.
        """
        self.path = path
        self._script = Script(text)
        self._statements = self._script.code_matches(STATEMENT)
        self._imports = [match for match in self._statements if match["source"]]
        self.exports = {
            "default" if match["default"] else match["name"]: match["name"]
            for match in self._statements
            if match["name"]
        }
        """By the name that others use: the name inside."""
        self.alls = [_place(path, match["all"]) for match in self._statements if match["all"]]
        """Modules of which all is exported."""
        self._check()

    def _check(self) -> None:
        starts = {match.start() for match in self._statements}
        refused = [match for match in self._script.code_matches(OTHER) if match.start() not in starts]
        if refused or (posixpath.dirname(self.path) and self._script.code_matches(PLACED)):
            raise ValueError(f"{self.path} imports or exports in another way than the console's modules do")
        if self._script.code_matches(WAITS):
            raise ValueError(f"{self.path} waits while it is loaded")

    @property
    def sources(self) -> Iterator[str]:
        """The modules that it needs before it runs."""
        for match in self._statements:
            if source := match["source"] or match["all"]:
                yield _place(self.path, source)

    def imported_names(self) -> Iterator[tuple[str, str]]:
        """The modules and their names that it imports."""
        for match in self._imports:
            for name in filter(None, map(str.strip, (match["names"] or "").split(","))):
                yield _place(self.path, match["source"]), name.partition(" as ")[0]

    def constant(self) -> str:
        """Return a constant that has what the module exports."""
        imports = "".join(map(self._imported, self._imports))  # in front, wherever they stand: as a browser does
        exports = [f"...{_constant_name(path)}" for path in self.alls]
        exports += [f"{outside}: {inside}" for outside, inside in self.exports.items()]
        body = self._script.replace_code(STATEMENT, self._inside)
        function = f"(() => {{\n{imports}{body}\nreturn {{ {', '.join(exports)} }};\n}})()"
        return f"const {_constant_name(self.path)} = {function};"

    def _imported(self, match: re.Match[str]) -> str:
        if match["names"] is None and match["whole"] is None:
            return ""
        names = match["whole"] or "{" + match["names"].replace(" as ", ": ") + "}"
        return f"const {names} = {_constant_name(_place(self.path, match['source']))};\n"

    def _inside(self, match: re.Match[str]) -> str:
        """What becomes of a statement inside of the constant's function."""
        if match["name"]:
            return f"{match['kind']} {match['name']}"
        return f'import("./{_place(self.path, match["later"])}")' if match["later"] else ""


def _ordered(modules: Mapping[str, Module], entry: str) -> list[str]:
    """An entry and what it reaches, each behind what it imports."""
    done: dict[str, bool] = {}

    def visit(path: str) -> None:
        if path.startswith(VENDOR) or done.get(path):
            return
        done[path] = False
        for source in _checked(modules, path).sources:
            if done.get(source) is False:
                raise ValueError(f"{path} and {source} import each other")
            visit(source)
        del done[path]
        done[path] = True

    visit(entry)
    return list(done)


def _checked(modules: Mapping[str, Module], path: str) -> Module:
    """Return a module, all of whose names are exported by others."""
    if path not in modules:
        raise ValueError(f"there is no module {path}")
    for source, name in modules[path].imported_names():
        export = modules.get(source)
        if export is not None and not export.alls and name not in export.exports:
            raise ValueError(f"{path} imports {name}, which {source} does not export")
    return modules[path]


def _place(path: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), source))


def _constant_name(path: str) -> str:
    return "of_" + re.sub(r"\W", "_", path)


def _file(modules: Mapping[str, Module], parts: list[str], entry: str, places: Mapping[str, str]) -> str:
    used = dict.fromkeys(source for path in parts for source in modules[path].sources)
    lines = [f'import * as {_constant_name(path)} from "./{path}";' for path in used if path.startswith(VENDOR)]
    for file in ENTRIES:
        names = [_constant_name(path) for path in used if file != entry and places.get(path) == file]
        lines += [f'import {{ {", ".join(names)} }} from "./{file}";'] if names else []
    lines += [modules[path].constant() for path in parts]
    shared = [] if entry == ENTRIES[-1] else [path for path in parts if path != entry]
    lines += [f"export {{ {', '.join(map(_constant_name, shared))} }};"] if shared else []
    exports = (f"export const {{ {name} }} = {_constant_name(entry)};" for name in modules[entry].exports)
    return "\n".join([*lines, *exports])
