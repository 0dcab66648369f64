"""Build the guide: reference, site by MkDocs, one file for the service."""

from __future__ import annotations

import logging
import shutil
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from docs import pack
from docs.generated import api, command, compliance, definition, errors, functions, interpretation, library, settings

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent
WORK: Final = ROOT / "build" / "guide"
GENERATED: Final = (api, command, compliance, definition, errors, functions, interpretation, library, settings)

HOW_TO: Final = (
    "console", "compliance", "batch", "batch-service", "pools", "loans-behind", "map", "reconcile", "deals", "draft",
    "trades", "columns", "formulas", "frames", "export", "report", "insights", "alerts", "webhooks", "people", "audit",
)  # fmt: skip
REFERENCE: Final = (
    "library", "command", "settings", "compliance-tests", "oc", "definition", "interpretation", "files", "limits",
    "personal-data", "manifest", "speed", "glossary",
)  # fmt: skip
OPERATIONS: Final = (
    "running", "docker", "machines", "upgrading", "security", "sizing", "watching", "trouble", "retention", "backup",
)  # fmt: skip
"""Pages in their order."""
BOOSTS: Final = {
    "tutorial.md": 20,
    "integrators.md": 20,
    "how-to/": 40,
    "operations/": 20,
    "decisions.md": 0.1,
    "errors.md": 0.1,
    "reference/api/": 0.1,
    "reference/functions/": 0.5,
}
"""How much a page counts in a search, by how its path begins: what to do comes before what there is."""


def main() -> int:
    """Build; return 0, or 1 with a warning of MkDocs or a dead link."""
    parser = ArgumentParser(
        prog="python -m docs", description="Build the guide that the service shows at /docs/guide/."
    )
    parser.add_argument("--out", type=Path, default=ROOT / "service" / "guide.zip", help="the file to write")
    out: Path = parser.parse_args().out
    started = time.monotonic()
    shutil.rmtree(WORK, ignore_errors=True)
    pages = _staged(WORK / "pages")
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
    config = load_config(
        str(HERE / "mkdocs.yml"),
        docs_dir=str(WORK / "pages"),
        site_dir=str(WORK / "site"),
        nav=_order(pages),
        strict=True,
    )
    try:
        build(config)
    except Abort as reason:
        print(reason, file=sys.stderr)
        return 1
    files = pack.files_of(WORK / "site")
    faults, outside = pack.checked(files)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    size = pack.write(files, out)
    print(f"{out}: {len(pages)} pages, {size / 1e6:.2f} MB, {time.monotonic() - started:.1f} s")
    print(f"Links to other hosts, which are not followed here: {', '.join(sorted(outside)) or 'none'}")
    return 0


def _staged(folder: Path) -> list[str]:
    """Put all pages, by hand and generated, into one folder; return their paths."""
    for path in [*HERE.rglob("*.md"), *(HERE / "assets").iterdir()]:
        target = folder / path.relative_to(HERE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for part in GENERATED:
        for name, text in part.pages().items():
            path = folder / name
            assert not path.exists(), f"{name} is made, and stands in docs/ too"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    for page in pages:
        for start, boost in BOOSTS.items():
            if page.startswith(start):
                text = (folder / page).read_text(encoding="utf-8")
                (folder / page).write_text(f"---\nsearch:\n  boost: {boost}\n---\n{text}", encoding="utf-8")
    return pages


def _order(pages: list[str]) -> list[Any]:
    """Return the order of the pages, as MkDocs takes it."""

    def folder(name: str) -> list[str]:
        inside = [page for page in pages if page.startswith(f"{name}/") and not page.endswith("/index.md")]
        return [f"{name}/index.md", *inside]

    return [
        {"Home": "index.md"},
        {"Tutorial": "tutorial.md"},
        {"Integrators": "integrators.md"},
        {"How to": ["how-to/index.md", *(f"how-to/{name}.md" for name in HOW_TO)]},
        {
            "Reference": [
                {"API": [*folder("reference/api"), "errors.md"]},
                *(f"reference/{name}.md" for name in REFERENCE),
                {"Functions": folder("reference/functions")},
                "decisions.md",
            ]
        },
        {"Operations": [f"operations/{name}.md" for name in OPERATIONS]},
    ]


if __name__ == "__main__":
    sys.exit(main())
