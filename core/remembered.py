"""What is worked out of short texts, kept by the text.

Users choose these, so a long one is not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

CHARACTERS_MAX: Final = 500
"""Of a text that is kept: 4,096 of them take 8 MB at most, where the longest texts of a sheet would take 500."""


def remembered(most: int) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Return a decorator for a function of a text.

    Its answers for the `most` short texts that were asked last are kept.
    """

    def decorated(function: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        kept = lru_cache(maxsize=most)(function)

        @wraps(function)
        def asked(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
            return kept(text, *args, **kwargs) if len(text) <= CHARACTERS_MAX else function(text, *args, **kwargs)  # type: ignore[arg-type]

        return asked

    return decorated
