"""Print the scoreboard.

`python -m tests.real_reports [file ...] [--columns] [--definitions] [--all]`.
"""

from __future__ import annotations

import sys
from collections import Counter

from tests.real_reports.board import DEFINITIONS, NAMES, Score, own_definition, scores
from tests.real_reports.columns import column_scores, truth
from tests.real_reports.lists import PRESENT, list_scores

VERDICTS = ("right", "silent", "doubtful", "absent")


def _print(name: str, scores_of_file: list[Score], *, is_long: bool) -> Counter[str]:
    counts = Counter[str](any_score.verdict for any_score in scores_of_file)
    totals = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    print(f"{name}: {counts['right']} of {len(scores_of_file)} ({totals})")
    for score in scores_of_file:
        if is_long or score.verdict != "right":
            print(score)
    return counts


def _print_columns(names: list[str], *, is_long: bool) -> None:
    total = Counter[str]()
    for file in truth():
        if names and not any(name in file for name in names):
            continue
        scores_of_file = column_scores(file)
        counts = Counter[str](any_score.kind for any_score in scores_of_file)
        total += counts
        print(f"columns of {file}: {dict(counts)}")
        for score in scores_of_file:
            if is_long or score.kind not in ("right", "none"):
                print(score)
    carrying = total["right"] + total["wrong"] + total["left out"]
    if carrying:
        print(f"all columns: {total['right']} of {carrying} ({total['right'] / carrying:.1%}), {total['false']} false")


def _print_definitions(names: list[str], *, is_long: bool) -> None:
    total = Counter[str]()
    for name in NAMES:
        if not names or any(part in name for part in names):
            scores_of_file = scores(name, own_definition(name))
            total += _print(f"{name} with {DEFINITIONS[name].name}", scores_of_file, is_long=is_long)
    print("all figures:", ", ".join(f"{total[verdict]} {verdict}" for verdict in VERDICTS))


def main(arguments: list[str]) -> None:
    """Print what the arguments ask for.

    Without any, all files and the counts of their columns.
    """
    names = [argument for argument in arguments if not argument.startswith("--")]
    is_long = "--all" in arguments
    if "--definitions" in arguments:
        _print_definitions(names, is_long=is_long)
        return
    total = Counter[str]()
    for name in [*NAMES, *PRESENT] if "--columns" not in arguments else []:
        if not names or any(part in name for part in names):
            total += _print(name, scores(name) if name in NAMES else list_scores(name), is_long=is_long)
    if total:
        print("all figures:", ", ".join(f"{total[verdict]} {verdict}" for verdict in VERDICTS))
    if "--figures" not in arguments:
        _print_columns(names, is_long=is_long)


main(sys.argv[1:])
