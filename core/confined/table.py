"""The kinds of work that confined children do.

What each gets, what it answers, its limits, and its refusals.

A new kind is a row and a function. What stands above core, and does work of its own in a child, has its rows itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, TypedDict, TypeVar

from msgspec import Struct

from core.confined.wire import named

if TYPE_CHECKING:
    from threading import Event

O = TypeVar("O")  # noqa: E741 - an order
A = TypeVar("A")

MEGABYTE: Final = 1024 * 1024
GIGABYTE: Final = 1024 * MEGABYTE


class Texts(Struct, frozen=True):
    """What is said of work without an answer."""

    too_long: str
    """With a place for the limit in seconds."""
    too_large: str
    """With a place for the limit in bytes."""
    broken: str


class Bounds(TypedDict, total=False):
    """What ends a child early; the row of its work says it where a caller does not."""

    memory_bytes_max: int
    """Its address space."""
    seconds_max: float
    """Its time, on the wall and of its processor."""
    stop: Event | None
    """Set by another thread, it ends the child at once."""


class ConfinedWork(Struct, Generic[O, A], frozen=True, kw_only=True):
    """One kind of work."""

    does: str
    """The dotted name of the function that does it, so that only the child imports it."""
    order: type[O]
    answer: type[A]
    refusals: tuple[str, ...]
    """Dotted names of the exceptions that refuse what was given, each made of its message; the first one also stands
    for a crash and a passed limit."""
    texts: Texts
    memory_bytes_max: int
    """Address space of the child, where the caller says nothing else."""
    seconds_max: float
    """Its time, on the wall and of its processor, likewise."""

    def refusal(self, message: str) -> Exception:
        """Return the refusal of work that came to no answer."""
        exception: Exception = named(self.refusals[0])(message)
        return exception


def texts(work: str) -> Texts:
    """Return the texts of work that is called so at the beginning of a sentence."""
    return Texts(
        f"{work} takes longer than the limit of {{:g}} seconds.",
        f"{work} needs more memory than the limit of {{:,}} bytes.",
        f"{work} stopped before its end.",
    )


# Files ----------------------------------------------------------------------------------------------------------------


class NamedFile(Struct, frozen=True):
    """A file where it is, and the name that its user gave it."""

    name: str
    path: str


class ParseOrder(Struct, frozen=True):
    """A file to be stored as columns, or several that make one workbook."""

    files: tuple[NamedFile, ...]
    now: str | None = None
    """The moment of TODAY and NOW in formulas that came without a value, in ISO format; None: none is calculated."""
    seconds_max: float = 0.0
    """How long these may be calculated."""


CALCULATING: Final = "calculating"
"""A file that stands in a child's folder while formulas without values are calculated: what ends the child then is no
fault of the file that it read."""


class ParseAnswer(Struct, frozen=True):
    """The manifest of the stored workbook, as JSON."""

    manifest: str


PARSE: Final = ConfinedWork(
    does="core.recalc.confined.parse",
    order=ParseOrder,
    answer=ParseAnswer,
    refusals=(
        "core.files.errors.ParseFailed",
        "core.files.errors.InvalidFormat",
        "core.files.errors.FileTooLarge",
        "core.files.errors.TooManySheets",
    ),
    texts=Texts(
        "The file takes longer to be read than the limit of {:g} seconds.",
        "The file needs more memory to be read than the limit of {:,} bytes.",
        "The file is damaged in a way that stopped its reader.",
    ),
    memory_bytes_max=4 * GIGABYTE,  # 50 million slots take 0.75 GB, their growth half as much again, text up to 1 GB
    seconds_max=120.0,  # 22 million cells in 92 MB took 6.5 s and 0.4 GB
)


# Workbooks ------------------------------------------------------------------------------------------------------------


class RecalculateOrder(Struct, frozen=True, kw_only=True):
    """A stored workbook whose formulas are to be calculated."""

    manifest: str
    paths: tuple[str, ...]
    """The sheets' files in the manifest's order."""
    now: str
    """The moment of TODAY and NOW, in ISO format."""
    locale: str | None
    """That of dates and numbers as text; None for the workbook's own."""


class RecalculateAnswer(Struct, frozen=True, kw_only=True):
    """The manifest of the calculated workbook, and what the run came to."""

    manifest: str
    cell_count: int
    unsupported: tuple[str, ...]
    cycles: tuple[tuple[str, ...], ...]
    cycle_count: int
    iterations: int
    """How often the cells of cycles were calculated, where the workbook iterates."""
    unconverged: tuple[str, ...]
    """Some of the cells that still changed then."""
    unconverged_count: int
    fault_count: int
    locale: str
    """The one that was used."""


RECALCULATE: Final = ConfinedWork(
    does="core.recalc.confined.recalculate",
    order=RecalculateOrder,
    answer=RecalculateAnswer,
    refusals=("core.recalc.isolate.RecalculationFailed",),
    texts=texts("Recalculating"),
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=300.0,
)


# Tapes ----------------------------------------------------------------------------------------------------------------


class TapeOrder(Struct, frozen=True):
    """A trustee's file whose loans are to be stored."""

    path: str
    name: str
    """The one that its user gave it."""
    trustee: str
    mapping: str | None = None
    """JSON of the mapping to read it by; None for the trustee's own manner."""
    now: str | None = None
    """The moment of TODAY and NOW in formulas that came without a value, in ISO format; None: none is calculated."""
    seconds_max: float = 0.0
    """How long these may be calculated."""


class TapeAnswer(Struct, frozen=True, kw_only=True):
    """What is known of a tape that was read."""

    loan_count: int
    total_par: float
    sheet_name: str
    header_row: int
    """As a spreadsheet counts, from 1."""
    columns: dict[str, str]
    """Field -> the header that feeds it."""
    as_of: str | None
    """ISO date, where the file says one."""
    warnings: tuple[tuple[str, str, int | None], ...]
    """Code, message and rows of each `core.portfolio.model.notes.DataWarning`."""


READ_TAPE: Final = ConfinedWork(
    does="core.reconciliation.confined.read_tape",
    order=TapeOrder,
    answer=TapeAnswer,
    refusals=("core.reconciliation.tape.TapeRefused",),
    texts=texts("Reading the tape"),
    memory_bytes_max=PARSE.memory_bytes_max,
    seconds_max=PARSE.seconds_max,
)
