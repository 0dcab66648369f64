"""The tested classes of a draft with their triggers, the reinvestment test's class and the event of default's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from core.compliance.agreement import CENT
from core.compliance.coverage import Structure, tested_letters
from core.deals.draft.figures import LIMIT_MAX, DraftTest
from core.deals.draft.record import CERTAIN, GUESSED, Decision, Sections, Sure, origin
from core.definition.definition import CLASSES_MAX
from core.definition.written import Block, WrittenEntry
from core.portfolio.model.facts import Fact

_TRIGGERS: Final = {"oc": "oc_trigger", "ic": "ic_trigger"}


@dataclass(slots=True)
class TestedClass:
    """A class of notes with its triggers: (percent, where it is printed)."""

    name: str
    triggers: dict[str, tuple[float, str]] = field(default_factory=dict)


def tested_classes(
    drafted: Iterable[DraftTest], structure: Structure | None, cells: dict[str, str]
) -> list[TestedClass]:
    """The classes with a printed trigger, senior first.

    Those of the coverage tests, else those of the notes' table.
    """
    by_letter: dict[str, TestedClass] = {}
    for draft_test in drafted:
        measure, trigger = draft_test.measured.get("measure"), draft_test.fact.trigger
        if measure in _TRIGGERS and trigger is not None and not draft_test.open_limit:
            name = str(draft_test.measured["class"])
            tested = by_letter.setdefault(_last(name), TestedClass(name))
            tested.name = max(tested.name, name, key=len)
            tested.triggers.setdefault(measure, (trigger, draft_test.fact.place))
    if not by_letter and structure is not None:
        for measure, letters, trigger in sheet_triggers(structure):
            place = cells.get(f"tranches.{measure}_trigger", "the table of the notes")
            name = "/".join(letters)
            by_letter.setdefault(_last(name), TestedClass(name)).triggers.setdefault(measure, (trigger, place))
    order = {} if structure is None else {group.letter: at for at, group in enumerate(structure.groups)}
    return sorted(by_letter.values(), key=lambda each: (order.get(_last(each.name), len(order)), _last(each.name)))


def sheet_triggers(structure: Structure) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """(measure, letters, trigger) of each class for which the table of the notes has a trigger."""
    for measure, tested in (("oc", structure.oc), ("ic", structure.ic)):
        for tested_class in tested:
            letters = tuple(filter(None, tested_letters(structure, tested_class, is_first=tested_class is tested[0])))
            if (
                tested_class.from_sheet
                and tested_class.trigger is not None
                and 0.0 <= tested_class.trigger <= LIMIT_MAX
                and letters
            ):
                yield measure, letters, tested_class.trigger


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def class_blocks(classes: Sequence[TestedClass]) -> list[Block]:
    """Return the classes as tables of a draft."""
    return [
        Block(
            "classes",
            (
                WrittenEntry(
                    "name",
                    note_class.name,
                    origin(", ".join(place for _, place in note_class.triggers.values()), CERTAIN),
                ),
                *(
                    WrittenEntry(_TRIGGERS[measure], trigger, origin(place, CERTAIN))
                    for measure, (trigger, place) in note_class.triggers.items()
                ),
            ),
            is_listed=True,
        )
        for note_class in classes[:CLASSES_MAX]
    ]


def add_ratios(
    sections: Sections, drafted: Sequence[DraftTest], classes: Sequence[TestedClass], structure: Structure | None
) -> set[str]:
    """Return the reinvestment test's class and trigger, and the event of default's.

    The measures that a test may name.
    """
    measures = set()
    for measure in ("reinvestment_oc", "event_of_default"):
        item = next((draft_test for draft_test in drafted if draft_test.measured.get("measure") == measure), None)
        if item is None:
            continue
        if item.fact.trigger is None or item.open_limit:
            sections.decide.append(_decision(item.fact, item.open_limit or "its trigger is not printed"))
            continue
        is_junior = measure == "reinvestment_oc"
        name, why, sure = _class_of(item.fact, drafted, classes, structure, is_junior=is_junior)
        if not name or (classes and not any(name in each.name.split("/") for each in classes)):
            sections.decide.append(_decision(item.fact, "no page says of which class it is"))
            continue
        measures.add(measure)
        sections.put(f"{measure}.class", name, f"{why}, {item.fact.place}", sure)
        sections.put(f"{measure}.trigger", item.fact.trigger, item.fact.place, CERTAIN)
        if sure == GUESSED:
            sections.decide.append(_decision(item.fact, f"the class at which it stands is a guess: {why}"))
    return measures


def _decision(fact: Fact, why: str) -> Decision:
    return Decision(subject=fact.label, why=why, limit=fact.trigger, place=fact.place)


def _class_of(
    fact: Fact,
    drafted: Sequence[DraftTest],
    classes: Sequence[TestedClass],
    structure: Structure | None,
    *,
    is_junior: bool,
) -> tuple[str, str, Sure]:
    """(class, why it is that one, how sure) of a ratio whose label names no class."""
    coverage = [each for each in drafted if each.measured.get("measure") == "oc"]
    for draft_test in coverage:
        if _is_cent(fact.denominator, draft_test.fact.denominator):
            return _last(str(draft_test.measured["class"])), "the denominator is that of the class", CERTAIN
    for at, group in enumerate(structure.groups if structure is not None else ()):
        if structure is not None and group.letter and _is_cent(fact.denominator, structure.balance(at)):
            return group.letter, "the denominator is the balance down to the class", CERTAIN
    alike = [each for each in coverage if is_junior and fact.value is not None and each.fact.value == fact.value]
    if len(alike) == 1:
        return _last(str(alike[0].measured["class"])), "the class prints the same ratio", GUESSED
    if is_junior and classes:
        return _last(classes[-1].name), "the most junior class with a trigger", GUESSED
    senior = next((group.letter for group in structure.groups if group.letter), "") if structure is not None else ""
    return ("", "", GUESSED) if is_junior else (senior, "the most senior class", GUESSED)


def _is_cent(printed: float | None, ours: float | None) -> bool:
    return printed is not None and ours is not None and abs(printed - ours) <= CENT
