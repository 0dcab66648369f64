"""The PDF: tagged, of its standard, the same again, and made of data that is never read as anything else."""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import msgspec
import pikepdf
from hypothesis import given
from hypothesis import strategies as st

from core.charts.drawing import Chart
from core.compliance.result import Doubt, Results
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import Names
from core.report.content import ComplianceReport, Ladder, LadderStep, Origin, Series, SeriesPoint
from core.report.document import RUNNING_MAX, TEMPLATE, _steps, _view, compliance_pdf
from core.report.tables import compliance_tables
from core.typeset.pdf import UNSHOWN, typeset
from tests.core.portfolio.model.test_interpretation import interpretation_of
from tests.core.report.conftest import WHEN, doubted, published_of, reported, result_of, skipped_of
from tests.rows import every

Build = Callable[..., Portfolio]

HOSTILE = (
    '#panic("x") $x^2$ *b* _i_ `c` <l> @r // c /* d */ ]] #eval("1") \\ \\u{41}',
    '"}, {"svg": "<svg onload=alert(1)>", \'',
    "<script>&amp;</script>",
    'שלום חברה בע"מ',
    "شركة الاختبار القابضة",
    "\N{RIGHT-TO-LEFT OVERRIDE}desrever\N{POP DIRECTIONAL FORMATTING} \x00\x07\x1b[31m",
    "Łódź Ñandú Ελληνική Кириллица",
    "W" * 300,
    "many words " * 40,
    "half a pair \ud800 \udfff",
)


def opened(data: bytes) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(data))


def elements(pdf: pikepdf.Pdf) -> Iterator[pikepdf.Dictionary]:
    """The structure of the document, in reading order."""
    waiting: list[Any] = [pdf.Root.StructTreeRoot.K]
    while waiting:
        item = waiting.pop()
        if isinstance(item, pikepdf.Array):
            waiting.extend(reversed(list(item)))
        elif isinstance(item, pikepdf.Dictionary):
            if "/S" in item:
                yield item
            if "/K" in item:
                waiting.append(item.K)


def bookmarks(pdf: pikepdf.Pdf) -> list[str]:
    """Titles of the outline's first two levels."""
    with pdf.open_outline() as outline:
        return [title for item in outline.root for title in (item.title, *(below.title for below in item.children))]


def test_it_is_tagged_titled_marked_and_of_its_standard(g1: Build) -> None:
    report = reported(g1(), run_suite(g1(), "enhanced"), suite="enhanced")
    pdf = opened(compliance_pdf(report))
    root = pdf.Root
    assert bool(root.MarkInfo.Marked)
    assert str(root.Lang) == "en"
    assert str(root.OutputIntents[0].S) == "/GTS_PDFA1"
    assert "/DestOutputProfile" in root.OutputIntents[0]
    with pdf.open_metadata() as answer:
        assert (answer["pdfaid:part"], answer["pdfaid:conformance"]) == ("2", "B")
        assert answer["dc:title"] == "Compliance report: A deal"
        assert answer["xmp:CreateDate"] == "2026-04-02T09:30:00+00:00"
    assert "/Encrypt" not in pdf.trailer
    assert bookmarks(pdf) == [
        "A deal", "Tests", "Tests without a result", "Coverage step by step", "The portfolio", "Methodology",
        "Data lineage",
    ]  # fmt: skip
    kinds = [str(element.S) for element in elements(pdf)]
    assert kinds.count("/Table") > 8
    assert kinds.count("/TH") > 40
    figures = [str(element.get("/Alt", "")) for element in elements(pdf) if element.S == "/Figure"]
    assert len(figures) > 30
    assert all(figures), "a chart without words"
    fonts = [font for page in pdf.pages for font in page.Resources.Font.values()]
    assert fonts
    assert all("/FontFile3" in font.DescendantFonts[0].FontDescriptor for font in fonts), "every font is inside"


def test_what_readers_with_a_screen_reader_need_is_there(g1: Build) -> None:
    """The checks of PDF/UA that the compiler makes.

    A title, words for each picture, headings that skip no level.
    """
    report = reported(g1(), earlier=run_suite(g1()), history=history(3))
    assert typeset(TEMPLATE, _view(report), created=WHEN, standard="ua-1").data


def test_the_same_report_is_the_same_bytes_and_another_time_is_not(g1: Build) -> None:
    report = reported(g1())
    assert compliance_pdf(report) == compliance_pdf(reported(g1()))
    assert compliance_pdf(report) != compliance_pdf(
        msgspec.structs.replace(report, generated_at=WHEN + timedelta(days=1))
    )


