"""A file's calculations of cash, par and interest, decided by exact sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal

from core.portfolio.model.facts import Fact, Facts, Identity
from core.portfolio.pages.report import words
from core.portfolio.pages.report.accounts import Accounts
from core.portfolio.pages.report.blocks import Blocks, PageTable
from core.portfolio.pages.report.components import Component, ComponentPage, facts_of, find_components, with_sign
from core.portfolio.pages.report.identities import (
    SIGNED_LINES_MAX,
    CollateralFigures,
    Item,
    Solution,
    check_table,
    collateral_principal_amount,
    makes,
    numerator,
    solve_signs,
    unlike,
)
from core.portfolio.pages.report.page import ReportPage
from core.portfolio.pages.report.strata import defaulted_par, find_strata

LIST_ROWS_MIN: Final = 20
"""Rows from which the sum of a list's amounts may be the par of all loans."""

TARGETS_MAX: Final = 3
"""Numerators of one kind that are solved."""

SIGNED_BLOCKS_MAX: Final = 40
"""Blocks of lines in which signs are tried for one numerator of interest coverage."""

_OF_SHARES: Final = frozenset(("oc", "ic", "reinvestment", "eod"))
"""Measures whose denominator is no collateral principal amount."""

_OTHER_INTEREST: Final = frozenset(("oth_int", "accint"))


@dataclass
class Calculations:
    """What the file's calculations say."""

    deal: dict[str, float | str] = field(default_factory=dict)
    """Fields of `Deal`."""
    cells: dict[str, str] = field(default_factory=dict)
    """Field -> where it stands."""
    proved: set[str] = field(default_factory=set)
    """Fields that a sum proves: no other figure of the file makes it."""
    identities: tuple[Identity, ...] = ()
    facts: tuple[Fact, ...] = ()
    """Components, accounts, stratifications, lists, totals and empty pages."""


def read_calculations(
    pages: Sequence[tuple[ReportPage, Blocks]],
    lists: Sequence[tuple[ReportPage, Blocks]],
    tests: Iterable[Fact],
    accounts: Accounts,
) -> Calculations:
    """Read what pages calculate beside their tests; of `lists` only what counts."""
    blocks = [block for _, block in pages]
    components = find_components(blocks)
    whole = {page.sheet.index for page, _ in lists}
    on_pages = [pair for pair in pages if pair[0].sheet.index not in whole]
    printed = (*find_strata((*on_pages, *lists)), *facts_of(components), *accounts.facts)
    calculations = calculate(Facts(all=(*tests, *printed)), blocks, components, accounts)
    calculations.facts = printed
    return calculations


def calculate(
    facts: Facts, pages: Sequence[Blocks], components: Sequence[ComponentPage], accounts: Accounts
) -> Calculations:
    """Return the sums of the file's figures, and what of `Deal` follows.

    Args:
        facts: the tests with their numerators and denominators, lists and empty pages.
    """
    calculations = Calculations()
    evidence = _Evidence(facts, pages, components, accounts)
    cpa, identity = collateral_principal_amount(evidence.collateral())
    identities = [identity]
    if cpa is not None:
        _take_collateral(calculations, cpa, evidence)
    _take_defaulted(calculations, evidence)
    oc = evidence.oc_numerator(cpa)
    if oc is not None:
        identities.append(oc.identity("oc_numerator"))
        _take_oc(calculations, oc, cpa)
    ic = evidence.ic_numerator()
    if ic is not None:
        identities.append(ic.identity("ic_numerator"))
        _take_ic(calculations, ic)
    else:
        _take_lines_of_interest(calculations, evidence)
    identities += _tables(pages)
    calculations.identities = tuple(solved for solved in identities if solved is not None)
    return calculations


