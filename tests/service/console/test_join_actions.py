"""Modules become two files: all of each stands in one of them, in the order in which a browser would run it."""

from __future__ import annotations

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


def exports_of(name: str) -> set[str]:
    """The names that a module of the console gives, its own and those of others."""
    text = (FOLDER / name).read_text()
    if name.startswith(VENDOR):
        listed = re.search(r"export\{([^}]*)\};?\s*$", text)
        assert listed
        return {part.split(" as ")[-1].strip() for part in listed[1].split(",")}
    lent = re.findall(r'^export \* from "([^"]+)"', text, re.MULTILINE)
    own = re.findall(r"^export (?:async )?(?:function\*?|const|class) (\w+)", text, re.MULTILINE)
    return {*own, *(each for other in lent for each in exports_of(path_of(name, other)))}


def path_of(name: str, address: str) -> str:
    return ((FOLDER / name).parent / address).resolve().relative_to(FOLDER.resolve()).as_posix()


def test_every_name_that_a_module_imports_is_exported() -> None:
    """A browser refuses a module that imports another name; joined, the name would have no value."""
    modules = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.js")]
    wanted = {
        (name, path_of(name, address), one.split(" as ")[0].strip())
        for name in modules
        if not name.startswith(VENDOR)
        for names, address in re.findall(
            r'^import \{([^}]*)\} from "([^"]+)"', (FOLDER / name).read_text(), re.MULTILINE
        )
        for one in names.split(",")
        if one.strip()
    }
    assert len(wanted) > 200
    assert {each for each in wanted if each[2] not in exports_of(each[1])} == set()


def test_a_module_that_is_loaded_later_is_named_from_the_folder_of_all() -> None:
    lines = ['import("../vendor/text.js");', "import(`../vendor/text.js${again}`);"]
    text = joined({"app.js": 'import { one } from "./parts/one.js";\n', "parts/one.js": "\n".join(lines)})["app.js"]
    assert [line.replace("../", "./") for line in lines] == [line for line in text.splitlines() if "text.js" in line]
