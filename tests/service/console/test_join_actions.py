"""Modules become two files.

All of each stands in one of them, in the order in which a browser would run it.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path

import pytest

from service.console.file_actions import FOLDER, Console
from service.console.join_actions import ENTRIES, VENDOR, join_modules

MODULES = {
    "app.js": 'import { say } from "./parts/say.js";\nexport const begun = say("app");\nimport("./screens.js");\n',
    "screens.js": (
        'import * as one from "./screens/one.js";\nimport { say as speak } from "./parts/say.js";\n'
        'import "./parts/only.js";\nexport const shown = one.default() + speak("");\n'
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
    files = join_modules(MODULES)
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


IN_ANOTHER_WAY = "parts/only.js imports or exports in another way than the console's modules do"
REFUSED = [
    ('import "../screens.js";\n', "parts/only.js and screens.js import each other"),
    ('import "./none.js";\n', "there is no module parts/none.js"),
    ('import { lost } from "../screens/one.js";\n', "parts/only.js imports lost, which screens/one.js does not export"),
    ('import { a } from "./two.js";\n', "parts/only.js imports a, which parts/two.js does not export"),
    ("const a = await fetch(1);", "parts/only.js waits while it is loaded"),
    ("if (a) {", "a brace is not closed"),
    ("const a = `1", "a template is not closed"),
    ("const a = '1;\n", "a string is not closed"),
    ("}", "a brace closes nothing"),
    *(
        (line, IN_ANOTHER_WAY)
        for line in (
            "import './say.js';", "export default 1;", "let one;\nexport { one };", 'import a from "./say.js";\n',
            "export let a = 1;", "export const { a } = 1;", '  export * from "./say.js";\n', 'import{a}from"./say.js";',
            "import(`./${name}.js`);", "new URL(import.meta.url);", '/* */ import "./say.js";\n',
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[text for text, _ in REFUSED])
def test_what_cannot_be_joined(text: str, message: str) -> None:
    modules = {**MODULES, "parts/two.js": "export const b = 1, a = 2;\n", "parts/only.js": text}
    with pytest.raises(ValueError, match=re.escape(message)):
        join_modules(modules)


def test_names_that_differ_in_signs() -> None:
    with pytest.raises(ValueError, match="two modules have names that differ in signs only"):
        join_modules({**MODULES, "parts/on-ly.js": "", "parts/on_ly.js": ""})


TEXTS = r"""
// export const remark = "import { a } from \"./b.js\";"
/*
export const comment = 1;
import "./none.js";
*/
export const template = `
import { say } from "./none.js";
export * from "./none.js";
  export const { a } = 1;
${`const [b] = ${[1, 2].map((n) => `
export class ${n} {}`)}`}
const { c } = await d;`;
export const words = { import: 1, export: 2, say: "import('./none.js')", later: 'import("./none.js")' };
export const ratio = words.export / 2 / 1;
export const expression = /`[/`]export "/.test("a") || words.import;
"""


def test_texts_and_comments_stay_as_they_are(tmp_path: Path) -> None:
    """Also once they are minified: the text of a template is what a module says."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    modules = {"app.js": 'export * from "./parts/texts.js";\n', "parts/texts.js": TEXTS}
    (tmp_path / "source").mkdir()
    (tmp_path / "source/index.html").write_text("{{base}}")
    for name, text in modules.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    served = Console(tmp_path / "source").files().others
    assert list(served) == ["app.js"]
    (tmp_path / "served.js").write_bytes(served["app.js"])
    (tmp_path / "main.js").write_text(
        'import * as source from "./source/parts/texts.js";\nimport { of_parts_texts_js } from "./served.js";\n'
        "const text = (module) => JSON.stringify(Object.keys(module).sort().map((name) => [name, module[name]]));\n"
        "console.log(text(of_parts_texts_js) === text(source), Object.keys(source).length);\n"
    )
    printed = subprocess.run(["node", "main.js"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert printed == "true 4\n"


def test_every_module_of_the_console_is_in_a_file() -> None:
    modules = {path.relative_to(FOLDER).as_posix(): path.read_text() for path in FOLDER.rglob("*.js")}
    own = {name: text for name, text in modules.items() if not name.startswith(VENDOR)}
    files = join_modules(own)
    names = re.findall(r"^const (of_\w+) = \(\(\) => \{$", "".join(files.values()), re.MULTILINE)
    assert sorted(names) == sorted("of_" + re.sub(r"\W", "_", name) for name in own)
    imports = re.findall(r"^import .*$", "".join(files.values()), re.MULTILINE)
    assert all(re.search(r'"\./(?:vendor/[a-z-]+|app)\.js";$', line) for line in imports), imports


NAMES = re.compile(r'^import (?:\{([^}]*)\}|\* as \w+) from "([^"]+)";', re.MULTILINE)
EXPORTED = re.compile(r"^export (?:async )?(?:function\*?|const|class) (\w+)|\bas (\w+)(?=[,}])", re.MULTILINE)
COMMENTS = re.compile(r"(?m:^\s*//.*$)|(?s:/\*.*?\*/)")


def names_of(text: str) -> list[str]:
    """The names that a module exports; minified ones say `export{a as name}`."""
    return [name or second for name, second in EXPORTED.findall(text)]


def test_each_module_imports_what_there_is_and_what_it_calls() -> None:
    """A browser would say so only where the part is drawn.

    No module is compiled before that.
    """
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
        for name in anywhere & {item or second for item, second in called}:
            declared = rf"\b(?:const|let|function\*?|class) {name}\b|[{{,(\[]\s*{name}\s*[,}}=\])]|[:s] {name}\b"
            assert re.search(declared, text), f"{path} calls {name} without importing it"
