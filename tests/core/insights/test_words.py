"""Figures and names as sentences print them."""

from __future__ import annotations

from datetime import date

from core.insights.words import NAME_CHARACTERS, decimals_between, listed, plain, printed
from core.words import plural
from tests.rows import every

MINUS = "\N{MINUS SIGN}"


@every(
    "value, unit, sentence, expected",
    [
        (7.5, "percent", {}, "7.50 %"),
        (-0.25, "points", {"sign": True}, f"{MINUS}0.25 points"),
        (0.0, "points", {"sign": True}, "0.00 points"),
        (2_775.4, "factor", {}, "2,775"),
        (24.1, "factor", {}, "24.10"),
        (12_345_678.0, "amount", {"currency": "USD"}, "USD 12.35m"),
        (-5_750_000.0, "amount", {"currency": "EUR"}, f"EUR {MINUS}5.75m"),
        (999_999.4, "amount", {}, "999,999"),
        (1.25e9, "amount", {}, "1.25bn"),
        (1, "count", {"noun": "loan"}, "1 loan"),
        (1_200, "count", {"noun": "industry"}, "1,200 industries"),
        (3, "count", {}, "3"),
        (98.5, "price", {}, "98.50 % of par"),
        (365.0, "bps", {}, "365 bps"),
        (date(2026, 3, 1), "date", {}, "1 March 2026"),
    ],
)
def test_a_figure_has_its_unit(value: float, unit: str, sentence: dict[str, object], expected: str) -> None:
    assert printed(value, unit, **sentence) == expected  # type: ignore[arg-type]


@every(
    "text, expected",
    [
        ("  ACME \t Corp.\n", "ACME Corp."),
        ("<b>Acme</b>", "\u2039b\u203aAcme\u2039/b\u203a"),
        ("![x](https://evil.example/p)", "!(x)(https: //evil.example/p)"),
        ("{verdict} `rm` | x", "(verdict) 'rm' / x"),
        ("a\u202eb\u200bc\x00d", "a b c d"),
        ("A" * 40_000, "A" * (NAME_CHARACTERS - 3) + "..."),
        ("", ""),
    ],
)
def test_a_name_is_one_short_line_without_markup(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_two_figures_that_differ_are_printed_so() -> None:
    assert decimals_between(7.5, 7.500001, "percent") == 6
    assert decimals_between(3_000.4, 3_000.0, "factor") == 1
    assert decimals_between(7.5, 7.5, "percent") == 2
    assert (plural("address"), listed(["a"]), listed(["a", "b", "c"])) == ("addresses", "a", "a, b and c")
