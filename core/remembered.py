"""What is worked out of short texts, kept by the text.

Users choose these, so a long one is not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")

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


def remembered_by_object(
    most: int,
) -> Callable[[Callable[Concatenate[T, P], U]], Callable[Concatenate[T, P], U]]:
    """Return a decorator for a function of a constant that is slow to hash.

    Its answers for the `most` objects that were asked first of those that are kept, and the objects with them. Further
    arguments are by place, and hashable.
    """

    def decorated(function: Callable[Concatenate[T, P], U]) -> Callable[Concatenate[T, P], U]:
        kept: OrderedDict[tuple[object, ...], tuple[T, U]] = OrderedDict()

        @wraps(function)
        def asked(thing: T, /, *args: P.args, **kwargs: P.kwargs) -> U:
            key = (id(thing), *args)
            pair = kept.get(key)
            if pair is None:
                pair = kept[key] = thing, function(thing, *args, **kwargs)
                if len(kept) > most:
                    with suppress(KeyError):  # another thread was faster
                        kept.popitem(last=False)
            return pair[1]

        return asked

    return decorated
