"""How a file's open choices were read, on a page.

What ties, the runner-up, what nothing decides, the honest count.
"""

from __future__ import annotations

import io

import msgspec
from rich.console import Console

from core.portfolio.model.interpretation import Choice, HoldOut, Interpretation, Reading, Tie
from service.commands.choices import TIES_SHOWN, choice_blocks
from service.commands.output import Grid, OutputPage, print_page


def reading(option: str, words: str, ties: int) -> Reading:
    """A reading by which so many figures tie, two parts of each."""
    parts = ("numerator", "value")
    listed = [
        Tie(name=f"Class {at} Par Value Ratio", part=part, printed=1e8 + at, place=f"'Tests'!C{at}")  # type: ignore[arg-type]
        for at in range(1, ties + 1) for part in parts
    ]  # fmt: skip
    return Reading(option=option, words=words, ties=listed)


TAKEN = Choice(
    name="principal_cash",
    state="taken",
    reading=reading("none", "no principal cash counts", 4),
    runner_up=reading("all", "principal cash counts as the file has it", 0),
    differs=False,
    changed=True,
)
OPEN = Choice(
    name="families", state="open", reading=reading("names", "each name is an obligor", 0), runner_up=None, differs=False
)
FOUND = Interpretation(
    choices=[TAKEN, OPEN], figures=52, tied_before=41, tied=47, hold_out=HoldOut(figures=23, right=20)
)


def shown(interpretation: Interpretation | None, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=True, color_system=None)
    blocks = choice_blocks(interpretation)
    print_page(OutputPage(blocks=blocks, rows=Grid(columns=[], items=[]), document=list), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_each_choice_has_its_figures_with_their_cells_and_the_runner_up() -> None:
    text = " ".join(shown(FOUND, 400).split())
    assert "principal cash taken no principal cash counts 8: Class 1 Par Value Ratio ('Tests'!C1); " in text
    assert f"('Tests'!C{TIES_SHOWN}) and {8 - 2 * TIES_SHOWN} more" in text
    assert "principal cash counts as the file has it (0 figures)" in text
    assert "No printed figure decides: which obligors count as one." in text
    assert (
        "47 of 52 printed figures tie by these readings, 41 by the market's alone; each figure left out once: 20 of 23 "
        "come out right." in text
    )


def test_a_narrow_terminal_folds_and_breaks_no_line() -> None:
    for width in (80, 120):
        assert max(map(len, shown(FOUND, width).splitlines())) <= width


def test_a_definition_that_the_file_contradicts_is_marked() -> None:
    stated = msgspec.structs.replace(TAKEN, state="stated", differs=True)
    text = shown(msgspec.structs.replace(FOUND, choices=[stated], hold_out=None, tied=41))
    assert "stated," in text
    assert "differs" in text
    assert "41 of 52 printed figures tie by these readings." in text


def test_nothing_is_said_where_nothing_was_interpreted() -> None:
    assert choice_blocks(None) == []
    assert choice_blocks(msgspec.structs.replace(FOUND, choices=[])) == []


def test_a_choice_of_an_agency_names_it() -> None:
    masked = msgspec.structs.replace(TAKEN, name="masked_c")
    assert "masked, Fitch's taken" in " ".join(shown(msgspec.structs.replace(FOUND, choices=[masked]), 400).split())
