"""The page of the command, from its own help."""

from __future__ import annotations

import re

from docs.generated.markdown import page
from service.commands.cli import app

OPENING = """# The command

`cushion` comes with the package; `cushion --help` and `cushion COMMAND --help` say the same as this page. Commands that want the
service say so where `pip install 'cushion[service]'` is missing."""


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    text = app.generate_docs(output_format="markdown")
    first = text.index("\n## ", text.index("**Commands**"))
    summary = text[text.index("**Commands**") : first]
    text = summary.replace("**Commands**:", "") + text[first:]
    text = re.sub(r"^(#+) (cushion( .*)?)$", _heading, text, flags=re.MULTILINE)
    return {"reference/command.md": page(OPENING, text)}


def _heading(match: re.Match[str]) -> str:
    """Make a heading with the anchor that the list of commands leads to."""
    return f"{match[1]} {match[2]} {{#{re.sub('[ -]+', '-', match[2])}}}"