class _Evidence:
    """The figures of a file by their roles."""

    def __init__(
        self, facts: Facts, pages: Sequence[Blocks], components: Sequence[ComponentPage], accounts: Accounts
    ) -> None:
        self.facts = facts
        self.pages = pages
        self.components = components
        self.accounts = accounts
        self.defaulted = defaulted_par(facts)

    def of(self, *roles: str) -> list[Item]:
        """Return the lines of some roles, certain ones first, and calculated amounts."""
        lines = [component for page in self.components for component in page.components if component.role in roles]
        ordered = sorted(lines, key=lambda line: not line.is_certain)
        return [component.item() for component in ordered] + [
            amount for amount in self.accounts.amounts if amount.role in roles
        ]

    def totals(self) -> list[Item]:
        """Return what shares divide by, that of most tests first, then lines."""
        counts: Counter[float] = Counter()
        places: dict[float, str] = {}
        for fact in self.facts.figures:
            measure = None if fact.subject is None else fact.subject.measure
            if fact.denominator and measure not in _OF_SHARES and fact.unit in ("percent", None):
                counts[fact.denominator] += 1
                places.setdefault(fact.denominator, fact.place)
        modal = [Item("cpa", amount, (places[amount],)) for amount, count in counts.most_common() if count > 1]
        return [*modal, *self.of("cpa")]

    def collateral(self) -> CollateralFigures:
        """Return what may be part of the collateral principal amount."""
        summed = [
            Item("par", total.value, (total.place,), total.decimals)
            for total in self.facts.of("total")
            if total.value is not None
            and total.subject is not None
            and total.subject.measure in ("rating", "industry", "country")
        ]
        cash = [*self.accounts.cash[:1], *self.of("cash"), *self.accounts.cash[1:]]
        # A zero never beats a printed amount.
        cash = [item for item in cash if item.amount] + [item for item in cash if not item.amount]
        return CollateralFigures(
            totals=unlike(self.totals()),
            sums=tuple(self._sums_of_par_and_cash()),
            par=unlike([*self.of("par", "perf"), *summed, *_lists(self.pages)]),
            defaulted=unlike(self._defaulted()),
            carried=unlike(self.of("defcarry")),
            cash=unlike(cash),
            others=unlike(self._amounts()),
        )

    def _defaulted(self) -> Iterator[Item]:
        if self.defaulted is not None and self.defaulted.value:
            yield Item("defpar", self.defaulted.value, (self.defaulted.place,), self.defaulted.decimals)
        yield from self.of("defpar")

    def _amounts(self) -> Iterator[Item]:
        """Yield every amount that may be cash though no word says so."""
        for page in self.components:
            for component in page.components:
                if component.role is None and not component.line.is_total and component.value:
                    yield component.item("cash")
        for fact in self.accounts.facts:
            if fact.kind == "account" and fact.value:
                yield Item("cash", fact.value, (fact.place,), fact.decimals)

    def _sums_of_par_and_cash(self) -> Iterator[Item]:
        """Yield the totals whose parts are a par and a cash."""
        for page in self.components:
            for sum_value in page.sums:
                parts = page.parts(sum_value.at)
                roles = {part.role for part, added in parts if added}
                if "cash" in roles and roles & {"par", "perf"} and roles <= {"par", "perf", "cash", "defpar"}:
                    yield page.components[sum_value.at].item("cpa")

    # ---- numerators ----

    def _of_tests(self, measure: str, role: str) -> list[Item]:
        """Return numerators of a kind of coverage, that of most tests first."""
        counts: Counter[float] = Counter()
        places: dict[float, str] = {}
        for fact in self.facts.figures:
            if fact.numerator and fact.subject is not None and fact.subject.measure == measure:
                counts[fact.numerator] += 1
                places.setdefault(fact.numerator, fact.place)
        return [Item(role, amount, (places[amount],)) for amount, _ in counts.most_common()]

    def _targets(self, measure: str, role: str) -> list[Item]:
        """Return the same, then the lines that say so."""
        lines = (line for line in self.of(role) if line.amount)
        return list(unlike([*self._of_tests(measure, role), *lines]))[:TARGETS_MAX]

    def _by_block(self, target: Item) -> Solution | None:
        """Return the lines of a page that add up to a numerator, as parts of a line."""
        for page in self.components:
            for sum_value in reversed(page.sums):
                line = page.components[sum_value.at]
                if abs(line.value - target.amount) > line.item().slack + target.slack:
                    continue
                parts = tuple(_with_printed_sign(part, added) for part, added in page.parts(sum_value.at))
                if sum(1 for part in parts if part.amount) > 1:
                    return Solution(line.item(target.role), parts, is_proved=True)
        return None

    def oc_numerator(self, cpa: Solution | None) -> Solution | None:
        """Return the parts of the numerator of the OC ratios."""
        for target in self._targets("oc", "acpa"):
            block = self._by_block(target)
            if (
                block is not None
                and block.total.amount
                and {"par", "perf", "cpa"} & {part.role for part in block.parts}
            ):
                return block
            bases = [] if cpa is None else [Item("cpa", cpa.total.amount, cpa.total.places, cpa.total.decimals)]
            adjustments = [
                with_sign(item)
                for item in self.of("disc", "cccx", "hair", "accint", "defcarry")
                if cpa is None or item.role != "defcarry" or all(part.role != "defcarry" for part in cpa.parts)
            ]
            solution = numerator(target, bases, adjustments)
            if solution is not None:
                return solution
        return None

    def ic_numerator(self) -> Solution | None:
        """Return the parts of the numerator of the IC ratios."""
        for target in self._targets("ic", "icnum"):
            block = self._by_block(target)
            if block is not None:
                return block
            collected = [*self.of("coll"), *self.accounts.collected]
            rest = [with_sign(item) for item in self.of("tobe", "senior", "oth_int", "accint")]
            rest = [item.as_deduction if item.role == "accint" else item for item in rest]
            own = [item for item in collected if abs(item.amount - target.amount) > item.slack + target.slack]
            solution = numerator(target, own, rest, needs=frozenset(("tobe",)))
            if solution is not None:
                return solution
            short = (lines for page in self.components for lines in _blocks(page) if len(lines) <= SIGNED_LINES_MAX + 1)
            for lines in islice(short, SIGNED_BLOCKS_MAX):
                free = [line for line in lines if abs(line.amount - target.amount) > 1.0]
                if len(free) > 1 and (solution := solve_signs(target, free)) is not None:
                    return solution
        return None

    def whole_interest(self) -> Item | None:
        """Return the IC numerator where a line of interest proceeds has just this."""
        for target in self._of_tests("ic", "icnum"):
            lines = [line for line in self.of("coll", "icnum") if abs(line.amount - target.amount) <= line.slack]
            if lines:
                return lines[0]
        return None

    def lines_of_interest(self) -> list[Item]:
        """Return the first block's lines of interest, where no numerator is known."""
        blocks: dict[tuple[int, str, int], list[Component]] = {}
        for number, page in enumerate(self.components):
            for component in page.components:
                if component.is_certain:
                    blocks.setdefault((number, component.line.title, component.line.block), []).append(component)
        for lines in blocks.values():
            if {"coll", "tobe"} <= {line.role for line in lines}:
                return [line.item() for line in lines]
        amounts = list(self.accounts.amounts)
        return [*self.accounts.collected[:1], *amounts] if any(amount.role == "tobe" for amount in amounts) else []


