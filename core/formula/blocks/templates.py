"""Graphs to begin with: what those who watch over loans calculate for every row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import msgspec

from core.formula.blocks.graph import Graph


@dataclass(frozen=True, slots=True)
class TemplateInput:
    """A column that a template reads; a column_ref of this id names the sheet's."""

    node_id: str
    column: str
    type: str
    description: str


@dataclass(frozen=True, slots=True)
class Template:
    """A graph that works as it is, over columns of these names."""

    id: str
    name: str
    description: str
    inputs: tuple[TemplateInput, ...]
    graph: Graph
    examples: tuple[tuple[tuple[Any, ...], Any], ...]
    """The values of the inputs in a row, and what the row gives; of a lookup the rows are those of one sheet."""


def _template(
    template_id: str,
    name: str,
    description: str,
    inputs: list[tuple[str, str, str, str]],
    nodes: list[tuple[str, str, dict[str, Any]]],
    edges: list[str],
    examples: list[tuple[tuple[Any, ...], Any]],
) -> Template:
    """Return a template from short rows; an edge is written "source > target.port"."""
    columns = [{"id": node, "type": "column_ref", "params": {"column": column}} for node, column, _, _ in inputs]
    blocks = [{"id": node, "type": kind, "params": params} for node, kind, params in nodes]
    wires = []
    for number, edge in enumerate(edges, 1):
        source, _, target = edge.partition(" > ")
        node, _, port = target.partition(".")
        ends = {"source": {"nodeId": source, "port": "output"}, "target": {"nodeId": node, "port": port}}
        wires.append({"id": f"e{number}", **ends})
    graph = {"version": "1", "template_id": template_id, "nodes": columns + blocks, "edges": wires}
    template_inputs = tuple(TemplateInput(*input_value) for input_value in inputs)
    return Template(template_id, name, description, template_inputs, msgspec.convert(graph, Graph), tuple(examples))


_MOODYS: Final = {
    "Aaa": 1, "Aa1": 10, "Aa2": 20, "Aa3": 40, "A1": 70, "A2": 120, "A3": 180, "Baa1": 260, "Baa2": 360, "Baa3": 610,
    "Ba1": 940, "Ba2": 1350, "Ba3": 1766, "B1": 2220, "B2": 2720, "B3": 3490, "Caa1": 4770, "Caa2": 6500, "Caa3": 8070,
    "Ca": 10000, "C": 10000,
}  # fmt: skip
"""Moody's ratings with their rating factors."""

_CCC: Final = ("Caa1", "Caa2", "Caa3", "Ca", "C", "CCC+", "CCC", "CCC-", "CC", "SD", "D")
"""Ratings at Caa1 or CCC+ and below."""

_ABOVE_CCC: Final = (
    *tuple(_MOODYS)[:16], "AAA", "AA+", "AA", "AA-", "A+", "A", "A-", "BBB+", "BBB", "BBB-", "BB+", "BB", "BB-", "B+",
    "B", "B-",
)  # fmt: skip


def _texts(values: Iterable[str]) -> str:
    """Return a column of texts, as a formula writes it."""
    return "{" + ";".join(f'"{value}"' for value in values) + "}"


def _numbers(values: Iterable[object]) -> str:
    """Return a column of other values likewise."""
    return "{" + ";".join(str(value).upper() for value in values) + "}"


_PAR: Final = ("par", "Par", "number", "Principal balance, in currency")
_PRICE: Final = ("price", "Price", "number", "Market price, in percent of par")
_VALUE: Final = ("value", "Value", "number", "What is looked at")

