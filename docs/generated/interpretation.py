"""The page of the interpretation: choices, how they are decided, how reliably."""

from __future__ import annotations

from typing import Final, NamedTuple

from core.definition.choices import CHOICES
from docs.generated.markdown import code, page, table


class Measured(NamedTuple):
    """Figures of a real report; `tests/docs/test_interpretation.py` measures them."""

    file: str
    name: str
    figures: int
    """Printed numerators, denominators and values that stand beside ours."""
    tied_before: int
    tied: int
    right: int
    """Figures that come out right when each is left out once."""
    held_out: int


MEASURED: Final = (
    Measured("contego-xi", "Contego CLO XI, September 2024", 131, 105, 105, 37, 38),
    Measured("cairn-xvii", "Cairn CLO XVII, December 2024", 14, 6, 6, 6, 6),
)

OPENING: Final = """# How a file's open choices are read

After a file is read, a deal's figures still depend on conventions of its indenture. Which cash counts? What are shares divided by? Whose ratings
make a CCC loan, and whose industries count? A file prints no indenture. But it prints its own figures, and these often leave room for one
convention only. `cushion compliance FILE` says which in one line:

```text
read as: defaulted loans stand in the denominator at their carrying value; 47 of 52 printed figures tie
```

`cushion deal tie-out FILE` has each choice with the printed figures that tie by it, their cells, and the runner-up. The same stands in
`interpretation` of a run, of a deal's tie-out and of `--json`, in the reports, and in `cushion.interpret` and `cushion.interpreted`."""

RULES: Final = """## When a choice is decided

Only readings of the closed list below are tried, never a free number. What decides are amounts: a numerator or a denominator that ties to the
cent. A percentage ties by chance too often, and decides nothing however many of them do.

| state | when | what is used |
|---|---|---|
| `taken` | two independent printed figures tie by the reading alone, and none that tied before stops | the reading |
| `proposed` | one amount of seven digits, not a round one, ties to the cent | the reading; where it changes anything, with a doubt (`reading_proposed`) in the row of each figure that it moves |
| `open` | nothing decides, or two readings tie with the same figures | the market's reading |
| `stated` | a definition of the deal is given | what the definition says |

Where a file prints the OC ratios of three classes or more and no numerator, they leave an interval for it together. If one reading alone gives a
numerator inside, that counts as two figures. There are many readings that change several choices, and one of them may lie inside by chance. Where
that is likelier than one in a hundred, it decides nothing. OC ratios without a CCC excess say nothing of masked ratings.

Interpret a file beside its definition: `cushion.interpreted(portfolio, definition)`. Loans that were read by the file's figures before keep their
cash and obligors, and a run under a definition says so (`reading_differs`).

A definition always outranks the search: nothing is changed. (A ready-made one, `us_bsl` or `euro`, is the market's standard, and gives way.) Where the file's own figures tie by another reading than the definition's,
`differs` is true, and the rows that it moves have the doubt `reading_differs`.

A choice stays open where a file prints too few amounts, or where its figures contradict each other. It also stays open where two readings come to
the same, since no loan is defaulted or no rating is masked. A printed figure that was altered ties with nothing: it shows as a difference.

A run keeps its interpretation, its evidence has the hash of it, and a replay (`cushion lookback verify`) searches anew and compares. Runs of
earlier versions have none, and are replayed without."""

HONEST: Final = """## How honest the reading is

Each printed figure is left out of the search once, and the choices are inferred from the rest. Does the figure still tie? The share that does is what to expect of a figure that the file does not print. `cushion deal tie-out` prints it for every file
(`hold_out`). For two real reports, without a definition:"""


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    measured = [
        (item.name, f"{item.tied_before} of {item.figures}", f"{item.tied} of {item.figures}",
         f"{item.right} of {item.held_out}") for item in MEASURED
    ]  # fmt: skip
    choices = [
        (code(item.name), item.words, "; ".join(f"{code(option.name)}: {option.words}" for option in item.options))
        for item in CHOICES
    ]
    return {
        "reference/interpretation.md": page(
            OPENING,
            RULES,
            HONEST,
            table(("report", "tie by the market's readings", "tie as read", "right when left out once"), measured),
            "## The choices",
            "The first reading is that of a definition that says nothing.",
            table(("choice", "decides", "readings"), choices),
        )
    }
