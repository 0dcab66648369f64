"""How a number format is shown, in a form that no program changes when it saves a file."""

from __future__ import annotations

from core.provenance.shown import display_form
from tests.rows import every

SAME = [
    ("$#,##0.00", "\\$#,##0.00", '"$"#,##0.00'),
    ("0.00_);[Red]\\(0.00\\)", "0.00_);[RED]\\(0.00\\)", "0.00;(0.00)"),
    ("yyyy-mm-dd", "yyyy\\-mm\\-dd", "[$-409]yyyy\\-mm\\-dd"),
    ("mm-dd-yy", "m/d/yyyy"),
    ("h:mm AM/PM", "h:mm\\ AM/PM"),
    ("mmss.0", "mm:ss.0"),
    ('_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)', "_(* #,##0.00_);_(* \\(#,##0.00\\);_(* \\-??_);_(@_)"),
    ('0" days"', "0\\ \\d\\a\\y\\s"),
    ("[$€-407] #,##0.00", '"€"\\ #,##0.00'),
    ("General", "", "@"),
    ("[Color 10]0.0", "0.0"),
]
OTHER = [
    "General", "0", "0.0", "0.00", "#,##0", "#,##0,", "0.0,,", "0%", "0.00%", '0"%"', '"7.5"', '"7.5";"7.5"', ";;;",
    "0;;", "0;0", "[=1]0;0.0", "[>1]0;0.0", '[=7.5]"9.5";0.00', "0.0E+0", "# ?/?", "# ??/??", "*90.00", "*-0.00",
    "[DBNum1]0",
    "[$-2000000]0", "yyyy-mm-dd", "dd-mm-yyyy", "d-mmm-yy", "d-mmmm-yy", "dddd", "h:mm", "[h]:mm", "h:mm:ss", "mm:ss.0",
    "mm:ss", "[$-F800]dddd", "[$-107041E]d-m-yy", "h:mm AM/PM", '0"0"', '"0"0', '0"x"', "000-00-0000",
]  # fmt: skip


@every("codes", SAME)
def test_what_programs_write_differently_is_one(codes: tuple[str, ...]) -> None:
    assert len({display_form(code)[0] for code in codes}) == 1, [display_form(code) for code in codes]


def test_what_shows_something_else_is_another() -> None:
    forms = {code: display_form(code)[0] for code in OTHER}
    assert len(set(forms.values())) == len(OTHER), forms


def test_a_text_has_a_form_of_its_own() -> None:
    texts = {code: display_form(code)[1] for code in ("0.00", "@", "0;0;0;@", '0;0;0;"x"', ";;;", "0.00;@", '"a"@')}
    assert texts == {
        "0.00": "@", "@": "@", "0;0;0;@": "@", '0;0;0;"x"': "'x", ";;;": "", "0.00;@": "@", '"a"@': "'a@",
    }  # fmt: skip