def history(months: int) -> list[Series]:
    points = [
        SeriesPoint(as_of=date(2026, at + 1, 1), value=100.0 + at, threshold=99.0, status="pass")
        for at in range(months)
    ]
    return [Series(test_id="oc_ratio", name=name, unit="percent", direction="min", points=points) for name in HOSTILE]


def hostile(g1: Build) -> ComplianceReport:
    """A report every text of which is one of the above."""
    portfolio = g1()
    names = replace(portfolio.names["obligor"], values=tuple(f"{HOSTILE[at % 10]}{at}" for at in range(13)))
    portfolio = replace(portfolio, names={"obligor": names, "industry": names, "country": names}, sheet_name=HOSTILE[0])
    tests = [
        result_of(f"t{at}", "fail", 10.0**at, 2.5, test_name=text, category=text, message=text)
        for at, text in enumerate(HOSTILE)
    ]
    ran = run_suite(g1())
    results = Results(
        [*tests, *(item for item in ran if item.category == "coverage")],
        [
            *(msgspec.structs.replace(item, test_name=HOSTILE[0], reason=HOSTILE[7]) for item in skipped_of(3)),
            *ran.skipped,
        ],
        warnings=[DataWarning("no_loans", text) for text in HOSTILE],
    )
    origin = Origin(
        name=HOSTILE[0], file_name=HOSTILE[1], mapping=HOSTILE[2], remarks=HOSTILE,
    )  # fmt: skip
    report = reported(portfolio, results, history=history(2), earlier=run_suite(g1()))
    return msgspec.structs.replace(report, title=HOSTILE[0], origin=origin, suite=HOSTILE[0], currency=HOSTILE[0])


def test_contents_that_the_cover_has_no_room_for_are_no_page_of_their_own(g1: Build) -> None:
    """Whatever the cover holds, the first part begins on the second page."""
    portfolio = g1()
    report = reported(portfolio, history=history(3), earlier=run_suite(portfolio))
    tests = report.categories[0].tests
    for thinnest in (0, 5, 12, 20):
        pdf = opened(compliance_pdf(msgspec.structs.replace(report, thinnest=(tests * 20)[:thinnest])))
        first = next(iter(pdf.open_outline().root[0].children))
        assert first.destination is not None
        assert pdf.pages.index(first.destination[0]) == 1, thinnest


def test_names_are_never_markup(g1: Build) -> None:
    """Nothing of a hostile report runs or becomes a heading.

    The title is there letter by letter.
    """
    data = compliance_pdf(hostile(g1))
    pdf = opened(data)
    assert bookmarks(pdf)[0].replace("\u200b", "") == HOSTILE[0]
    assert {str(element.S) for element in elements(pdf)} & {"/H4", "/Formula", "/Code"} == set()
    assert not {"/JavaScript", "/EmbeddedFiles"} & set(pdf.Root.get("/Names", {}))
    assert all(page.MediaBox == pdf.pages[0].MediaBox for page in pdf.pages)


def test_letters_that_no_font_has_are_told_on_the_first_page(g1: Build) -> None:
    report = reported(g1())
    plain = _view(report)["notices"]
    strange = msgspec.structs.replace(report, title="Bank \N{BANK} 東京")
    pdf = opened(compliance_pdf(strange))
    assert bookmarks(pdf)[0] == f"Bank {UNSHOWN} {UNSHOWN}{UNSHOWN}"
    shown = _view(strange, ["Letters that this document's fonts lack are shown as a mark: U+1F3E6."])["notices"]
    assert shown == ["Letters that this document's fonts lack are shown as a mark: U+1F3E6.", *plain]


def test_letters_at_which_the_compiler_stops_are_replaced(g1: Build) -> None:
    """Marks after a place where a line may break are a panic of Typst 0.15.

    Ours never stand there, and a document whose data have them is made without them.
    """
    assigned = [item for item in map(chr, range(0x500, 0x5C8)) if unicodedata.category(item) != "Cn"]
    strange = "".join(assigned)
    view = _view(reported(None, Results([result_of("one", "pass", 1.0, 3.0)], [])))
    pieces = [  # of several lengths, so that in any width some line begins with a mark
        "\u200b".join(strange[at : at + length] for at in range(0, len(strange), length)) for length in (8, 12, 16)
    ]
    view["thinnest"][0]["name"], view["categories"][0]["tests"][0]["name"], view["methods"][0]["name"] = pieces
    new_typeset = typeset(TEMPLATE, view, created=WHEN)
    assert set(new_typeset.replaced) == {*strange, "\u200b"}, "all that is not common is gone"
    own = msgspec.structs.replace(reported(g1()), title=strange, suite=strange)
    assert "\u0531" in bookmarks(opened(compliance_pdf(own)))[0], "what a font shows stays"


