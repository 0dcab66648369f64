"""Which loan of the tape is which of the portfolio.

Stage by stage, each on what is still without a partner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import string_pool, text_cells
from core.portfolio.cells.identifiers import IdentifierIndex, agrees, pairs
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.pages.identify import name_keys
from core.reconciliation import _match, _prints
from core.reconciliation.rules import ROUNDING_DECIMALS, STAGES, IdentifierType
from core.reconciliation.side import Side, content_order
from core.seed import SEED
from core.threads import Threads

PAR_SHARE_MAX: Final = 0.05
"""How far the par of two loans may be apart, as a share of the tape's, when the borrower alone says they are one."""

UNITS: Final = 1_000.0
"""Par is stated in the currency's units or in thousands."""

UNITS_RATIO: Final = (950.0, 1_050.0)
"""Ratios of the two pars of one loan that say that one is in thousands."""

UNITS_MEDIANS: Final = (500.0, 2_000.0)
"""The same for the medians of both sides, where no loan is in both."""

PRINTS_MAX: Final = 20_000
"""Loans of a side without a partner up to which other prints of their identifiers are looked for."""

DAYS_MAX: Final = 1_000_000
"""Days from 1970 of a maturity that can be a key: some 2,700 years."""

LOOSE_WORDS: Final = ("HOLDINGS", "HOLDING", "HOLDCO", "BIDCO", "INTERMEDIATE")
"""Words that separate the legal entities of one group, which the looser key of a name leaves out."""

Rows = NDArray[np.int32]
Keys = NDArray[np.uint64]
CodesOf = Callable[[Side, Side, Rows, Rows], tuple[Rows, Rows] | None]
"""Numbers that both sides' rows share, -1 for blank; None where a side has nothing to make them of."""
Members = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows that share their key with others, and a number for each key."""
KeysOf = Callable[[Side, Rows | None], Keys]
"""The keys of a side's rows; None asks for all of them, which spares a copy."""


PrintsOf = Callable[[Side], Keys]
"""A number for each row of a side that tells rows apart which differ in what is compared."""


@dataclass
class SharedKeys:
    """Loans whose key several loans of a side share.

    Rows, and how many have the key on the tape and in the book.
    """

    tape: list[tuple[Rows, NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)
    book: list[tuple[Rows, NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)


@dataclass
class LoanPairs:
    """Partners of both sides' rows, -1 without one, and how they were found."""

    tape_pair: Rows
    book_pair: Rows
    stage: NDArray[np.uint8]
    """Index into STAGES of each row of the tape that has a partner."""
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    ambiguous: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STAGES, 0))
    shared: SharedKeys = field(default_factory=SharedKeys)
    differing: Rows = field(default_factory=lambda: np.zeros(0, np.int32))
    """Rows of the tape, ascending, whose partner has another fingerprint."""
    prints: tuple[Keys, Keys] = field(default_factory=lambda: (np.zeros(0, np.uint64), np.zeros(0, np.uint64)))
    """Fingerprints of either side's rows over all that is compared, par in units of the currency."""
    unverified: int = 0
    """Pairs by an identifier that is the same on both sides and fails its check digit."""
    printed: int = 0
    """Pairs by an identifier that is printed in two ways."""


def match(tape: Side, book: Side, prints_of: PrintsOf, threads: Threads) -> LoanPairs:
    """Pair the loans of two sides one to one.

    In turn: CUSIP with a fitting check digit (its own, or the one in a US ISIN); the CUSIP of one side and the one that
    a loan of the other side has in its US ISIN only; LoanX id of the known shape; ISIN with a fitting check digit; any
    identifier as it is written, where it fits no check, then by its letters and digits; another print of an
    identifier (`core.portfolio.cells.identifiers`);
    normalised borrower and maturity; normalised borrower and facility; a borrower and all that is compared; the
    borrower alone, and at last its looser name alone, where one loan of each side has it and their par is within 5 %.
    Between identifiers and names, par in thousands is told from what is paired by then (`Side.factor`).

    Rows whose key several rows of a side share are paired by equal fingerprints, then by nearest par.

    Args:
        prints_of: gives a side's fingerprints over all that is compared.
        threads: what works on both sides at once; how many they are changes nothing.
    """
    work = _Work(tape, book, prints_of, threads)
    work.by_keys("cusip", _cusip_keys)
    work.by_crossed_cusips()
    work.by_keys("loanx_id", lambda side, rows: _keys(side, "loanx_id", rows, _match.LOANX))
    work.by_keys("isin", lambda side, rows: _keys(side, "isin", rows, _match.ISIN))
    work.as_written()
    work.by_letters_and_digits()
    work.by_prints()
    work.settle_units()
    work.by_names()
    return work.matches


