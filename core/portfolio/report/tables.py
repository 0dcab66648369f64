"""Tables of a page: a header of up to three rows that names what a kind of table has, and the rows below it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from core.portfolio.cells.parsing import key
from core.portfolio.fields import TEST_LABELS, TRANCHE_LABELS, Field
from core.portfolio.layout import header
from core.portfolio.report.page import COLUMNS_MAX, Cell, Page

STACK_MAX: Final = 3
"""Rows that may make up a header."""

TITLE_ROWS: Final = 4
"""Rows above a header in which its title stands."""

TABLES_MAX: Final = 40
"""Tables of a kind on one page."""


@dataclass(frozen=True)
class Table:
    """A header and the rows below it, down to the next header of the kind."""

    page: Page
    title: str
    """What stands above the header, and the sheet's name, as `header.spelt` gives them."""
    columns: dict[str, list[int]]
    """What the header names -> the columns that could be it, the best first."""
    headers: dict[int, str]
    """Column -> its header, rows joined."""
    rows: Sequence[int]
    """Rows below the header with a cell."""
    header_row: int
    """The lowest row of the header."""

    def cell(self, row: int, name: str) -> Cell:
        """What stands under the best column of that name."""
        places = self.columns.get(name)
        return Cell("") if not places else self.page.cell(row, places[0])

    def magnitude(self, name: str) -> float:
        """What a column's header, else the title, says its amounts are to be multiplied by."""
        places = self.columns.get(name)
        said = header.magnitude(self.headers[places[0]]) if places else 1.0
        return said if said != 1.0 else header.magnitude_of_title(self.title)


_Head = tuple[int, int, dict[str, list[int]], dict[int, str]]
"""The rows of a header from the top one to the lowest one, what it names, and its texts."""


def _tells(head: _Head) -> tuple[int, bool, int]:
    """What makes a header the better one of several: names, no two columns of one text, few rows."""
    top, _, columns, headers = head
    texts = [headers[column] for places in columns.values() for column in places]
    return len(columns), len(set(texts)) == len(texts), top


_NAMES: Final = frozenset(
    key(alias) for one in (*TRANCHE_LABELS, *TEST_LABELS) if one.target in ("class", "name") for alias in one.aliases
) | {"account", "account name", "accounts", "account description"}
"""What the first column of a table of notes, tests or accounts is called."""


def side_by_side(page: Page, header_row: int, end: int) -> list[range]:
    """The columns of each of several tables that share the rows of one header; none where there is one table.

    A table begins where the header names what a first column has, and words stand below it; behind a blank column, or
    where the same name came before.
    """
    cells = page.row(header_row)
    starts: list[int] = []
    seen: set[str] = set()
    for column, cell in cells.items():
        said = key(cell.text)
        if (
            said in _NAMES
            and (not starts or said in seen or column - 1 not in cells)
            and _has_words(page, header_row, end, column)
        ):
            starts.append(column)
            seen.add(said)
    if len(starts) < 2:
        return []
    return [range(0 if at == 0 else start, (*starts, COLUMNS_MAX)[at + 1]) for at, start in enumerate(starts)]


def _has_words(page: Page, header_row: int, end: int, column: int) -> bool:
    """Whether what stands below a header is words, of which no two are alike."""
    below = [page.cell(row, column) for row in page.rows if header_row < row < end]
    words = [cell.text for cell in below if cell.text and not cell.has_number and not cell.is_blank]
    figures = sum(cell.has_number for cell in below)
    return len(words) > figures and len(set(words)) > 1


class Kind:
    """A kind of table, by what its headers are called."""

    def __init__(self, fields: tuple[Field, ...], is_one: Callable[[AbstractSet[str]], bool]) -> None:
        """`is_one`: whether a header that names these is one of the kind."""
        self.matcher = header.Matcher(fields)
        self.is_one = is_one

    def find(self, page: Page) -> Iterator[Table]:
        """The tables of the kind on a page, from the top."""
        heads: list[_Head] = []
        below = -1
        for row in page.rows:
            if row <= below or len(heads) == TABLES_MAX:
                continue
            head = self._best(page, row)
            if head is not None:
                # A title above is no part of a header that says as much without it.
                within = (self._best(page, lower) for lower in range(row + 1, head[1] + 1))
                head = max([head, *(one for one in within if one is not None)], key=_tells)
                heads.append(head)
                below = head[1]
        for at, (top, lowest, columns, headers) in enumerate(heads):
            ends = [heads[at + 1][0]] if at + 1 < len(heads) else []
            ends += [start for start in page.starts if start > lowest][:1]
            end = min(ends, default=page.rows[-1] + 1)
            beside = side_by_side(page, lowest, end)
            if beside:
                for part in beside:
                    cut = page.cut(part)
                    own = self._best(cut, top) if top in cut.rows else None
                    own = own or (self._best(cut, lowest) if lowest in cut.rows else None)
                    if own is not None:
                        yield self._table(cut, own, end)
            else:
                yield self._table(page, (top, lowest, columns, headers), end)

    def _table(self, page: Page, head: _Head, end: int) -> Table:
        top, lowest, columns, headers = head
        rows = [row for row in page.rows if lowest < row < end]
        return Table(page, title_above(page, top), columns, headers, rows, lowest)

    def _best(self, page: Page, top: int) -> _Head | None:
        """The header that begins in a row: of most names, then of fewest rows."""
        best: _Head | None = None
        headers: dict[int, str] = {}
        for lowest in range(top, top + STACK_MAX):
            cells = page.row(lowest)
            if not cells or any(not cell.text or cell.has_number for cell in cells.values()):
                break
            headers = {column: f"{headers.get(column, '')} {cells[column].text if column in cells else ''}".strip()
                       for column in sorted(headers.keys() | cells.keys())}  # fmt: skip
            columns = self._columns(headers)
            if self.is_one(columns.keys()) and (best is None or len(columns) > len(best[2])):
                best = top, lowest, columns, dict(headers)
        return best

    def _columns(self, headers: dict[int, str]) -> dict[str, list[int]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for column, text in headers.items():
            for target, preference, _ in self.matcher.options(text):
                found.setdefault(target, []).append((preference, column))
        return {target: [column for _, column in sorted(places)] for target, places in found.items()}


def title_above(page: Page, top: int) -> str:
    """What stands above a header's top row, and the sheet's name, as `header.spelt` gives them."""
    above = [
        cell.text
        for row in range(max(0, top - TITLE_ROWS), top)
        if len(cells := page.row(row)) <= 2
        for cell in cells.values()
        if cell.text and not cell.has_number
    ]
    return header.spelt(" . ".join((page.sheet.name, *above)))