def test_masked_ends_stand_in_one_line_below_their_figure() -> None:
    tests = [result_of("open", "pass", 108.49, 120.0, low=107.53, high=108.49), result_of("shown", "pass", 1.0, 3.0)]
    report = reported(None, Results(tests, []))
    view = _view(report)
    assert [row["masked"] for row in view["categories"][0]["tests"]] == ["107.53 to 108.49", ""]
    assert view["widths"]["value"] > 60.0, "what sixteen small letters take"
    assert len(opened(compliance_pdf(report)).pages) == 2


def test_what_was_guessed_stands_at_the_top_and_none_of_it_is_lost(g1: Build) -> None:
    warnings = [DataWarning("no_loans", f"warning {at}: " + "something was left out " * 8) for at in range(30)]
    report = msgspec.structs.replace(
        reported(g1()), warnings=warnings, origin=Origin(name="A deal", remarks=("2 names were masked.",))
    )
    view = _view(report)
    assert view["notices"][0] == "2 names were masked."
    assert 3 < len(view["notices"]) < 12
    assert len(view["notices"]) + len(view["more_notices"]) == 31
    assert "Before relying on these figures" in bookmarks(opened(compliance_pdf(report)))


@every(
    "empty",
    [
        (Results([], []), None),
        (Results([], skipped_of(15)), Portfolio(row_count=0, numbers={}, names={}, flags={}, ranks={})),
        (Results([result_of("one", "pass", 0.0, 0.0, details=None)], []), None),
    ],
)
def test_nothing_at_all_is_a_document_too(empty: tuple[Results, Portfolio | None]) -> None:
    results, portfolio = empty
    report = msgspec.structs.replace(reported(portfolio, results), title="", as_of=None)
    pdf = opened(compliance_pdf(report))
    assert bookmarks(pdf)[0] == "A portfolio without a name"
    assert bookmarks(pdf)[-1] == "Data lineage"


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=9), st.booleans())
def test_a_ladder_adds_up_as_it_is_printed(amounts: list[float], tail: bool) -> None:
    """A cent that rounding leaves is a line of its own."""
    middle = len(amounts) // 2
    steps = [LadderStep("a", amount) for amount in amounts[:middle]] + [
        LadderStep("t", sum(amounts[:middle]), is_total=True)
    ]
    steps += [LadderStep("b", amount) for amount in amounts[middle:]] + [
        LadderStep("t", sum(amounts), is_total=True)
    ] * tail
    above = 0
    for line in _steps(Ladder(title="x", steps=steps, notes=[])):
        cents = round(float(line["amount"].replace("\N{MINUS SIGN}", "-").replace(",", "")) * 100)
        above = above if line["is_total"] else above + cents
        assert not line["is_total"] or above == cents


def test_a_long_title_is_cut_at_the_head_of_the_pages() -> None:
    report = msgspec.structs.replace(reported(None, Results([], [])), title="W" * 500)
    assert len(_view(report)["running"].replace("\u200b", "")) == RUNNING_MAX


def test_a_bullet_is_of_the_figure_beside_it(g1: Build) -> None:
    """Each test's chart has its own message for words, and the same status as the row."""
    for category in _view(reported(g1()))["categories"]:
        for row in category["tests"]:
            assert row["chart"]["alt"].startswith(row["name"].replace("\u200b", "").split(" (")[0])
            assert row["status"] in ("pass", "warning", "fail")
            assert Chart(**row["chart"]).svg.startswith("<svg ")


def test_names_of_obligors_may_be_anything(g1: Build) -> None:
    names = Names(g1().names["obligor"].codes, tuple(f"{'x' * 299}{at:02}" for at in range(13)))
    portfolio = replace(g1(), names={**g1().names, "obligor": names})
    assert len(opened(compliance_pdf(reported(portfolio))).pages) < 12


def test_a_limit_near_zero_is_not_printed_as_zero() -> None:
    results = Results([result_of("tiny", "fail", 48.0, 0.001), result_of("hair", "fail", 7.500001, 7.5)], [])
    rows = _view(reported(None, results))["categories"][0]["tests"]
    assert [(row["value"], row["limit"], row["cushion"]) for row in rows] == [
        ("48.000", "\N{LESS-THAN OR EQUAL TO} 0.001", "\N{MINUS SIGN}47.999"),
        ("7.500001", "\N{LESS-THAN OR EQUAL TO} 7.500000", "\N{MINUS SIGN}0.000001"),
    ]


