"""The audit command: an exported audit log checked offline, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, counted, emit, json_of
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from service.platform.data.audit import Record

EXIT_BROKEN: Final = 1
LINE_BYTES_MAX: Final = 16 * 1024 * 1024
"""Longer than any entry: its details are part of what one request or job said."""
BREAKS_MAX: Final = 20
"""After so many the rest is not looked at: where entries were renumbered, all that follow are broken."""


def audit(
    file: Path,
    /,
    *,
    filtered: Annotated[bool, Parameter(negative=())] = False,
    output: Output | None = None,
) -> int:
    """Check that no entry of an exported audit log was changed or left out.

    Nor was one put in or moved.

    The exit code is 0 when the chain is whole, 1 when it is broken, and 2 when the file cannot be read. An entry in
    which a person was erased is checked by a later entry, which an export under a filter may lack. Entries cut off at
    the end leave no gap, and whoever writes the whole file anew can make it fit in itself. So compare the last hash
    with the service's. The JSON has file, whole, entries, first, last, last_hash, redacted and breaks.

    Parameters
    ----------
    file:
        JSON lines, as GET /api/v1/admin/audit-logs/export?format=jsonl gives them.
    filtered:
        The export had a filter (dates, say): entries may be missing, and each is checked by itself and with its
        neighbours.
    """
    from service.platform.data.audit import breaks

    walk = _Walk(file)
    broken = list(islice(breaks(walk, gaps=filtered), BREAKS_MAX))
    if walk.first is None or walk.last is None:
        raise Refused(f"{file}: holds no entries")
    summary = f"{file.name}: {counted(walk.count, 'entry')}, {walk.first.sequence} to {walk.last.sequence}"
    if broken:
        summary += f": broken at entry {broken[0].sequence}"
    else:
        erased = f", {walk.redacted:,} of them without a person who was erased" if walk.redacted else ""
        summary += f"{erased}: whole, last hash {walk.last.hash}"
    document = {
        "file": str(file),
        "whole": not broken,
        "entries": walk.count,
        "first": walk.first.sequence,
        "last": walk.last.sequence,
        "last_hash": walk.last.hash,
        "redacted": walk.redacted,
        "breaks": [{"sequence": chain_break.sequence, "reason": chain_break.reason} for chain_break in broken],
    }
    unseen = [Line("... and no further entry was looked at")] * (len(broken) == BREAKS_MAX)
    page = OutputPage(
        blocks=[
            *(Line(f"entry {chain_break.sequence}: {chain_break.reason}") for chain_break in broken),
            *unseen,
            Line(summary),
        ],
        rows=Grid(columns=[OutputColumn(name) for name in ("sequence", "reason")], items=broken),
        document=json_of(document),
        notes=[*unseen, Line(summary)],
    )
    emit(page, output or Output())
    return EXIT_BROKEN if broken else 0


class _Walk:
    """The entries of an export, line by line, with a note of what went by."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.count = 0
        self.first: Record | None = None
        self.last: Record | None = None
        self._redacted: set[int] = set()

    @property
    def redacted(self) -> int:
        """How many entries others tell as redacted."""
        return len(self._redacted)

    def __iter__(self) -> Iterator[Record]:
        """Each entry.

        Raises:
            Refused: the file cannot be read, or a line is no entry.
        """
        from service.platform.data.audit import REDACTED, NoRecord, parse, redactions

        try:
            with self.file.open("rb") as lines:
                while line := lines.readline(LINE_BYTES_MAX + 1):
                    self.count += 1
                    if len(line) > LINE_BYTES_MAX:
                        raise Refused(f"{self.file}: line {self.count} is longer than {LINE_BYTES_MAX:,} bytes")
                    self.last = parse(line)
                    self.first = self.first or self.last
                    if self.last.action == REDACTED:
                        self._redacted.update(sequence for sequence, _ in redactions(self.last))
                    yield self.last
        except NoRecord as error:
            raise Refused(f"{self.file}: line {self.count} is no entry of an audit log: {error}") from error
        except OSError as error:
            raise Refused(f"{self.file}: {error.strerror or error}") from error
