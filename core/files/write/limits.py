"""The limits of what is written, each with its reason."""

from typing import Final

CELL_CHARACTERS_MAX: Final = 32_767
"""Longest text that a spreadsheet cell holds, in UTF-16 units."""

FORMULA_CHARACTERS_MAX: Final = 8_192
"""Longest formula that Excel opens, in UTF-16 units."""

FORMAT_CHARACTERS_MAX: Final = 255
"""Longest number format that Excel opens."""

STRINGS_BYTES_MAX: Final = 1024**3
"""All distinct text of a workbook's cells."""

STYLES_MAX: Final = 65_490
"""Cell styles of a workbook: Excel's own limit."""

PART_BYTES_MAX: Final = 4 * 1024**3 - 1
"""One sheet's XML: what a zip archive holds without its extension for larger files, which not every reader knows. A
sheet of 1,000,000 x 50 numbers takes two thirds of it."""

MARKED_CELLS_MAX: Final = 20_000_000
"""Cells that styles and unlocked ranges of a sheet cover; each is written, blank ones too."""

RANGES_MAX: Final = 10_000
"""Ranges with a style, and unlocked ones, of a sheet."""