def _keys(side: Side, name: str, rows: Rows | None, kind: int, known: Keys | None = None) -> Keys:
    """Return the keys of some rows (None: of all), 0 without a sound identifier.

    Rows with a known key keep it.
    """
    column = side.column(name)
    if column is None:
        return np.zeros(side.row_count if rows is None else len(rows), np.uint64) if known is None else known
    codes = column.codes if rows is None else column.codes[rows]
    return _match.identifier_keys(column.text.offsets, column.text.data, codes, kind, known)


def _keys_of_rows(keys: KeysOf, side: Side, rows: Rows) -> Keys:
    return keys(side, None if len(rows) == side.row_count else rows)


def _cusip_keys(side: Side, rows: Rows | None) -> Keys:
    keys = _keys(side, "cusip", rows, _match.CUSIP)
    return _keys(side, "isin", rows, _match.EMBEDDED, keys)


class _Work:
    """A matching under way."""

    def __init__(self, tape: Side, book: Side, prints_of: PrintsOf, threads: Threads) -> None:
        self.tape, self.book, self.fingerprints, self.threads = tape, book, prints_of, threads
        self.matches = LoanPairs(
            np.full(tape.row_count, -1, np.int32),
            np.full(book.row_count, -1, np.int32),
            np.zeros(tape.row_count, np.uint8),
            prints=threads.both(prints_of, (tape, book)),
        )
        self.seed = SEED
        self.tape_left = np.arange(tape.row_count, dtype=np.int32)
        self.book_left = np.arange(book.row_count, dtype=np.int32)

    def left(self) -> tuple[Rows, Rows] | None:
        """Rows without a partner; None when a side has none left."""
        return (self.tape_left, self.book_left) if len(self.tape_left) and len(self.book_left) else None

    def by_keys(self, stage: IdentifierType, keys: KeysOf) -> None:
        """Pair by the keys that a function gives for the rows of a side."""
        left = self.left()
        if left is not None:
            self.pair(stage, *self.threads.both(_keys_of_rows, (keys, keys), (self.tape, self.book), left))

    def by_crossed_cusips(self) -> None:
        """Pair by the CUSIPs in the US ISINs of one side, whatever its own ones, and those of the other side."""
        of_isin, of_cusip = ("isin", _match.EMBEDDED), ("cusip", _match.CUSIP)
        for crossed in ((of_isin, of_cusip), (of_cusip, of_isin)):
            left = self.left()
            if left is None:
                return
            fields, kinds = zip(*crossed, strict=True)
            keys = self.threads.both(_keys, (self.tape, self.book), fields, left, kinds)
            if keys[0].any() and keys[1].any():
                self.pair("cusip", *keys)

    def as_written(self) -> None:
        """Pair by identifiers that are no sound ones but the same on both sides."""
        stages: tuple[IdentifierType, ...] = ("cusip", "loanx_id", "isin")
        for stage in stages:
            left = self.left()
            if left is None:
                return
            columns = self.threads.both(Side.subset, (self.tape, self.book), (stage, stage), left)
            if columns[0] is not None and columns[1] is not None:
                codes = _share(columns[0], columns[1])
                before = self.matches.counts[stage]
                self.pair(stage, _code_keys(codes[0]), _code_keys(codes[1]))
                self.matches.unverified += self.matches.counts[stage] - before

    def by_letters_and_digits(self) -> None:
        """Pair by identifiers that differ in case, blanks, hyphens and other signs alone, where no other loan of either
        side has the same letters and digits: A-1 0 and A-10 in one file are two loans."""
        stages: tuple[IdentifierType, ...] = ("cusip", "loanx_id", "isin")
        for stage in stages:
            left = self.left()
            if left is None:
                return
            tape, book = (side.subset(stage, rows) for side, rows in zip((self.tape, self.book), left, strict=True))
            if tape is None or book is None:
                continue
            ours, theirs = _share(_bare(tape), _bare(book))
            both = np.intersect1d(ours, theirs)
            if not len(both[both >= 0]):
                continue
            whole = [side.column(stage) for side in (self.tape, self.book)]
            assert whole[0] is not None
            assert whole[1] is not None
            codes = _share(_bare(whole[0]), _bare(whole[1]))
            counts = [np.bincount(of_side[of_side >= 0], minlength=max(map(np.max, codes)) + 1) for of_side in codes]
            single = np.append((counts[0] == 1) & (counts[1] == 1), False)  # of the code -1 at the end
            keys = [
                np.where(single[of_side[rows]], of_side[rows], np.int32(-1))
                for of_side, rows in zip(codes, left, strict=True)
            ]
            before = self.matches.counts[stage]
            self.pair(stage, _code_keys(keys[0]), _code_keys(keys[1]))
            self.matches.printed += self.matches.counts[stage] - before

    def by_prints(self) -> None:
        """Pair by identifiers that are cut off on one side, or LoanX ids of which one side lacks the check characters:
        where no other loan of either side has the same beginning, and the borrower is the same; or, where no digit
        differs, the maturity and the par (one of them is enough where a name is missing). Of 10,000 loans a few begin
        like another loan by coincidence."""
        stages: tuple[IdentifierType, ...] = ("loanx_id", "isin", "cusip")
        for stage in stages:
            left = self.left()
            if left is None or max(map(len, left)) > PRINTS_MAX:
                return
            tape, book = (side.subset(stage, rows) for side, rows in zip((self.tape, self.book), left, strict=True))
            if tape is None or book is None:
                continue
            texts = tape.text.strings(), book.text.strings()
            print_pairs = [
                (int(theirs[0]), int(ours[0]), agrees(texts[0][each], texts[1][ours_at]))
                for each, ours_at in pairs(*texts)
                if len(theirs := left[0][tape.codes == each]) == len(ours := left[1][book.codes == ours_at]) == 1
            ]
            if print_pairs:
                self.take_prints(stage, print_pairs)

    def take_prints(self, stage: IdentifierType, pairs: list[tuple[int, int, bool]]) -> None:
        """Record pairs of rows by prints of one identifier, unless another loan of a side could be meant."""
        sides = self.tape, self.book
        all_prints = [IdentifierIndex(sorted(_strings(side, stage))) for side in sides]
        rows = np.array([each[:2] for each in pairs], np.int32).T
        written = [side.texts(stage, np.ascontiguousarray(at)) for side, at in zip(sides, rows, strict=True)]
        alone = [
            all(len(prints.of(text)) == 1 for prints, text in zip(all_prints, crossed, strict=True))
            for crossed in zip(written[1], written[0], strict=True)
        ]
        names = [_borrowers(side, np.ascontiguousarray(at)) for side, at in zip(sides, rows, strict=True)]
        equal, apart = np.zeros(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
        for name in ("maturity_date", "par_value"):
            values = self.tape.numbers(name), self.book.numbers(name)
            if values[0] is not None and values[1] is not None:
                same = values[0][rows[0]] == values[1][rows[1]]
                equal |= same
                apart |= ~same
        is_named_by_both = np.array([both_named for *_, both_named in pairs])
        is_named, is_one = np.zeros(len(pairs), np.bool_), np.zeros(len(pairs), np.bool_)
        if names[0] is not None and names[1] is not None:
            theirs, ours = _share(names[0], names[1])
            is_named = (theirs >= 0) & (ours >= 0)
            is_one = is_named & (theirs == ours)
        agree = is_one | (is_named_by_both & equal & ~(is_named & apart))
        kept = agree & np.array(alone)
        self.record(stage, rows[0][kept], rows[1][kept])
        self.matches.printed += int(np.count_nonzero(kept))
        self.forget_paired()

    def find_differing(self) -> None:
        """See which of the pairs so far are of different fingerprints."""

        def among(first: int, last: int) -> Rows:
            return _prints.differing(*self.matches.prints, self.matches.tape_pair, first, last)

        self.matches.differing = np.concatenate(self.threads.map(among, *self.threads.shares(self.tape.row_count)))

    def settle_units(self) -> None:
        """Bring par to units of the currency, and the fingerprints with it."""
        self.find_differing()
        _settle_units(self.tape, self.book, self.matches)
        if self.tape.factor != self.book.factor:
            self.matches.prints = self.threads.both(self.fingerprints, (self.tape, self.book))
            self.find_differing()

    def add_differing(self, rows: Rows) -> None:
        """Match some rows of the tape again that had no partner then."""
        rows = rows[self.matches.tape_pair[rows] >= 0]
        partners = self.matches.tape_pair[rows]
        differing = rows[self.matches.prints[0][rows] != self.matches.prints[1][partners]]
        self.matches.differing = np.sort(np.concatenate((self.matches.differing, differing)))

    def by_names(self) -> None:
        """Pair by borrower and maturity, by borrower and facility, by equal content, and by the borrower alone."""
        left = self.left()
        if left is None:
            return
        tape, book = self.threads.both(_borrowers, (self.tape, self.book), left)
        if tape is None or book is None:
            return
        names = _Names(*left, tape, book, *_share(tape, book))
        steps: tuple[tuple[IdentifierType, CodesOf], ...] = (
            ("borrower_maturity", _maturities),
            ("borrower_name", _facilities),
            ("borrower_name", self.prints_of),
        )
        for stage, others in steps:
            rows = self.left()
            codes = None if rows is None else others(self.tape, self.book, *rows)
            if rows is not None and codes is not None:
                named = names.of(*rows)
                self.pair(stage, _join(named[0], codes[0]), _join(named[1], codes[1]))
        for alone in (names.of, names.loose):
            rows = self.left()
            if rows is not None:
                self.by_names_alone(*rows, *alone(*rows))
        self.add_differing(left[0])

    def prints_of(self, tape: Side, book: Side, tape_rows: Rows, book_rows: Rows) -> tuple[Rows, Rows]:
        """All that is compared of some rows, as numbers from 0."""
        prints = np.concatenate((self.matches.prints[0][tape_rows], self.matches.prints[1][book_rows]))
        codes = np.unique(prints, return_inverse=True)[1].astype(np.int32)
        return codes[: len(tape_rows)], codes[len(tape_rows) :]

    def by_names_alone(self, tape_rows: Rows, book_rows: Rows, tape: Rows, book: Rows) -> None:
        """Pair borrowers, by numbers of their names, that have one loan left on each side, of nearly the same par."""
        tape_par, book_par = self.tape.numbers("par_value"), self.book.numbers("par_value")
        if tape_par is None or book_par is None:
            return
        pair = np.full(len(tape_rows), -1, np.int32), np.full(len(book_rows), -1, np.int32)
        places = np.arange(len(tape_rows), dtype=np.int32), np.arange(len(book_rows), dtype=np.int32)
        self.join((_code_keys(tape), _code_keys(book)), places, pair)
        at = np.flatnonzero(pair[0] >= 0)
        tape_found, book_found = tape_rows[at], book_rows[pair[0][at]]
        apart = np.abs(tape_par[tape_found] - book_par[book_found])
        near = np.round(apart - PAR_SHARE_MAX * np.abs(tape_par[tape_found]), ROUNDING_DECIMALS) <= 0
        self.record("borrower_name", tape_found[near], book_found[near])
        self.forget_paired()

    def pair(self, stage: IdentifierType, tape_keys: Keys, book_keys: Keys) -> None:
        """Pair what is left by keys (0: none), and what shares a key by what it holds."""
        matches, tape_rows = self.matches, self.tape_left
        pairs, tape_members, book_members = self.join(
            (tape_keys, book_keys), (tape_rows, self.book_left), (matches.tape_pair, matches.book_pair)
        )
        matches.counts[stage] += pairs
        if stage != STAGES[0]:  # which is what every row has from the start
            matches.stage[tape_rows[matches.tape_pair[tape_rows] >= 0]] = STAGES.index(stage)
        if len(tape_members[0]):
            self.settle(stage, tape_members, book_members)
        if pairs or len(tape_members[0]):
            self.forget_paired()

    def join(
        self, keys: tuple[Keys, Keys], rows: tuple[Rows, Rows], pair: tuple[Rows, Rows]
    ) -> tuple[int, Members, Members]:
        """`_match.join` of all parts: pair rows by keys that stand once on each side.

        The other keys of both sides.
        """
        count = _match.parts_of(len(keys[1]))

        def parted(keys: Keys, rows: Rows, pair: Rows) -> _match.Parts:
            return _match.Parts(keys, rows, len(pair), count, self.seed)

        tape, book = self.threads.both(parted, keys, rows, pair)
        joined = self.threads.map(
            lambda first, last: _match.join(tape, book, first, last, *pair), *self.threads.shares(count)
        )
        pairs, tape_members, book_members = zip(*joined, strict=True)
        return sum(pairs), _together(tape_members), _together(book_members)

    def forget_paired(self) -> None:
        """Leave out of what is left the rows that have a partner by now."""
        self.tape_left, self.book_left = self.threads.both(
            _match.unpaired, (self.tape_left, self.book_left), (self.matches.tape_pair, self.matches.book_pair)
        )

    def record(self, stage: IdentifierType, tape_rows: Rows, book_rows: Rows) -> None:
        """Take down pairs."""
        self.matches.tape_pair[tape_rows] = book_rows
        self.matches.book_pair[book_rows] = tape_rows
        self.matches.stage[tape_rows] = STAGES.index(stage)
        self.matches.counts[stage] += len(tape_rows)

    def settle(self, stage: IdentifierType, tape: Members, book: Members) -> None:
        """Pair the rows of each group that shares a key.

        Those that hold the same first, then by nearest par.

        A group that pairs off completely in rows that hold the same is no matter of doubt, and is not reported.
        """
        tape_rows, book_rows = tape[0].astype(np.int32), book[0].astype(np.int32)
        rows = np.concatenate((tape_rows, book_rows))
        is_book = np.arange(len(rows)) >= len(tape_rows)
        _, group = np.unique(np.concatenate((tape[1], book[1])), return_inverse=True)
        prints = np.concatenate((self.matches.prints[0][tape_rows], self.matches.prints[1][book_rows]))
        place = np.concatenate((content_order(self.tape, tape_rows), content_order(self.book, book_rows)))
        partner = _equal_partners(group, prints, is_book, place)
        doubtful = np.zeros(int(group.max()) + 1, np.bool_)
        doubtful[group[partner < 0]] = True
        rest = np.flatnonzero(partner < 0)
        par = np.concatenate((_known_par(self.tape)[tape_rows], _known_par(self.book)[book_rows]))
        # Of equal par on one side, the tape's backwards: where the sides meet, the first is beside the first.
        turned = np.where(is_book, place, -place)
        rest = rest[np.lexsort((turned[rest], is_book[rest], par[rest], group[rest]))]
        near = _match.pair_nearest(group[rest], par[rest], is_book[rest].view(np.uint8))
        partner[rest[near >= 0]] = rest[near[near >= 0]]
        at = np.flatnonzero((partner >= 0) & ~is_book)
        self.record(stage, rows[at], rows[partner[at]])
        self.matches.ambiguous[stage] += int(np.count_nonzero(doubtful))
        tape_count = np.bincount(group[~is_book], minlength=len(doubtful))[group]
        book_count = np.bincount(group[is_book], minlength=len(doubtful))[group]
        for of_side, kept in ((~is_book, self.matches.shared.tape), (is_book, self.matches.shared.book)):
            unsure = np.flatnonzero(of_side & doubtful[group])
            kept.append((rows[unsure], tape_count[unsure], book_count[unsure]))


def _together(members: Sequence[Members]) -> Members:
    return np.concatenate([rows for rows, _ in members]), np.concatenate([groups for _, groups in members])


def _equal_partners(
    group: NDArray[np.int64], prints: Keys, is_book: NDArray[np.bool_], place: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Partners of rows of one group and fingerprint, first with first.

    -1 for those that are left over.
    """
    order = np.lexsort((place, is_book, prints, group))
    starts = np.ones(len(order), np.bool_)
    starts[1:] = (np.diff(group[order]) != 0) | (np.diff(prints[order]) != 0)
    run = np.cumsum(starts) - 1
    tape_count = np.bincount(run, ~is_book[order]).astype(np.int64)
    book_count = np.bincount(run, is_book[order]).astype(np.int64)
    within = np.arange(len(order)) - np.flatnonzero(starts)[run]
    takes = within < np.minimum(tape_count, book_count)[run]
    partner = np.full(len(order), -1, np.int64)
    at = np.flatnonzero(takes & ~is_book[order])
    partner_place = at + tape_count[run[at]]
    partner[order[at]], partner[order[partner_place]] = order[partner_place], order[at]
    return partner


def _known_par(side: Side) -> NDArray[np.float64]:
    """Par with 0 for blank."""
    par = side.numbers("par_value")
    return np.zeros(side.row_count) if par is None else np.nan_to_num(par, nan=0.0, posinf=0.0, neginf=0.0)


@dataclass(frozen=True, slots=True)
class _Names:
    """Normalised names of the borrowers of some rows, ascending."""

    tape_rows: Rows
    book_rows: Rows
    tape: TextColumn
    book: TextColumn
    tape_codes: Rows
    """A number that equal names of both sides share; -1 is blank."""
    book_codes: Rows

    def of(self, tape_rows: Rows, book_rows: Rows) -> tuple[Rows, Rows]:
        """Return the numbers of some of the rows."""
        tape_at, book_at = np.searchsorted(self.tape_rows, tape_rows), np.searchsorted(self.book_rows, book_rows)
        return self.tape_codes[tape_at], self.book_codes[book_at]

    def loose(self, tape_rows: Rows, book_rows: Rows) -> tuple[Rows, Rows]:
        """Numbers of some of the rows' looser names."""
        tape_at, book_at = np.searchsorted(self.tape_rows, tape_rows), np.searchsorted(self.book_rows, book_rows)
        return _share(
            _loose(TextColumn(self.tape.codes[tape_at], self.tape.text)),
            _loose(TextColumn(self.book.codes[book_at], self.book.text)),
        )


def _loose(column: TextColumn) -> TextColumn:
    """Normalised names without the words that separate the entities of one group.

    The first word stays.
    """
    used, codes = np.unique(column.codes, return_inverse=True)
    named = used[used >= 0]
    written, text = text_cells.pool_of([_LOOSE_WORD.sub("", name) for name in string_pool.decode(column.text, named)])
    written = np.concatenate((np.full(len(used) - len(named), -1, np.int32), written))
    return name_keys(TextColumn(written[codes], text))


def _strings(side: Side, field: str) -> set[str]:
    """Return the distinct texts of a column; none without it."""
    column = side.column(field)
    return set() if column is None else set(string_pool.decode(column.text, np.unique(column.codes[column.codes >= 0])))


# ---- keys of names -------------------------------------------------------------------------------------------------


def _borrowers(side: Side, rows: Rows) -> TextColumn | None:
    """Return rows' normalised borrower names, or None without such a column."""
    names = side.subset("borrower_name", rows)
    return None if names is None else name_keys(names)


def _share(tape: TextColumn, book: TextColumn) -> tuple[Rows, Rows]:
    """Return two text columns as numbers that equal texts share; -1 for blank."""
    return _match.shared_codes(
        tape.text.offsets, tape.text.data, tape.codes, book.text.offsets, book.text.data, book.codes
    )


def _code_keys(codes: Rows) -> Keys:
    return (codes.astype(np.int64) + 1).view(np.uint64)


def _join(codes: Rows, others: Rows) -> Keys:
    """One key from two numbers; 0 where the first or the second is -1."""
    keys = (_code_keys(codes) << np.uint64(32)) | _code_keys(others)
    return np.where((codes >= 0) & (others >= 0), keys, np.uint64(0))


def _maturities(tape: Side, book: Side, tape_rows: Rows, book_rows: Rows) -> tuple[Rows, Rows] | None:
    """Maturities as numbers from 0, -1 for blank; None if a side has none."""
    days = tape.numbers("maturity_date"), book.numbers("maturity_date")
    if days[0] is None or days[1] is None:
        return None
    return _day_codes(days[0][tape_rows]), _day_codes(days[1][book_rows])


def _day_codes(days: NDArray[np.float64]) -> Rows:
    known = np.abs(days) <= DAYS_MAX
    return np.where(known, np.floor(np.where(known, days, 0.0)) + DAYS_MAX, -1.0).astype(np.int32)


def _facilities(tape: Side, book: Side, tape_rows: Rows, book_rows: Rows) -> tuple[Rows, Rows] | None:
    """Facility names of some rows, case and punctuation apart, as numbers that both sides share; None without them."""
    names = tape.subset("facility_name", tape_rows), book.subset("facility_name", book_rows)
    return None if names[0] is None or names[1] is None else _share(_fold(names[0]), _fold(names[1]))


def _bare(column: TextColumn) -> TextColumn:
    return TextColumn(column.codes, text_cells.bare(column.text))


def _fold(column: TextColumn) -> TextColumn:
    return TextColumn(column.codes, Text(*_match.folded(column.text.offsets, column.text.data)))


_LOOSE_WORD: Final = re.compile(rf" (?:{'|'.join(LOOSE_WORDS)})(?= |$)")


# ---- units of par --------------------------------------------------------------------------------------------------


def _settle_units(tape: Side, book: Side, matched: LoanPairs) -> None:
    """Set the factor of a side that states par in thousands, from the loans that are paired, else from the medians."""
    tape_par, book_par = tape.numbers("par_value"), book.numbers("par_value")
    if tape_par is None or book_par is None:
        return
    paired = sum(matched.counts.values())
    if paired:
        # Pairs of one fingerprint have one par.
        theirs, ours = tape_par[matched.differing], book_par[matched.tape_pair[matched.differing]]
        tape_is = 2 * _ratios_within(theirs, ours, *UNITS_RATIO) > paired
        book_is = 2 * _ratios_within(ours, theirs, *UNITS_RATIO) > paired
    else:
        theirs, ours = _median(tape_par), _median(book_par)
        tape_is = _ratios_within(theirs, ours, *UNITS_MEDIANS) > 0
        book_is = _ratios_within(ours, theirs, *UNITS_MEDIANS) > 0
    tape.factor = UNITS if tape_is else 1.0
    book.factor = UNITS if book_is else 1.0


def _median(par: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of what is positive, 0 without any; one element."""
    positive = par[par > 0]
    return np.array([np.median(positive) if len(positive) else 0.0])


def _ratios_within(small: NDArray[np.float64], large: NDArray[np.float64], low: float, high: float) -> int:
    """How many of some positive pairs have a ratio from `low` to `high`."""
    return int(np.count_nonzero((small > 0) & (large >= low * small) & (large <= high * small)))