def _with_printed_sign(part: Component, added: float) -> Item:
    return Item(part.role or "", added, (part.line.place,), part.decimals)


def _blocks(page: ComponentPage) -> Iterator[list[Item]]:
    """Yield the lines of each block of a page."""
    blocks: dict[tuple[str, int], list[Item]] = {}
    for component in page.components:
        if not component.line.is_total:
            blocks.setdefault((component.line.title, component.line.block), []).append(component.item())
    yield from blocks.values()


def _lists(pages: Iterable[Blocks]) -> Iterator[Item]:
    """Yield the sums of long lists' amounts: one may be the par of all loans."""
    for blocks in pages:
        for table in blocks.tables:
            if table.kind == "list" and "amount" in table.columns and len(table.rows) >= LIST_ROWS_MIN:
                scale = table.magnitude("amount")
                cells = [
                    cell
                    for row in table.rows
                    if (cell := table.cell(row, "amount")).has_number
                    and not words.is_total(_label(table, row))
                    and table.cell(row, "name").text
                ]
                yield Item(
                    "par",
                    sum(cell.number for cell in cells) * scale,
                    (table.place(table.rows[0], "amount"),),
                    min((cell.decimals for cell in cells if cell.decimals is not None), default=2),
                )


def _label(table: PageTable, row: int) -> str:
    return next((cell.text for cell in table.page.row(row).values() if cell.is_words), "")


# ---- tables --------------------------------------------------------------------------------------------------------


def _tables(pages: Iterable[Blocks]) -> Iterator[Identity]:
    """Yield whether class balances and industries add up to their printed totals."""
    named: set[str] = set()
    for blocks in pages:
        for table in blocks.tables:
            name: Literal["class_balances", "industries"]
            if table.kind == "notes" and "bal" in table.columns:
                name, role, label = "class_balances", "bal", "class"
            elif (
                table.kind == "stratification"
                and "amount" in table.columns
                and " industry " in words.normal(table.headers[table.columns["name"]])
            ):
                name, role, label = "industries", "amount", "name"
            else:
                continue
            identity = _table(table, name, role, label)
            if identity is not None and (name == "industries" or name not in named):
                named.add(name)
                yield identity


def _table(table: PageTable, name: str, role: str, label: str) -> Identity | None:
    rows = [row for row in table.rows if table.cell(row, role).has_number]
    scale = table.magnitude(role)
    items = [
        Item(table.cell(row, label).text, table.cell(row, role).number * scale, (table.place(row, role),))
        for row in rows
    ]
    ends = [at for at, row in enumerate(rows) if not table.cell(row, label).text or words.is_total(_label(table, row))]
    if not ends or ends[0] < 2:
        return None
    return check_table(name, items[ends[0]], items[: ends[0]])


# ---- fields of the deal --------------------------------------------------------------------------------------------


