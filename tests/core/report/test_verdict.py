"""The two sentences of a report where what the tests say is doubtful."""

from __future__ import annotations

from collections.abc import Sequence

from core.compliance.result import Results, TestResult
from tests.core.report.conftest import doubted, published_of, reported, result_of, skipped_of
from tests.rows import every

OK = result_of("ok", "pass", 1.0, 10.0)
BROKEN = result_of("broken", "fail", 8.0, 7.5)
WARNED = result_of("warned", "warning", 7.0, 7.5)
FALSE_FAIL = doubted("ic", "fail", 3.12, 120.0, (190.4, "pass"), direction="min")
ALSO_FALSE = doubted("oc", "fail", 20.0, 110.0, (143.33, "pass"), direction="min")
FALSE_PASS = doubted("ccc", "pass", 5.0, 7.5, (9.1, "fail"))
OPEN_FAIL = doubted("wal", "fail", 8.0, 7.0)
OPEN_PASS = doubted("was", "warning", 3.0, 2.9, (3.1, None), direction="min")
NO_VALUE = doubted("cov", "pass", 5.0, 60.0, (None, "fail"))


@every(
    "rows, skipped, outcome, headline",
    [
        ([BROKEN, *[OK] * 19, FALSE_FAIL, ALSO_FALSE], 3, "fail",
         "1 of 22 measured tests fails; 2 more fail by our figures but the file prints a pass: doubtful"),
        ([BROKEN, BROKEN, FALSE_FAIL], 0, "fail",
         "2 of 3 tests fail; 1 more fails by our figures but the file prints a pass: doubtful"),
        ([FALSE_FAIL, OK], 0, "doubtful",
         "None of 2 tests fails beyond doubt; 1 fails by our figures but the file prints a pass: doubtful"),
        ([OK, WARNED, FALSE_PASS, NO_VALUE], 0, "doubtful",
         "2 of 4 tests pass; 2 more pass by our figures but the file prints a fail: doubtful"),
        ([OK, OPEN_PASS], 0, "doubtful",
         "1 of 2 tests passes; 1 more passes by our figures with more par missing than its cushion bears: doubtful"),
        ([BROKEN, OPEN_FAIL, OPEN_FAIL, FALSE_PASS], 0, "fail",
         "1 of 4 tests fails; 2 more fail by our figures with more par missing than their cushions bear, 1 passes by "
         "our figures but the file prints a fail: doubtful"),
        ([FALSE_FAIL], 1, "doubtful",
         "The one measured test fails by our figures but the file prints a pass: doubtful"),
    ],
)  # fmt: skip
def test_a_doubtful_test_is_no_plain_failure_and_no_plain_pass(
    rows: Sequence[TestResult], skipped: int, outcome: str, headline: str
) -> None:
    verdict = reported(None, Results(list(rows), skipped_of(skipped))).verdict
    assert (verdict.outcome, verdict.headline) == (outcome, headline)


def test_every_doubtful_test_is_named_with_what_the_file_prints() -> None:
    rows = [BROKEN, FALSE_FAIL, FALSE_PASS, OPEN_FAIL, NO_VALUE, WARNED]
    sentence = reported(None, Results(rows, [])).verdict.sentence
    assert sentence == (
        "Failed: broken 8.00 against at most 7.50. "
        "Doubtful: ic 3.12 against at least 120.00 (fail here, the file prints 190.40, pass); "
        "wal 8.00 against at most 7.00 (fail here); ccc 5.00 against at most 7.50 (pass here, the file prints 9.10, "
        "fail); cov 5.00 against at most 60.00 (pass here, the file prints fail). "
        "Close to the limit: warned 7.00 against at most 7.50."
    )
    many = [doubted(f"t{at}", "fail", 8.0, 7.5, (7.0, "pass")) for at in range(40)]
    actual_sentence = reported(None, Results(many, [])).verdict.sentence
    assert all(f"t{at} 8.00" in actual_sentence for at in range(40)), "the list of doubtful tests is never cut"


def test_a_difference_that_leaves_the_status_is_no_doubt_of_it() -> None:
    result = result_of("oc", "pass", 143.0, 110.0, direction="min", published=published_of(143.0, 143.33, "pass"))
    assert reported(None, Results([result], [])).verdict.headline == "The one test passes"


def test_doubtful_tests_stand_behind_the_others_of_the_thinnest() -> None:
    thinnest = reported(None, Results([FALSE_FAIL, OK, BROKEN, WARNED], [])).thinnest
    assert [item.test_id for item in thinnest] == ["broken", "warned", "ok", "ic"]
