"""The limits of a PDF, each with its reason.

Its size is `core.files.limits.FILE_BYTES_MAX`, its time and memory the confined child's.
"""

from typing import Final

PAGES_MAX: Final = 2_000
"""Pages of a document; a fund's annual report has up to 300."""

PAGE_CHARACTERS_MAX: Final = 60_000
"""Characters of a page; a page of small print has 15,000."""

CHARACTERS_MAX: Final = 10_000_000
"""Characters of a document: 2,000 pages of 5,000."""

PAGE_LINES_MAX: Final = 1_000
"""Lines of a page; small print has 120. Each looks for its columns among those of the others."""