def _put_amount(
    calculations: Calculations, target: str, amount: float | str, items: Sequence[Item], *, is_proved: bool
) -> None:
    calculations.deal[target] = amount
    places = [place for item in items for place in item.places]
    if places:
        calculations.cells[target] = ", ".join(dict.fromkeys(places))
    if is_proved:
        calculations.proved.add(target)


def _take_collateral(calculations: Calculations, cpa: Solution, evidence: _Evidence) -> None:
    cash = cpa.parts[-1]
    _put_amount(calculations, "principal_cash", cash.amount, [cash], is_proved=cpa.is_proved)
    roles = [part.role for part in cpa.parts]
    printed = evidence.defaulted is not None and evidence.defaulted.value
    if not printed or not any(total.amount == cpa.total.amount for total in evidence.totals()):
        return
    counts = "carried" if "defcarry" in roles else "none" if "perf" in roles or "defpar" in roles else "par"
    if cpa.is_proved and (counts != "par" or _is_gross(cpa.parts[0], evidence)):
        _put_amount(calculations, "defaulted_in_denominator", counts, [cpa.total], is_proved=True)


def _is_gross(par: Item, evidence: _Evidence) -> bool:
    """Return whether a par includes defaulted loans: a line without them is there."""
    return evidence.defaulted is not None and any(
        makes(par, (item, Item("defpar", evidence.defaulted.value or 0.0))) for item in evidence.of("par", "perf")
    )


def _take_defaulted(calculations: Calculations, evidence: _Evidence) -> None:
    printed = evidence.defaulted
    if printed is not None and printed.value is not None:
        calculations.deal["defaulted_par"] = abs(printed.value)
        calculations.cells["defaulted_par"] = printed.place


def _take_oc(calculations: Calculations, oc: Solution, cpa: Solution | None) -> None:
    """Take haircuts and other items of the OC numerator, where proved."""
    if not oc.is_proved:
        return
    parts = list(oc.parts)
    if cpa is not None and any(part.role == "cpa" for part in parts):
        parts += [part for part in cpa.parts if part.role == "defcarry"]
    for target, roles, sign in (
        ("ccc_haircut", ("cccx",), -1.0),
        ("discount_haircut", ("disc",), -1.0),
        ("other_haircut", ("hair",), -1.0),
        ("defaulted_carried", ("defcarry",), 1.0),
    ):
        own = [part for part in parts if part.role in roles]
        if own or target != "defaulted_carried" or not calculations.deal.get("defaulted_par"):
            _put_amount(calculations, target, sign * sum(part.amount for part in own) + 0.0, own, is_proved=True)
    known = ("cccx", "disc", "hair", "defcarry", "par", "perf", "cpa", "cash", "defpar")
    rest = [part for part in parts if part.role not in known]
    if any(part.amount for part in rest):
        _put_amount(calculations, "par_value_other", sum(part.amount for part in rest), rest, is_proved=True)


def _take_ic(calculations: Calculations, ic: Solution) -> None:
    """Take the parts of the IC numerator.

    Of lines whose words say nothing, the largest is what was collected.
    """
    unknown = [part for part in ic.parts if part.role not in ("coll", "tobe", "senior", *_OTHER_INTEREST)]
    parts = {role: [part for part in ic.parts if part.role == role] for role in ("coll", "tobe", "senior")}
    if not parts["coll"] and unknown:
        largest = max(unknown, key=lambda part: part.amount)
        parts["coll"], unknown = [largest], [part for part in unknown if part is not largest]
    if not parts["coll"]:
        return
    for target, role in (("interest_collected", "coll"), ("interest_receivable", "tobe"), ("senior_fees", "senior")):
        own = parts[role]
        if not own and not ic.is_proved:
            continue
        amount = sum(part.amount for part in own)
        _put_amount(calculations, target, -amount + 0.0 if role == "senior" else amount, own, is_proved=ic.is_proved)
    rest = [*unknown, *(part for part in ic.parts if part.role in _OTHER_INTEREST)]
    if any(part.amount for part in rest):
        _put_amount(calculations, "interest_other", sum(part.amount for part in rest), rest, is_proved=ic.is_proved)


def _take_lines_of_interest(calculations: Calculations, evidence: _Evidence) -> None:
    """Take the numerator as such, or the lines of one block by their words alone."""
    whole = evidence.whole_interest()
    if whole is not None:
        _put_amount(calculations, "interest_available", whole.amount, [whole], is_proved=True)
        return
    lines = evidence.lines_of_interest()
    for target, role in (("interest_collected", "coll"), ("interest_receivable", "tobe"), ("senior_fees", "senior")):
        own = [line for line in lines if line.role == role]
        if own:
            _put_amount(calculations, target, abs(sum(item.amount for item in own)), own, is_proved=False)
