"""The schema of a definition in words, from its own rows.

What the guide's page on definitions says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING
from typing import Any, Final

from core.definition.definition import Definition
from core.definition.formulas import FUNCTIONS
from core.definition.keys import ListKey, NamedKeys, TableKey, rows_of
from core.definition.terms import DENOMINATORS, LOAN_FLAGS, LOAN_MADE, LOAN_NUMBERS, LOAN_TEXTS, MEASURES, TOTALS

OPENING: Final = """# A deal's definition

One document, TOML in a file or the same as JSON: the indenture as data. `base = "us_bsl"` or `base = "euro"` puts the
document's keys over those of a ready-made definition; what is absent then has the suites' default. Tables of the two
are put together, lists and plain values replaced. Percent means percent points. Unknown keys are faults, and all faults
are told at once, each with its place. A ready-made definition run by itself also tests each class of the file's notes
by the file's own triggers (`oc_class_ab`, ...).

A document without `base` goes over the ready-made one of its market: by `conventions.currency`, else by the file's; the
warning `definition_without_base` says so. What the document itself does not say is the file's own where the file shows
how it calculates. That holds for haircuts, defaulted loans in the denominator, the column of ratings, and CCC by rating
tables. What the document says outranks the file. Where the file has another limit for a test, the row has a doubt.
Where currency, days, classes or most limits are another deal's, every row has one.

A `share` is TRUE or FALSE for each loan. A loan may have a blank in a field that the formula reads, so that neither is
known. It is not in the figure, and `coverage_pct` says how much is. ISBLANK, ISNUMBER and ISTEXT ask for the blank. A
`value` reads totals and other tests. A test without a limit is a figure for others.

A test by a measure of loans or of names may be `among` some loans alone. With `among = "non_senior_secured"`,
`measure = "obligor"` is the largest obligor by those loans. `among = "=price<90"` takes the loans of which the formula
is TRUE. `of` stays what the share is of. `adds = ["cash"]` counts principal cash with the loans, `adds = ["unfunded"]`
what is not drawn of them. `country_groups` lists countries that share a limit, or takes those of a range of
`country_ceilings`; the tests `country_group` and `country_of_group` name one.

What is `bounds` for masked or missing ratings gives a figure its lowest and its highest value, and a status where
both have the same. What the rating tables of the file say of masked ratings is no range: what they print is known.

A formula over loans may also name the fields that a mapping gives beside the standard ones (`sponsor`, `esg_score`), in
any case. A deal's formulas have those of the tenant's mappings, a command's those of `--mapping`. A test of a file
without the field is skipped.
"""


def described() -> str:
    """Return the page, in Markdown."""
    parts = [OPENING, *_section("", Definition)]
    parts.append(
        _table(
            "Measures",
            ("measure", "unit", "takes", "meaning"),
            [(name, measure.unit, ", ".join(measure.takes), measure.meaning) for name, measure in MEASURES.items()],
        )
    )
    parts.append(_table("Made for formulas over loans", ("field", "meaning"), list(LOAN_MADE.items())))
    parts.append(_list("Numbers of a loan", LOAN_NUMBERS))
    parts.append(_list("Texts of a loan", LOAN_TEXTS))
    parts.append(_list("Flags of a loan", LOAN_FLAGS))
    parts.append(_table("Totals for `value`", ("total", "meaning"), list(TOTALS.items())))
    parts.append(_list("What a share may be `of`", DENOMINATORS))
    parts.append(_list("Functions", sorted(FUNCTIONS)))
    return "\n".join(parts)


def _section(path: str, of: type[Any], *, is_listed: bool = False) -> list[str]:
    """Return the table of a class, then those of the tables in it."""
    rows, below = [], []
    for row in rows_of(of):
        name, kind = row.name.rstrip("_"), row.metadata["kind"]
        inner = kind.kind if isinstance(kind, ListKey) else kind
        if isinstance(inner, TableKey):
            below += _section(f"{path}.{name}".strip("."), inner.of, is_listed=isinstance(kind, ListKey))
            continue
        description = (
            kind.words if not isinstance(kind, NamedKeys) else f"a table of {', '.join(kind.keys)}: {kind.kind.words}"
        )
        default = "required" if row.default is MISSING else _show(row.default)
        rows.append((name, description, default, row.metadata["meaning"]))
    title = (f"`[[{path}]]`" if is_listed else f"`[{path}]`") if path else "Top level"
    return [_table(title, ("key", "value", "default", "meaning"), rows), *below] if rows else below


def _show(default: Any) -> str:
    if default is None or default == ():
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(map(str, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def _table(title: str, heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [" | ".join(row) for row in (heads, tuple("---" for _ in heads), *rows)]
    return "\n".join((f"## {title}\n", *(f"| {line} |" for line in lines), ""))


def _list(title: str, names: Any) -> str:
    return f"## {title}\n\n{', '.join(f'`{name}`' for name in names)}\n"
