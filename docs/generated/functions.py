"""The pages of functions, from the catalogue; the engine works out each example."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

import core
from core.formula.functions.catalogue import EXAMPLE_CELLS, FUNCTIONS, OUTSIDE_WORLD, Function
from docs.generated.markdown import code, page, plain, table

DAY: Final = datetime(2026, 3, 31, 12, tzinfo=UTC)
"""The moment of the examples that ask for one."""

CATEGORIES: Final = {
    "math": "Mathematics", "statistical": "Statistics", "financial": "Finance", "engineering": "Engineering",
    "text": "Text", "lookup": "Look-ups and arrays", "date": "Dates and times", "information": "Information",
    "logical": "Logic", "database": "Lists with criteria",
}  # fmt: skip

CELLS: Final = """The examples read these cells, and blanks beside them. Those that ask for the time have noon of
2026-03-31, and those that ask for chance 0.5."""


def pages() -> dict[str, str]:
    """Make an index of all functions, and a page for each category."""
    core.evaluate("=1")  # fills the catalogue
    by_category: dict[str, list[Function]] = {}
    for function in sorted(FUNCTIONS.values(), key=lambda function: function.name):
        by_category.setdefault(function.category, []).append(function)
    assert set(by_category) == set(CATEGORIES), "every category has its title"
    book = example_book()
    by_path = {"reference/functions/index.md": _index(by_category)}
    for category, title in CATEGORIES.items():
        parts = [_function(function, book) for function in by_category[category]]
        by_path[f"reference/functions/{category}.md"] = page(f"# {title}", f"[The cells]({'index.md#the-cells'}) that the "
            "examples read stand on the page of all functions.", *parts)  # fmt: skip
    return by_path


def example_book() -> core.Book:
    """Make a book of the cells that examples may use."""
    columns: dict[str, list[Any]] = {}
    for name, value in EXAMPLE_CELLS.items():
        columns.setdefault(name[0], []).append(value)
    return core.Book.from_columns({"Sheet1": columns})


def example_value(formula: str, book: core.Book) -> str:
    """Evaluate a formula over those cells, and write the value as a sheet shows it."""
    result = core.evaluate(formula, behind=book.environment(), sheet="Sheet1", clock=lambda: DAY, random=lambda: 0.5)
    return "; ".join(", ".join(_value_text(value) for value in row) for row in _rows(result.value))


def _rows(value: Any) -> Iterable[list[Any]]:
    if not isinstance(value, list):
        return [[value]]
    return value if value and isinstance(value[0], list) else [value]


def _value_text(value: Any) -> str:
    if value is None:
        return "(blank)"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value) if not isinstance(value, str) or value else "(an empty text)"


def _function(function: Function, book: core.Book) -> str:
    arguments = [
        (
            code(argument.name)
            + ("" if argument.required else ", optional")
            + (", again and again" * argument.repeats),
            argument.kind.value,
            plain(argument.description),
        )
        for argument in function.arguments
    ]
    examples = [(code(formula), code(example_value(formula, book))) for formula, _ in function.examples]
    assert examples, f"{function.name} has no example"
    return page(
        f"## {function.name} {{#{function.name.lower()}}}",
        f"{code('=' + function.syntax)}",
        plain(function.description) + (" It is volatile: calculated anew each time." if function.volatile else ""),
        f'!!! warning "May differ from Excel"\n    {plain(function.caution)}' if function.caution else "",
        table(("argument", "takes", "what it is"), arguments) if arguments else "It takes no arguments.",
        table(("example", "gives"), examples),
    )


def _index(by_category: dict[str, list[Function]]) -> str:
    count = sum(map(len, by_category.values()))
    letters = sorted({name.rstrip("0123456789") for name in (cell[0] for cell in EXAMPLE_CELLS)})
    cells = [
        [str(row), *(_value_text(EXAMPLE_CELLS.get(f"{letter}{row}")) for letter in letters)] for row in range(1, 6)
    ]
    parts = [
        "# Functions",
        f"Formulas may call these {count} functions, in any case. What each one takes, and the result of its examples, comes "
        "from the engine's own catalogue, the examples worked out when this page was made. `GET /api/v1/calculations/functions` gives "
        "the same as JSON. [Evaluate formulas](../../how-to/formulas.md) says how they are used.",
        "An argument may be a *number*, *integer*, *text* or *logical*: values are converted as Excel does, and an array lifts the "
        "call. A *value* or *any* (errors too) is taken as it is. Other arguments are a *range* or *array* of cells, a *reference*, "
        "an *operand* or a *lambda*.",
        "## The cells",
        CELLS,
        table(["", *letters], cells),
    ]
    for category, title in CATEGORIES.items():
        rows = [
            (f"[{function.name}]({category}.md#{function.name.lower()})", plain(function.description))
            for function in by_category[category]
        ]
        parts += [f"## [{title}]({category}.md)", table(("function", "what it does"), rows)]
    parts += [
        "## Refused",
        "Functions that reach outside a workbook are refused, not guessed:",
        "\n".join(f"- {name}" for name in sorted(OUTSIDE_WORLD)),
    ]
    return page(*parts)
