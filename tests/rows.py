"""Tests of many small rows that are one case each.

All rows are tried, and all that fail are told together.
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any


def every(
    names: str, rows: Iterable[Any], *, ids: Callable[[Any], str] = reprlib.repr
) -> Callable[[Callable[..., None]], Any]:
    """Like pytest's parametrize, for rows that need no fixture of their own.

    A case costs more than most of them.

    `names` are the arguments that a row gives, separated by commas; a row is a sequence where there are several.
    """
    arguments = [name.strip() for name in names.split(",")]
    listed = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def all_rows(*fixtures: Any, **named: Any) -> None:
            assert listed, "there is no row"
            failures: list[Exception] = []
            for row in listed:
                values = row if len(arguments) > 1 else (row,)
                try:
                    test(*fixtures, **named, **dict(zip(arguments, values, strict=True)))
                except Exception as error:
                    error.add_note(f"in the row {ids(row)}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(listed)} rows of {test.__name__}", failures)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in arguments]
        assert len(left) == len(signature.parameters) - len(arguments), f"{test.__name__} takes {names}"
        all_rows.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return all_rows

    return decorate