def test_the_trustees_figure_and_every_doubt_stand_in_the_row_of_a_test() -> None:
    doubts = [Doubt("estimate", f"interest of loan {at} is estimated", [f"'Loans'!A{at}"]) for at in range(60)]
    tests = [
        doubted("ic", "fail", 3.12, 120.0, (190.4, "pass"), direction="min", doubt=doubts),
        result_of(
            "oc", "pass", 143.0, 110.0, direction="min", published=published_of(143.0, 143.0, "pass", agrees=True)
        ),
        result_of("wal", "pass", 1.0, 3.0),
    ]
    report = reported(None, Results(tests, skipped_of(2)))
    view = _view(report)
    rows = {row["name"]: row for row in view["categories"][0]["tests"]}
    ic, oc, wal = (rows[name] for name in ("ic", "oc", "wal"))
    minus = "\N{MINUS SIGN}"
    assert (ic["published"], ic["difference"], ic["agrees"]) == ("190.40", f"{minus}187.28", False)
    assert (ic["doubtful"], ic["published_status"], ic["status"]) == ("fail", "pass", "fail")
    assert (oc["published"], oc["difference"], oc["doubtful"], oc["doubts"]) == ("143.00", "0.00", "", [])
    assert (wal["published"], wal["difference"], wal["agrees"]) == ("", "", None)
    assert ic["doubts"][0] == "Interest of loan 0 is estimated ('Loans'!A0)"
    assert len(ic["doubts"]) == 60, "no doubt is cut"
    assert {"published", "difference"} < set(view["widths"])
    (cover,) = (row for row in view["thinnest"] if row["name"] == "ic")
    assert cover["doubts_below"] == "60 doubts, in full under Tests."
    assert [(count["label"], count["value"]) for count in view["counts"]] == [
        ("passed", "2"), ("with a warning", "0"), ("failed", "0"), ("doubtful", "1"), ("without a result", "2"),
    ]  # fmt: skip
    assert len(opened(compliance_pdf(report)).pages) > 1


def test_a_figure_of_the_cover_stands_beside_the_files_own(g1: Build) -> None:
    results = run_suite(g1(), "standard")
    theirs = published_of(3041.37, 2900.0, "pass")
    changed = [
        replace(result, published=theirs, doubtful=True) if result.test_id == "average_rating_factor" else result
        for result in results
    ]
    report = reported(g1(), Results(changed, results.skipped))
    shown = {key_figure["label"]: key_figure["beside"] for key_figure in _view(report)["key_figures"]}
    assert shown["WARF"] == "doubtful: the file prints 2,900.00, pass"
    assert shown["Performing par"] == ""
    (sheet,) = (compliance_table for compliance_table in compliance_tables(report) if compliance_table.name == "Report")
    assert "factor (doubtful: the file prints 2,900.00, pass)" in [row[2] for row in sheet.rows if row[0] == "WARF"]


def test_no_list_of_names_is_cut_on_any_page() -> None:
    """Nor the places of a doubt, the tests of a warning, or the doubtful ones of the cover."""
    places = [f"'A sheet'!A{at}:Z{at}" for at in range(40)]
    tests = [
        doubted(f"test {at}", "fail", 3.0, 120.0, (190.4, "pass"), direction="min",
                doubt=[Doubt("masked_inputs", "not shown", places)])
        for at in range(30)
    ]  # fmt: skip
    every_test = "; ".join(f"{test.test_name} 190.4, here 3.00 (fail here, pass there)" for test in tests)
    results = Results(tests, [], warnings=[DataWarning("published_differs", f"the file has others: {every_test}")])
    view = _view(reported(None, results))
    assert all(f"{test.test_name} 3.00 against" in view["sentence"] for test in tests)
    answer = " ".join((*view["notices"], *view["more_notices"])).replace("\u200b", "")
    assert all(f"{test.test_name} 190.4" in answer for test in tests)
    (doubt, *_), *_ = (row["doubts"] for category in view["categories"] for row in category["tests"])
    assert all(place in doubt.replace("\u200b", "") for place in places)
    assert len(opened(compliance_pdf(reported(None, results))).pages) > 1


def test_a_file_that_publishes_nothing_has_no_columns_of_the_trustee() -> None:
    view = _view(reported(None, Results([result_of("wal", "pass", 1.0, 3.0)], [])))
    assert "published" not in view["widths"]
    assert "doubtful" not in {count["label"] for count in view["counts"]}


def test_the_cover_says_how_the_file_was_read(g1: Build) -> None:
    """However long, and whatever a file calls its accounts.

    Nothing where its figures decided nothing.
    """
    assert _view(reported(g1()))["read_as"] == ""
    words = f"principal cash is another balance of the file: {HOSTILE[0]}"
    read = replace(g1(), interpretation=interpretation_of(*[("taken", True, words)] * 40))
    report = reported(read)
    assert _view(report)["read_as"].replace("\u200b", "") == run_suite(read).read_as
    assert typeset(TEMPLATE, _view(report), created=WHEN, standard="ua-1").data
    assert ("Read as", report.read_as) in [tuple(row) for row in next(iter(compliance_tables(report))).rows]
