"""What a look at a file finds.

Where it is read or shown differently from what was exported.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

FINDINGS_MAX: Final = 100
"""Findings of one file that are listed."""

Change = Literal["added", "changed", "hidden"]
Weight = Literal["invalid_provenance", "modified"]


class FileFinding(Struct, frozen=True, kw_only=True):
    """One thing that is not as our writer, Excel or LibreOffice writes it."""

    status: Weight
    """`invalid_provenance`: programs read different cells because of it; `modified`: they show something else than was
    exported."""
    part: str
    """The part of the file; empty for the archive itself."""
    sheet: str | None = None
    cell: str | None = None
    """In A1 notation, a range, row (`5:5`) or column (`B:B`)."""
    message: str
    """What is there, to stand behind the place: "has ..."."""
    change: Change = "added"
    """Of what is modified: what became of its place."""

    @property
    def sentence(self) -> str:
        """The finding with its place, as a clause."""
        place = f"the part {self.part!r}" if self.part else "the archive"
        if self.sheet is not None:
            place = f"the sheet {self.sheet!r}"
        if self.cell is not None:
            place += f" at {self.cell}"
        return f"{place} has {self.message}"


class Findings:
    """The findings of a file, the first ones of many."""

    def __init__(self) -> None:
        self.items: list[FileFinding] = []
        self.more = False

    def differs(self, part: str, message: str, *, sheet: str | None = None, cell: str | None = None) -> None:
        """Note what programs read differently."""
        self._add(FileFinding(status="invalid_provenance", part=part, sheet=sheet, cell=cell, message=message))

    def changed(
        self, part: str, message: str, *, sheet: str | None = None, cell: str | None = None, change: Change = "added"
    ) -> None:
        """Note what shows something else than was exported."""
        self._add(FileFinding(status="modified", part=part, sheet=sheet, cell=cell, message=message, change=change))

    def _add(self, finding: FileFinding) -> None:
        if finding in self.items:
            return
        if len(self.items) < FINDINGS_MAX:
            self.items.append(finding)
            return
        self.more = True
        # What makes a file invalid is never lost behind what only changes it.
        if finding.status == "invalid_provenance" and not self.is_ambiguous:
            self.items[-1] = finding

    @property
    def is_ambiguous(self) -> bool:
        """Whether programs read different cells."""
        return any(item.status == "invalid_provenance" for item in self.items)

    @property
    def first(self) -> FileFinding | None:
        """The weightiest finding."""
        return next((item for item in self.items if item.status == "invalid_provenance"), next(iter(self.items), None))
