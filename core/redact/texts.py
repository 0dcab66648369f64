"""The texts of a sheet.

What each says of a person, which are labels, and what takes their place.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from core.grid.sheet import Sheet, Workbook
from core.redact.find import Span, find
from core.redact.headings import heading_codes
from core.redact.kinds import RANKED, PersonalKind
from core.redact.redactions import Redactions
from core.redact.replace import Policy, redacted_text
from core.redact.sieve import candidates
from core.values import from_serial

_PLAIN_FORMATS: Final = frozenset(("General", "0", "@", ""))
"""Formats of numbers that are no amounts."""
_AROUND: Final = " \t\r\n.,;:<>()[]'\""
"""What may stand around personal data in a cell that holds nothing else."""


class SheetTexts:
    """The texts of a sheet, each looked at once, and those that take their place.

    Its columns share them.
    """

    def __init__(self, sheet: Sheet, workbook: Workbook, policy: Policy, report: Redactions) -> None:
        self.sheet, self.policy, self.report = sheet, policy, report
        self.is_plain_format = np.array([code in _PLAIN_FORMATS for code in workbook.number_formats])
        self.date_1904 = workbook.date_1904
        self.strings: list[str] = []
        """Texts that take the place of others; their codes follow those of the sheet's own."""
        self.codes: dict[str, int] = {}
        self.spans_by_code: dict[int, list[Span]] = {}
        """The personal data of each of the sheet's texts that has some."""
        self.content = np.arange(-1, len(sheet.text), dtype=np.int32)
        """By a code plus one: the code that takes its place for what the text says by itself."""
        self.whole = np.zeros(len(sheet.text) + 1, np.uint8)
        """By a code plus one: the place in `RANKED` of the kind that the whole text is of, 0 for none."""
        self.labels: dict[int, PersonalKind] = {}

    def look(self) -> None:
        """Find what each text says by itself, and which texts are labels."""
        sheet, kinds = self.sheet, self.policy.kinds
        for code, likely in candidates(sheet.text, kinds):
            text = sheet.text[code]
            if spans := find(text, likely, self.policy.regions):
                self.spans_by_code[code] = spans
                self.content[code + 1] = self.code(redacted_text(text, spans, self.policy))
                if len(spans) == 1 and not (text[: spans[0].start] + text[spans[0].end :]).strip(_AROUND):
                    self.whole[code + 1] = RANKED.index(spans[0].kind)
        labels = heading_codes(sheet).items()
        self.labels = {code: kind for code, kind in labels if kind.name in kinds and code not in self.spans_by_code}

    def written(self, number: float, kind: str) -> str:
        """Return a number as it stands for a kind: digits, or the day of a date."""
        moment = from_serial(number, date_1904=self.date_1904) if kind == "birth_date" else None
        return f"{number:.0f}" if moment is None else moment.date().isoformat()

    def code(self, text: str) -> int:
        """Return the code of a text that takes another's place; -1 for an empty one."""
        if not text:
            return -1
        if text not in self.codes:
            self.codes[text] = len(self.sheet.text) + len(self.strings)
            self.strings.append(text)
        return self.codes[text]