_ROWS: Final = (
    _template(
        "ratio",
        "Ratio",
        "One column divided by another; empty where the divisor is 0 or blank.",
        [("numerator", "Numerator", "number", "What is divided"), ("denominator", "Denominator", "number", "By what")],
        [("result", "expression", {"formula": '=IF(b=0,"",a/b)'})],
        ["numerator > result.a", "denominator > result.b"],
        [((3.0, 4.0), 0.75), ((3.0, 0.0), ""), ((3.0, None), ""), ((0.0, 4.0), 0.0), (("n/a", 4.0), "#VALUE!")],
    ),
    _template(
        "weighted_average",
        "Weighted average",
        "The average of a column weighted by another, over the rows that have a value; the same figure in every row.",
        [_VALUE, ("weight", "Weight", "number", "What each row weighs, such as par")],
        [("result", "expression", {"formula": "=SUMPRODUCT([v],[w])/SUMPRODUCT(--ISNUMBER([v]),[w])"})],
        ["value > result.v", "weight > result.w"],
        [((4.0, 1.0), 4.75), ((5.0, 3.0), 4.75), ((None, 9.0), 4.75), (("n/a", 9.0), 4.75)],
    ),
    _template(
        "bucket",
        "Bucket",
        "A word for the band that a number falls into: below 80, from 80, from 90; empty where there is no number.",
        [_VALUE],
        [
            ("low", "constant", {"value": 80}),
            ("high", "constant", {"value": 90}),
            ("below", "constant", {"value": "Below 80"}),
            ("between", "constant", {"value": "80 to 90"}),
            ("above", "constant", {"value": "90 and above"}),
            ("nothing", "constant", {"value": ""}),
            ("is_low", "compare", {"operator": "lt"}),
            ("is_middle", "compare", {"operator": "lt"}),
            ("is_number", "expression", {"formula": "=ISNUMBER(v)"}),
            ("upper", "if", {}),
            ("band", "if", {}),
            ("result", "if", {}),
        ],
        [
            "value > is_low.left", "low > is_low.right", "value > is_middle.left", "high > is_middle.right",
            "is_middle > upper.condition", "between > upper.true", "above > upper.false", "is_low > band.condition",
            "below > band.true", "upper > band.false", "value > is_number.v", "is_number > result.condition",
            "band > result.true", "nothing > result.false",
        ],
        [((79.9,), "Below 80"), ((80.0,), "80 to 90"), ((90.0,), "90 and above"), ((None,), ""), (("n/a",), "")],
    ),
    _template(
        "flag",
        "Flag",
        "TRUE where a number is above a limit; FALSE too where there is no number.",
        [_VALUE],
        [
            ("limit", "constant", {"value": 100}),
            ("is_above", "compare", {"operator": "gt"}),
            ("is_number", "expression", {"formula": "=ISNUMBER(v)"}),
            ("result", "and", {}),
        ],
        [
            "value > is_number.v", "value > is_above.left", "limit > is_above.right", "is_number > result.input1",
            "is_above > result.input2",
        ],
        [((100.5,), True), ((100.0,), False), ((None,), False), (("n/a",), False)],
    ),
    _template(
        "lookup",
        "Lookup",
        "What another row says: the result in the first row whose key is exactly the value; empty where no key is.",
        [
            ("value", "Parent Id", "text", "What is looked for"),
            ("keys", "Id", "text", "Where it is looked for"),
            ("results", "Name", "text", "What is taken from the row that has it"),
        ],
        [("result", "lookup_exact", {"default": ""})],
        ["value > result.value", "keys > result.keys", "results > result.results"],
        [(("b", "a", "Alpha"), "Beta"), (("A", "b", "Beta"), "Alpha"), (("z", "c", "Gamma"), ""),
         (("b*", "b", "Twice"), "")],
    ),
    _template(
        "ccc_flag",
        "CCC flag",
        "TRUE for a rating of Caa1 or CCC+ and below, of either agency; #N/A for one that is none, empty for none.",
        [("rating", "Rating", "text", "A rating in Moody's or S&P's letters")],
        [
            (
                "result",
                "expression",
                {
                    "formula": f'=IF(r="","",XLOOKUP(TRIM(r),{_texts((*_CCC, *_ABOVE_CCC))},'
                    f"{_numbers([True] * len(_CCC) + [False] * len(_ABOVE_CCC))}))"
                },
            ),
        ],
        ["rating > result.r"],
        [(("Caa1",), True), (("CCC+ ",), True), (("B3",), False), (("B-",), False), ((None,), ""), (("NR",), "#N/A")],
    ),
    _template(
        "market_value_carrying",
        "Carrying value at market",
        "Par at the lower of market price and recovery rate, as a defaulted loan is carried; #N/A without one of them.",
        [_PAR, _PRICE, ("recovery", "Recovery", "number", "Recovery rate, in percent of par")],
        [("result", "expression", {"formula": "=IF(COUNT(p,r)<2,NA(),par*MIN(p,r)/100)"})],
        ["par > result.par", "price > result.p", "recovery > result.r"],
        [((2e6, 55.0, 40.0), 8e5), ((2e6, 35.0, 40.0), 7e5), ((2e6, None, 40.0), "#N/A"), ((2e6, 55.0, "-"), "#N/A")],
    ),
    _template(
        "discount_obligation",
        "Discount obligation",
        "TRUE for a loan bought below 80 whose price has not come back to 90, or is not known; empty without a "
        "purchase price.",
        [("purchase", "Purchase Price", "number", "In percent of par"), _PRICE],
        [
            ("bought_below", "constant", {"value": 80}),
            ("cured_at", "constant", {"value": 90}),
            (
                "result",
                "expression",
                {"formula": '=IF(ISNUMBER(bought),AND(bought<low,IF(ISNUMBER(p),p<cure,TRUE)),"")'},
            ),
        ],
        ["purchase > result.bought", "price > result.p", "bought_below > result.low", "cured_at > result.cure"],
        [((79.0, 85.0), True), ((79.0, 90.0), False), ((79.0, None), True), ((80.0, 70.0), False), ((None, 70.0), "")],
    ),
    _template(
        "warf_contribution",
        "WARF contribution",
        "A loan's part of the weighted average rating factor: par times Moody's factor over all par; #N/A for a rating "
        "without a factor.",
        [("rating", "Rating", "text", "Moody's rating"), _PAR],
        [
            (
                "factor",
                "expression",
                {"formula": f"=XLOOKUP(TRIM(r),{_texts(_MOODYS)},{_numbers(_MOODYS.values())})"},
            ),
            ("result", "expression", {"formula": "=par*factor/SUM([par])"}),
        ],
        ["rating > factor.r", "par > result.par", "factor > result.factor"],
        [(("B2", 3e6), 2040.0), (("Caa2", 1e6), 1625.0), (("NR", 0.0), "#N/A")],
    ),
    _template(
        "long_dated",
        "Long-dated",
        "TRUE for a loan that matures after the deal's stated maturity; empty without a maturity.",
        [("maturity", "Maturity", "date", "Maturity date")],
        [
            ("stated_maturity", "expression", {"formula": "=DATE(2036,1,20)"}),
            ("result", "expression", {"formula": '=IF(ISNUMBER(m),m>stated,"")'}),
        ],
        ["maturity > result.m", "stated_maturity > result.stated"],
        [((date(2036, 1, 21),), True), ((date(2036, 1, 20),), False), ((None,), ""), (("TBD",), "")],
    ),
)  # fmt: skip

TEMPLATES: Final[dict[str, Template]] = {row.id: row for row in _ROWS}
"""By id, in the order in which they are shown."""
