"""Check digits against python-stdnum.

Two prints of one identifier are told where they can mean one loan only.
"""

from __future__ import annotations

import random
import string

from hypothesis import given
from hypothesis import strategies as st
from stdnum import cusip, figi, isin, lei
from stdnum.iso7064 import mod_97_10

from core.portfolio.cells import text_cells
from core.portfolio.cells.identifiers import (
    IdentifierIndex,
    agrees,
    is_sound,
    may_be_one,
    pairs,
    standard,
)
from tests.rows import every


@every(
    "first, second, expected",
    [
        (["LX284437"], ["LX28443T7"], [(0, 0)]),
        (["LX28443T7"], ["LX28443"], [(0, 0)]),
        (["LX284437"], ["LX284438"], []),
        (["LX284437", "LX284438"], ["LX28443T7"], []),
        (["LX284437"], ["LX28443T7", "LX284439"], []),
        (["LX284431"], ["LX28443T7"], [(0, 0)]),
        (["XS2250154"], ["XS2250154494"], [(0, 0)]),
        (["XS2250154"], ["XS2250154494", "XS2250154577"], []),
        (["XS2250154", "XS22501544"], ["XS2250154494"], []),
        (["XS22"], ["XS2250154494"], []),
        (["XS2250154494"], ["XS2250154494"], []),
        (["A" * 500], ["A" * 501], []),
    ],
)
def test_prints_are_paired_where_no_other_loan_can_be_meant(
    first: list[str], second: list[str], expected: list[tuple[int, int]]
) -> None:
    assert list(pairs(first, second)) == expected
    assert sorted(pairs(second, first)) == [(j, i) for i, j in expected]


SPELLINGS = st.lists(
    st.from_regex(r"LX2844[34]T?7?|XS22501(54)?[0-9A]{0,2}|XS22|A{198,202}|LX\d{3}|", fullmatch=True), unique=True
)


@given(SPELLINGS, SPELLINGS)
def test_prints_are_paired_as_if_each_was_asked_of_all(first: list[str], second: list[str]) -> None:
    prints, others = IdentifierIndex(first), IdentifierIndex(second)
    expected = [
        (at, place)
        for at, written in enumerate(first)
        for place in others.of(written)
        if others.of(written) == {place}
        and second[place] != written
        and may_be_one(written, second[place])
        and prints.of(second[place]) == {at}
    ]
    assert list(pairs(first, second)) == expected


@every(
    "written, form",
    [
        ("12A456 7B 7", "12A4567B7"), ("'12a4567b7", "12A4567B7"), ('="00130E102"', "00130E102"),
        ("lx 123456", "LX123456"),
        ("LX-28443-T7", "LX28443T7"), ("us 0378331005", "US0378331005"), ("BBG 000 B9XRY4", "BBG000B9XRY4"),
        ("US\u00a00378331005", "US0378331005"), ("\uff2c\uff38123456", "LX123456"), ("12A456 7B x", "12A456 7B X"),
        ("A-10", "A-10"), ("17275R10@", "17275R10@"), ("", ""),
    ],
)  # fmt: skip
def test_identifiers_have_one_form(written: str, form: str) -> None:
    assert standard(written) == form
    assert standard(form) == form


@given(st.lists(st.text(max_size=12), min_size=1))
def test_letters_and_digits_of_a_pool_are_those_of_each_string(strings: list[str]) -> None:
    codes, text = text_cells.pool_of(strings)
    bare = text_cells.bare(text).strings()
    kept = [bare[code] if code >= 0 else "" for code in codes.tolist()]
    assert kept == [text_cells.letters_and_digits(string) for string in strings]


@every(
    "first, second, may_be, do_agree",
    [
        ("LX284437", "LX28443T7", True, True),
        ("LX284431", "LX28443T7", True, False),
        ("LX28443", "LX28443T7", True, True),
        ("LX284437", "LX284438", False, False),
        ("LX28443T7", "LX28443T8", False, False),
        ("XS2250154", "XS2250154494", True, True),
        ("XS2250154", "XS2250155", False, True),
    ],
)
def test_what_contradicts_is_no_print_of_the_same(first: str, second: str, may_be: bool, do_agree: bool) -> None:
    assert (may_be_one(first, second), agrees(first, second)) == (may_be, do_agree)


def test_check_digits_are_those_of_the_standards() -> None:
    chance, signs = random.Random(7), string.digits + string.ascii_uppercase
    known = (
        ("isin", isin, isin.calc_check_digit, 9, "XS", ""), ("cusip", cusip, cusip.calc_check_digit, 8, "", ""),
        ("lei", lei, mod_97_10.calc_check_digits, 18, "", ""), ("figi", figi, figi.calc_check_digit, 8, "BBG", "AEIOU"),
    )  # fmt: skip
    for scheme, oracle, digits, length, start, barred in known:
        seen = set()
        for _ in range(300):
            stem = start + "".join(chance.choices(sorted(set(signs) - set(barred)), k=length))
            sound = stem + digits(stem)
            at = chance.randrange(len(start), len(stem))
            changed = sound[:at] + chance.choice(signs) + sound[at + 1 :]
            assert is_sound(scheme, sound), sound
            assert is_sound(scheme, changed) == oracle.is_valid(changed), changed
            seen.add(is_sound(scheme, changed))
            for wrong in (sound.lower(), sound[:-1], sound + "0", f" {sound}", f"{sound}\n", ""):
                assert wrong == sound or not is_sound(scheme, wrong), wrong
        assert seen == {False, True}
    assert is_sound("internal", "MAG-17")
