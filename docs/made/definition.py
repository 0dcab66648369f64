"""The page of the definition language, from its schema."""

from __future__ import annotations

from typing import Final

from core.definition import parse_toml
from core.definition.describe import described
from docs.made.markdown import fenced, page

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


def pages() -> dict[str, str]:
    """The page by its path."""
    parse_toml(EXAMPLE)  # what is shown is understood
    opening, _, rest = described().partition("\n## ")
    example = page(
        "## An example",
        "A deal of the US market, with a limit of its own for the average life and a share that its indenture counts:",
        fenced(EXAMPLE, "toml"),
        "`cushion deal check deal.toml` tells its faults; [follow a deal](../how-to/deals.md) says what is done with it.",
    )
    return {"reference/definition.md": page(opening, example, "## " + rest)}
