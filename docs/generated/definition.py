"""The page of the definition language, from its schema."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from core.definition import parse_toml
from core.definition.describe import described
from docs.generated.markdown import code, fenced, page, table

EXAMPLE: Final = """name = "Harbour III"
base = "us_bsl"

[conventions]
currency = "USD"
reinvestment_end = 2028-07-15

[[tests]]
id = "wal"
name = "Weighted average life"
measure = "wal"
max = 6.5

[[tests]]
id = "software"
name = "Software"
share = '=industry="Software"'
max = 12.5
"""


NAMES: Final = ("contego_xi", "cairn_xvii", "mag17")
"""Definitions of real deals, those that show most first."""


def examples() -> str:
    """List the installed definitions of real deals, each with its first sentence."""
    folder = files("core.definition") / "examples"
    texts = {name: (folder / f"{name}.toml").read_text(encoding="utf-8") for name in NAMES}
    rows = [(code(f"{name}.toml"), _opening(text), str(len(parse_toml(text).tests))) for name, text in texts.items()]
    return page(
        "## Definitions of real deals",
        "Each is written from a report that is public; a comment at its top tells what is fitted or assumed. They are in "
        "the installed package: `python -c \"import core.definition as d; print(d.__path__[0] + '/examples')\"`.",
        table(("file", "what it is", "tests"), rows),
    )


def _opening(text: str) -> str:
    """Return the first sentence of the comment at the top."""
    comment = " ".join(line.lstrip("# ") for line in text.partition("\n\n")[0].splitlines() if line.startswith("#"))
    return comment.partition(". ")[0].rstrip(".") + "."


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    parse_toml(EXAMPLE)  # what is shown is understood
    opening, _, rest = described().partition("\n## ")
    example = page(
        "## An example",
        "A deal of the US market, with a limit of its own for the average life and a share that its indenture counts:",
        fenced(EXAMPLE, "toml"),
        "`cushion deal check deal.toml` tells its faults; [follow a deal](../how-to/deals.md) says what is done with it.",
    )
    return {"reference/definition.md": page(opening, example, examples(), "## " + rest)}
