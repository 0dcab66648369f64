"""The console's modules joined into the files that a browser loads: fifty small ones would compress badly."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Final

ENTRIES: Final = ("app.js", "screens.js")
"""What the page loads, and what is loaded once somebody is there. A module stands in the first that reaches it."""
VENDOR: Final = "vendor/"
"""Libraries stay files of their own."""

IMPORT: Final = re.compile(r'^import (?:(?:\{([^}]*)\}|\* as (\w+)) from )?"([^"]+)";\n', re.MULTILINE)
LATER: Final = re.compile(r"\bimport\(([\"`])([^\"`$]+)")
ALL: Final = re.compile(r'^export \* from "([^"]+)";\n', re.MULTILINE)
EXPORT: Final = re.compile(r"^export (default )?((?:async )?function\*?|const|class) (\w+)", re.MULTILINE)

OTHER: Final = re.compile(r"^(?:import|export)\b(?!\()", re.MULTILINE)


def joined(modules: Mapping[str, str]) -> dict[str, str]:
    """Files by name: each entry with all modules that it alone reaches.

    A module becomes a constant that has what it exports by name, made where the browser would have run the module.

    Raises:
        ValueError: modules import each other in a circle, one that is not there, or in a way that is not read here.
    """
    files: dict[str, str] = {}
    places: dict[str, str] = {}  # of each module: its file
    for entry in ENTRIES:
        if entry in modules:
            parts = [path for path in _ordered(modules, entry) if path not in places]
            places |= dict.fromkeys(parts, entry)
            files[entry] = _file(modules, parts, entry, places)
    return files


def _ordered(modules: Mapping[str, str], entry: str) -> list[str]:
    """An entry and what it reaches, each behind what it imports."""
    done: dict[str, bool] = {}

    def visit(path: str) -> None:
        if path.startswith(VENDOR) or done.get(path):
            return
        done[path] = False
        for source in _sources(path, modules):
            if done.get(source) is False:
                raise ValueError(f"{path} and {source} import each other")
            visit(source)
        del done[path]
        done[path] = True

    visit(entry)
    return list(done)


def _sources(path: str, modules: Mapping[str, str]) -> Iterator[str]:
    if path not in modules:
        raise ValueError(f"there is no module {path}")
    for found in (*IMPORT.finditer(modules[path]), *ALL.finditer(modules[path])):
        yield _place(path, found[found.lastindex or 0])


def _place(path: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), source))


def _name(path: str) -> str:
    return "of_" + re.sub(r"\W", "_", path)


def _file(modules: Mapping[str, str], parts: list[str], entry: str, places: Mapping[str, str]) -> str:
    used = dict.fromkeys(source for path in parts for source in _sources(path, modules))
    lines = [f'import * as {_name(path)} from "./{path}";' for path in used if path.startswith(VENDOR)]
    for file in ENTRIES:
        names = [_name(path) for path in used if file != entry and places.get(path) == file]
        lines += [f'import {{ {", ".join(names)} }} from "./{file}";'] if names else []
    lines += [_constant(path, modules[path]) for path in parts]
    lent = [] if entry == ENTRIES[-1] else [path for path in parts if path != entry]
    lines += [f"export {{ {', '.join(map(_name, lent))} }};"] if lent else []
    return "\n".join([*lines, *(f"export const {{ {name} }} = {_name(entry)};" for name in _exports(modules[entry]))])


def _exports(text: str) -> dict[str, str]:
    """What a module exports: each name inside of it by the one that others use."""
    return {"default" if found[1] else found[3]: found[3] for found in EXPORT.finditer(text)}


def _constant(path: str, text: str) -> str:
    def imported(found: re.Match[str]) -> str:
        names, whole, source = found.groups()
        if names is None and whole is None:
            return ""
        return f"const {whole or '{' + names.replace(' as ', ': ') + '}'} = {_name(_place(path, source))};\n"

    given = [f"...{_name(_place(path, found[1]))}" for found in ALL.finditer(text)]
    given += [f"{outside}: {inside}" for outside, inside in _exports(text).items()]
    body = EXPORT.sub(r"\2 \3", IMPORT.sub(imported, ALL.sub("", text)))
    if OTHER.search(body):
        raise ValueError(f"{path} imports or exports in another way than the console's modules do")
    body = LATER.sub(lambda found: f"import({found[1]}./{_place(path, found[2])}", body)
    return f"const {_name(path)} = (() => {{\n{body}\nreturn {{ {', '.join(given)} }};\n}})();"
