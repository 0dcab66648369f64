"""The limits of a spreadsheet file, each with its reason."""

from typing import Final

FILE_BYTES_MAX: Final = 100 * 1024 * 1024
"""Size of an uploaded file."""

ENTRY_BYTES_MAX: Final = 512 * 1024 * 1024
"""A file in an archive, unpacked: 1,000,000 loans with 25 fields as text take 250 MB."""

FILES_MAX: Final = 200
"""Files that are read together, or stand in one archive; only `SHEETS_MAX` of them can give a sheet."""

SHEETS_MAX: Final = 50
"""Worksheets of a workbook."""

SLOTS_MAX: Final = 50_000_000
"""Cells of a workbook from the first to the last of each column, blanks between them counted. Long gaps are not stored:
a stored workbook takes at most 15 * (`core.grid.column.BLANKS_MAX` + 1) bytes for each cell that holds something, and
750 MB dense (a 92 MB file of dense data had 22 million). But a column with gaps is walked from end to end, and made
whole while it is, so its blanks are paid in time. Fifty columns with one stray cell each in the last row still pass."""

REPEATED_MAX: Final = 5_000_000
"""Cells with a value that a workbook's file has by a number of repetitions only: 1 kB of an .ods can ask for as many as
it likes, and none of real data is repeated so often. They take half a second and 0.2 GB."""

INFLATED_BYTES_MAX: Final = 2 * 1024**3
"""All parts of an archive unpacked. Dense sheets of 100 MB unpack to about 1 GB."""

RATIO_MAX: Final = 200
"""Unpacked bytes per packed byte of one part; the most regular real sheets reach about 60, a bomb about 1,000."""

RATIO_FREE_BYTES: Final = 4 * 1024 * 1024
"""Parts that unpack to less than this may have any ratio."""

ENTRIES_MAX: Final = 10_000
"""Entries of an archive."""

PART_BYTES_MAX: Final = 16 * 1024 * 1024
"""A part other than a sheet or the shared strings, unpacked: those are read whole. 65,000 cell styles take 10 MB."""

PIECE_BYTES_MAX: Final = 16 * 1024 * 1024
"""One cell or one shared string in the file's XML. The longest cell that Excel writes stays below 12 MB."""

TEXT_BYTES_MAX: Final = 1024**3
"""All distinct text of a sheet, or all shared strings of a workbook, read or written."""

MERGED_MAX: Final = 1_000_000
"""Merged ranges of a sheet."""

FORMATS_MAX: Final = 65_535
"""Distinct number formats of a workbook, and cell styles: Excel's own limit is 65,490 styles."""

DEFINED_NAMES_MAX: Final = 100_000
"""Names of a workbook."""

TABLES_MAX: Final = 1_000
"""Tables of a sheet."""

PIVOTS_MAX: Final = 1_000
"""Pivot tables of a workbook; of one with more none is read."""

PIVOT_BYTES_MAX: Final = 16 * 1024 * 1024
"""The definitions of all pivot tables of a workbook, and all their caches' definitions, unpacked: a million bytes take
a fifth of a second, and a sheet may name one part a thousand times. Rows that caches keep are not read."""

PIVOT_ITEMS_MAX: Final = 200_000
"""Items, rows and columns of all pivot tables of a workbook. They are kept as a text that each reader of the workbook
reads whole: the most take 4 MB."""

NAME_CHARACTERS_MAX: Final = 255
"""Length of a file's name."""

WRITTEN_BYTES_MAX: Final = 2 * 1024**3
"""A workbook written as text: 1,000,000 rows of 25 columns take about 250 MB. One text in a million cells costs a file
nothing, and would be written a million times."""

CELL_CHARACTERS_MAX: Final = 32_767
"""Longest text that a spreadsheet cell holds, in UTF-16 units."""

FORMULA_CHARACTERS_MAX: Final = 8_192
"""Longest formula that Excel opens, in UTF-16 units."""

FORMAT_CHARACTERS_MAX: Final = 255
"""Longest number format that Excel opens."""

STYLES_MAX: Final = 65_490
"""Cell styles of a workbook: Excel's own limit."""

WRITTEN_PART_BYTES_MAX: Final = 4 * 1024**3 - 1
"""One sheet's XML: what a zip archive holds without its extension for larger files, which not every reader knows. A
sheet of 1,000,000 x 50 numbers takes two thirds of it."""

MARKED_CELLS_MAX: Final = 20_000_000
"""Cells that styles and unlocked ranges of a sheet cover; each is written, blank ones too."""

RANGES_MAX: Final = 10_000
"""Ranges with a style, and unlocked ones, of a sheet."""
