"""Which files make a month of a deal, and which of them is the tape."""

from __future__ import annotations

from core.batch.months import MonthFiles, SourceFile, choose_tape, group_files, grouping_words


def files(*paths: str) -> list[SourceFile]:
    return [SourceFile(path, f"/data/{path}") for path in paths]


def paths_by_deal(months: tuple[MonthFiles, ...]) -> dict[str, list[str]]:
    return {month.deal: [file.path for file in month.files] for month in months}


def test_a_named_folder_is_opened_and_its_folders_and_archives_are_months() -> None:
    grouping = group_files(
        files("acme.xlsx", "beta.pdf", "gamma/loans.csv", "gamma/notes.csv", "gamma/old.zip", "deep/er/loans.xlsx"),
        "all",
    )
    assert paths_by_deal(grouping.months) == {
        "acme": ["acme.xlsx"],
        "beta": ["beta.pdf"],
        "gamma": ["gamma/loans.csv", "gamma/notes.csv"],
        "gamma/old": ["gamma/old.zip"],
        "deep/er": ["deep/er/loans.xlsx"],
    }
    assert grouping_words(grouping.months) == "5 deals from 2 files, 1 archive and 2 folders of 3 files"


def test_a_named_folder_of_delimited_text_alone_is_one_month() -> None:
    texts = files("loans.csv", "notes.tsv", "cash.TXT")
    grouping = group_files(texts, "acme")
    assert paths_by_deal(grouping.months) == {"acme": ["cash.TXT", "loans.csv", "notes.tsv"]}
    assert grouping_words(grouping.months) == "1 deal from 1 folder of 3 files"
    # Named one by one, or beside anything else, each is a month of its own.
    assert len(group_files(texts).months) == 3
    assert len(group_files([*texts, *files("beta.xlsx")], "acme").months) == 4
    assert len(group_files([*texts, *files("beta/loans.csv")], "acme").months) == 4


def test_what_is_no_table_is_left_out_by_name_and_what_systems_leave_is_passed_over() -> None:
    grouping = group_files(
        files(
            "readme.md", "a.xlsx", ".hidden.xlsx", "~$a.xlsx", "__MACOSX/a.xlsx", ".git/b.csv", "d/a.xlsx", "d/a.pdf"
        ),
        "all",
    )
    assert paths_by_deal(grouping.months) == {"a": ["a.xlsx"], "d": ["d/a.xlsx"]}
    assert grouping.left_out == ("d/a.pdf", "readme.md")


def test_the_order_of_the_files_changes_nothing() -> None:
    listed = files("b/2.csv", "b/1.csv", "a.xlsx", "c.zip", "b/3.md")
    assert group_files(listed, "x") == group_files([*reversed(listed), listed[0]], "x")


def test_the_tape_is_the_named_file_or_the_only_one_whose_name_says_so() -> None:
    pair = tuple(files("d/holdings.xlsx", "d/March Trustee Report.xlsx"))
    choice = choose_tape(pair, None)
    assert (choice.files, choice.tape) == (pair[:1], pair[1])
    assert choice.note == (
        "March Trustee Report.xlsx is taken for the trustee's tape by its name, and its loans are not added"
    )
    named = choose_tape(pair, "holdings.xlsx")
    assert (named.files, named.tape, named.note) == (pair[1:], pair[0], None)
    assert choose_tape(pair[:1], None).tape is None


def test_no_tape_is_guessed_among_several_or_of_all_files() -> None:
    several = tuple(files("d/tape-1.csv", "d/tape-2.csv", "d/holdings.csv"))
    choice = choose_tape(several, None)
    assert (choice.files, choice.tape) == (several, None)
    assert choice.note == "several files could be the tape: name it in the column tape of the table of deals"
    assert choose_tape(several[:2], None).note is None
    assert choose_tape(several[:1], None).tape is None, "a lone file is what is read, whatever its name"
    missing = choose_tape(several, "absent.csv")
    assert (missing.files, missing.tape) == (several, None)
    assert missing.note == "the deal has no file 'absent.csv' beside others, which its row names as tape"
