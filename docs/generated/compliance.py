"""The page of the compliance tests, from their catalogue."""

from __future__ import annotations

import re
from typing import Final

from latex2mathml.converter import convert

from core.compliance.grouped import KINDS
from core.compliance.suites import CATALOGUE, SUITES, UNIT_SIGNS, Test
from core.portfolio.model.portfolio import DAYS_PAST_DUE_DEFAULTED
from docs.generated.markdown import code, page, plain, table

OPENING: Final = """A test divides sums over the deal's loans and compares what comes out with a limit. Its *cushion* is the distance to
that limit, positive while the test passes; a test that passes within its warning band is a `warning`. A figure is compared before it is
rounded for display; one that stands on its limit passes.

The formulas are those that the market's indentures share. Deals differ in what a defaulted loan counts for, which agency's rating is read, and how
interest is counted. There the [definition](definition.md) of the deal decides. The ready definitions `us_bsl` and `euro` are the defaults of
their markets. The limits below are used where nobody set one. Each test says where it and its limit come from. The sources are agencies'
methods, three published indentures (Magnetite XVII, Ares LXVIII, Ares European CLO XV), or house figures."""

WORDS: Final = (
    ("PAR", "par of the performing loans"),
    ("CPA", "collateral principal amount: PAR and the principal cash"),
    ("ACPA", "adjusted collateral principal amount, the numerator of the coverage ratios. It is CPA less the haircuts of the deal's policies. "
     "CCC loans past their limit count at market, loans bought at a discount at their price, defaulted loans at the lower of recovery and market"),
    ("performing", f"not defaulted. A loan is defaulted where the file says so, where it is rated so, or past due for {DAYS_PAST_DUE_DEFAULTED} days and more"),
    ("floating PAR", "PAR of the loans that pay a floating rate"),
)  # fmt: skip

LIMITS: Final = """A limit is the request's, else the workbook's, the deal's, its definition's, the sheet's own trigger, the tenant's, the
suite's: the first that there is. Each result says whose it was (`threshold_source`)."""


DOUBTS: Final = """A result says what its figure may be wrong for. `published` is the figure of the same test that the file prints,
with its numerator, denominator, limit, status and place. It has `difference` (ours less the trustee's) and `agrees`. Numerator and denominator
decide to the cent where both are printed, else the last printed digit. `doubt` has every reason with the cells that it is about; no list is cut.

`doubtful` is true where the status may be wrong. The file prints the other status, or masked or blank inputs leave out so much par that they
could turn it. Then `low` and `high` are the figure at its lowest and highest. A figure that ties with the trustee's is not doubtful for what
is masked or blank. `status` stays as computed, and `summary.doubtful` is a count beside the others: total = passed + failed + warnings +
skipped."""


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    suites = [(code(item.id), str(item.test_count), item.description) for item in SUITES.values()]
    suites.append(("`deal`", "the deal's own", "The tests of the deal's definition, under its conventions."))
    rows = [(f"[{test.name}](#{test.test_id})", code(test.test_id), _limit(test), _warning(test)) for test in CATALOGUE]
    text = page(
        "# Compliance tests",
        OPENING,
        "## Suites",
        table(("suite", "tests", "what it is"), suites),
        "## Words of the formulas",
        table(("word", "what it means"), WORDS),
        "## Whose limit",
        LIMITS,
        "## What makes a result doubtful",
        DOUBTS,
        table(("doubt", "what it means"), [(code(name), kind.meaning) for name, kind in KINDS.items()]),
        "## All tests",
        table(("test", "id", "limit", "warning"), rows),
        *(_test(test) for test in CATALOGUE),
    )
    return {"reference/compliance-tests.md": text}


def _limit(test: Test) -> str:
    return f"{'at most' if test.threshold_type == 'max' else 'at least'} {test.limit:,g}{UNIT_SIGNS[test.unit]}"


def _warning(test: Test) -> str:
    return f"from {test.warning:,g}{UNIT_SIGNS[test.unit]} {'up' if test.threshold_type == 'max' else 'down'}"


def _test(test: Test) -> str:
    facts = [
        ("category", test.category),
        ("in the suites", ", ".join(code(item.id) for item in SUITES.values() if test in item.tests)),
        ("limit", _limit(test)),
        ("warning", _warning(test)),
        ("source", plain(test.source)),
        ("needs the fields", ", ".join(" or ".join(map(code, item)) for item in test.alternatives)),
        ("is skipped where", " or ".join({"cpa": "CPA", "par": "PAR"}[item] + " is not above zero" for item in test.divides_by)),
        ("limit of the sheet", f"its {code(test.sheet_trigger)} trigger" if test.sheet_trigger else ""),
    ]  # fmt: skip
    main, _, added = test.formula.partition(", plus ")
    return page(
        f"### {test.name} {{#{test.test_id}}}",
        plain(test.description),
        f'<div class="formula">{mathml(main)}</div>',
        f"Plus {plain(added)}." if added else "",
        table(facts[0], [row for row in facts[1:] if row[1]]),
    )


# Formulas -------------------------------------------------------------------------------------------------------------


def mathml(formula: str) -> str:
    """Write a formula of the catalogue as MathML, which browsers draw."""
    return convert(_latex(formula), display="block")


def _latex(text: str) -> str:
    """Write LaTeX: divisions as fractions, sums as a sign, the rest as words."""
    main, factor = (text.removesuffix(" x 100"), r" \times 100") if text.endswith(" x 100") else (text, "")
    at = _division(main)
    if at is None:
        return _terms(main) + factor
    return f"\\frac{{{_terms(main[:at])}}}{{{_terms(main[at + 3 :])}}}{factor}"


def _division(text: str) -> int | None:
    """Find the last ` / ` outside of brackets, which divides the whole."""
    depth, last = 0, None
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and text.startswith(" / ", at):
            last = at
    return last


SIGNS: Final = {
    " x ": r" \times ",
    " + ": " + ",
    " - ": " - ",
    " < ": " < ",
    " > ": " > ",
    " >= ": r" \ge ",
    " / ": " / ",
}


def _terms(text: str) -> str:
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1]
    parts = re.split(r"(sum over [a-z]+ of |sum(?=\()| x | \+ | - | >= | < | > | / |[()])", text)
    return "".join(_term(part) for part in parts if part)


def _term(part: str) -> str:
    if part == "sum":
        return r"\sum "
    if over := re.fullmatch(r"sum over ([a-z]+) of ", part):
        return rf"\sum_{{\text{{{over[1]}}}}} "
    if part in "()":
        return r"\left(" if part == "(" else r"\right)"
    return SIGNS.get(part) or rf"\text{{{_escaped(part)}}}"


def _escaped(text: str) -> str:
    return re.sub(r"([%&#_$])", r"\\\1", text)
