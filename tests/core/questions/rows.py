"""The rows of the data files, each with what is expected of its answer, and a score of the answers to a file.

python -m tests.core.questions.rows FILE ...          write what is expected anew
python -m tests.core.questions.rows --score FILE ...  ask each question, and print the verdicts
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from core.questions.ask import ask
from tests.core.questions.books import SUBJECTS, portfolios, subject
from tests.core.questions.judge import judge
from tests.core.questions.suppositions import world

Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    """Return the questions of a file whose books are at hand."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in lines if all(name in portfolios() for name in SUBJECTS[row["subject"]])]


def expect(row: Row) -> Row:
    """Return the row with what is expected of its answer."""
    if row.get("refuse"):
        return row
    book = world(tuple(SUBJECTS[row["subject"]]))
    readings: list[Row] = []
    for book.listing in ("all", "performing"):
        answer = book.evaluate(row["calc"])
        figures = [[[float(f"{value:.10g}"), unit] for value, unit in values] for values in answer.figures]
        reading = {"figures": figures, "names": answer.names}
        if answer.verdict:
            reading["verdict"] = answer.verdict
        if reading not in readings:
            readings.append(reading)
    # That no performing loan is in default is no answer to which loans are.
    readings = [reading for reading in readings if reading["names"] or not readings[0]["names"]]
    return {**row, "expected": readings}


def score(path: Path) -> Counter[str]:
    """Ask each question of a file, print what is not right, count verdicts."""
    verdicts: Counter[str] = Counter()
    for row in rows(path):
        answer = ask(row["question"], [subject(name) for name in SUBJECTS[row["subject"]]])
        verdict, fault = judge(row, answer)
        verdicts[verdict] += 1
        if verdict != "right":
            print(f"{verdict}: {row['question']}\n    {fault}\n    {answer.text[:300]!r}")
    return verdicts


def main(arguments: list[str]) -> None:
    """Write the expected answers of the files anew, or score the files."""
    for path in map(Path, (argument for argument in arguments if argument != "--score")):
        if "--score" in arguments:
            verdicts = score(path)
            print(f"{path.name}: {dict(verdicts)} of {verdicts.total()}")
        else:
            lines = [json.dumps(expect(row), ensure_ascii=False) for row in rows(path)]
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
