"""Modules become two files: all of each stands in one of them, in the order in which a browser would run it."""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path

import pytest

from service.console.file_actions import FOLDER
from service.console.join_actions import ENTRIES, VENDOR, joined

MODULES = {
    "app.js": 'import { say } from "./parts/say.js";\nexport const begun = say("app");\nimport("./screens.js");\n',
    "screens.js": (
        'import * as one from "./screens/one.js";\nimport { say as told } from "./parts/say.js";\n'
        'import "./parts/only.js";\nexport const shown = one.default() + told("");\n'
    ),
    "screens/one.js": (
        'import { say } from "../parts/say.js";\nexport default function One() {\n  return say("one");\n}\n'
    ),
    "parts/say.js": (
        'import { upper } from "../vendor/text.js";\nexport * from "../vendor/text.js";\n'
        'export function say(text) {\n  globalThis.said.push(text);\n  return upper(text);\n}\n'
        'export class Spare {}\nexport const later = () => import("../vendor/text.js");\n'
    ),
    "parts/only.js": 'globalThis.said.push("only");\n',
}  # fmt: skip


def test_modules_run_once_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor/text.js").write_text("export const upper = (text) => text.toUpperCase();\n")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    files = joined(MODULES)
    assert list(files) == list(ENTRIES)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.js").write_text(
        'globalThis.said = [];\nconst { begun } = await import("./app.js");\n'
        'const { shown } = await import("./screens.js");\nconst { of_parts_say_js: say } = await import("./app.js");\n'
        "console.log(said.join(), begun, shown, (await say.later()).upper(say.upper.name), typeof say.Spare);\n"
    )
    printed = subprocess.run(["node", "main.js"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed == "app,only,one, APP ONE UPPER function\n"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"parts/only.js": 'import "../screens.js";\n'}, "parts/only.js and screens.js import each other"),
        ({"parts/only.js": 'import "./none.js";\n'}, "there is no module parts/none.js"),
        *(
            ({"parts/only.js": line}, "parts/only.js imports or exports in another way than the console's modules do")
            for line in ("import './say.js';", "export default 1;", "let one;\nexport { one };")
        ),
    ],
)
def test_what_cannot_be_joined(changed: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        joined({**MODULES, **changed})


def test_every_module_of_the_console_is_in_a_file() -> None:
    modules = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*.js")}
    own = {name: text for name, text in modules.items() if not name.startswith(VENDOR)}
    files = joined(own)
    names = re.findall(r"^const (of_\w+) = \(\(\) => \{$", "".join(files.values()), re.MULTILINE)
    assert sorted(names) == sorted("of_" + re.sub(r"\W", "_", name) for name in own)
    imports = re.findall(r"^import .*$", "".join(files.values()), re.MULTILINE)
    assert all(re.search(r'"\./(?:vendor/[a-z-]+|app)\.js";$', line) for line in imports), imports


NAMES = re.compile(r'^import (?:\{([^}]*)\}|\* as \w+) from "([^"]+)";', re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|const|class) (\w+)|\bas (\w+)(?=[,}])", re.MULTILINE)
COMMENTS = re.compile(r"(?m:^\s*//.*$)|(?s:/\*.*?\*/)")


def names_of(text: str) -> list[str]:
    """The names that a module exports; minified ones say `export{a as name}`."""
    return [name or other for name, other in EXPORTED.findall(text)]


def test_each_module_imports_what_there_is_and_what_it_calls() -> None:
    """A browser would say so only where the part is drawn: no module is compiled before that."""
    modules = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*.js")}
    exported = {path: set(names_of(text)) for path, text in modules.items()}
    exported["parts/html.js"] |= exported["vendor/preact.js"]
    own = {path: COMMENTS.sub("", text) for path, text in modules.items() if not path.startswith(VENDOR)}
    anywhere = set().union(*(exported[path] for path in own))
    for path, text in own.items():
        for names, source in NAMES.findall(text):
            wanted = {name.split(" as ")[0].strip() for name in names.split(",") if name.strip()}
            assert wanted <= exported[posixpath.normpath(posixpath.join(posixpath.dirname(path), source))], path
        called = set(re.findall(r"(?<![\w.$])(\w+)\(|<\$\{(\w+)\b", text))
        for name in anywhere & {one or other for one, other in called}:
            declared = rf"\b(?:const|let|function\*?|class) {name}\b|[{{,(\[]\s*{name}\s*[,}}=\])]|[:s] {name}\b"
            assert re.search(declared, text), f"{path} calls {name} without importing it"
