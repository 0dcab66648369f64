"""The colours of figures.

Apart in grey, and for eyes that do not tell red from green; a status has a sign, too.

The three of a status are dark blue-green, amber and dark vermilion, as in `core/typeset/house.typ`.
"""

from __future__ import annotations

from typing import Final, Literal

Status = Literal["pass", "warning", "fail"]

PAPER: Final = "#ffffff"
INK: Final = "#1b2733"
MUTED: Final = "#5b6876"
RULE: Final = "#c9d1d9"
GROUND: Final = "#f6f8fa"
"""Of what lies behind a figure."""

BAND: Final = "#dde3ea"
"""Of a stretch of the ground, such as a warning band."""

ACCENT: Final = "#1f4e79"
PALE: Final = "#a9bfd6"
"""Of the same kind as the accent, and of less weight."""

STATUS: Final[dict[Status, str]] = {"pass": "#0b6e6e", "warning": "#9e5c00", "fail": "#a3282e"}
