"""The text format of PostgreSQL's COPY, read by the rules of its manual."""

from __future__ import annotations

from service.reconciliation.copy_child import COPIED

UNESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}


def parsed(text: str) -> list[dict[str, str]]:
    """The format's rules, as PostgreSQL's manual states them.

    Lines, tabs, a backslash before what would mislead.
    """
    assert text == "" or text.endswith("\n")
    rows = []
    for line in text.split("\n")[:-1]:
        values = []
        for field in line.split("\t"):
            assert field != "\\N", "a null"
            value, marks = "", iter(field)
            for mark in marks:
                value += UNESCAPED[next(marks)] if mark == "\\" else mark
            values.append(value)
        rows.append(dict(zip(COPIED, values, strict=True)))
    return rows
