"""What an object says of itself in one line, whatever it holds.

And a name that is not there, with what is near.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

import numpy as np
from msgspec import UNSET

CHARACTERS_MAX: Final = 200
"""Of a repr in one line."""

_TEXT_MAX: Final = 48
_NAMES_MAX: Final = 2_000
"""Names among which near ones are looked for."""


class _Repr(reprlib.Repr):
    """Every value in a few characters, at a cost that does not grow with it."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 2
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 3
        self.maxstring = self.maxlong = self.maxother = _TEXT_MAX

    def repr_str(self, x: str, level: int) -> str:
        return repr(x) if len(x) <= _TEXT_MAX else f"{x[:_TEXT_MAX]!r}..."

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x) if len(x) <= _TEXT_MAX else f"{x[:16]!r}... of {len(x):,} bytes"

    def repr_int(self, x: int, level: int) -> str:
        return repr(x) if x.bit_length() < 100 else f"an integer of {x.bit_length():,} bits"

    def repr_ndarray(self, x: np.ndarray[Any, Any], level: int) -> str:
        return f"{x.dtype}[{' x '.join(f'{size:,}' for size in x.shape)}]"

    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        if level <= 0 and x:
            return f"{{{len(x):,}}}"
        shown = [f"{self.repr1(key, level - 1)}: {self.repr1(value, level - 1)}" for key, value in islice(x.items(), 3)]
        return f"{{{', '.join(shown)}{', ...' if len(x) > 3 else ''}}}"

    def repr_instance(self, x: object, level: int) -> str:
        if type(x) is date:
            return x.isoformat()
        try:
            return shortened(repr(x), _TEXT_MAX)
        except Exception:
            return f"<{type(x).__name__}>"


_repr: Final = _Repr()


def shortened(text: str, most: int = CHARACTERS_MAX) -> str:
    """Return the text in one line, cut to so many characters."""
    line = text[: most + 1].replace("\n", " ")
    return line if len(line) <= most else f"{line[: most - 3]}..."


def value_shown(value: object) -> str:
    """Return a value in a few characters."""
    return _repr.repr(value)


def brief(result: object) -> str:
    """Return the repr of a record: its fields in order, as far as a line takes them.

    Without those that are None or empty.

    For the body of a class with fields (a Struct or a dataclass): `__repr__ = brief`.
    """
    kind = type(result)
    names: Any = getattr(kind, "__struct_fields__", None) or getattr(kind, "__dataclass_fields__", ())
    return shown(kind.__name__, {name: getattr(result, name, None) for name in names if not name.startswith("_")})


def shown(called: str, values: Mapping[str, object]) -> str:
    """`Called(name=value, ...)` in one line, by the rule of `brief`."""
    parts: list[str] = []
    size = len(called) + 2
    for name, value in values.items():
        if value is None or value is UNSET or _is_empty(value):
            continue
        part = f"{name}={value_shown(value)}"
        size += len(part) + 2
        if size > CHARACTERS_MAX - 5:
            parts.append("...")
            break
        parts.append(part)
    return f"{called}({', '.join(parts)})"


def _is_empty(value: object) -> bool:
    return isinstance(value, str | bytes | list | tuple | dict | set | frozenset) and not value


class MissingName(KeyError):
    """A name that is not there; the message has those that are near."""

    def __str__(self) -> str:
        return str(self.args[0])


def missing(what: str, name: object, names: Iterable[str], *, because: str = "") -> MissingName:
    """Return the error for a name that is none of `names`, with what is near or why it is none."""
    text = f"there is no {what} {value_shown(name)}"
    if because:
        return MissingName(f"{text}: {because}")
    known = list(islice(names, _NAMES_MAX))
    folded = {each[:100].casefold(): each for each in reversed(known)}
    if isinstance(name, str):
        asked = name[:100].casefold()
        near = [folded[close_match] for close_match in get_close_matches(asked, folded, n=3, cutoff=0.6)]
        near += [each for key, each in folded.items() if asked and asked in key and each not in near][: 3 - len(near)]
        if near:
            return MissingName(f"{text}; near: {', '.join(map(value_shown, near))}")
    more = ", ..." if len(known) > 5 else ""
    return MissingName(f"{text}; there are: {', '.join(map(value_shown, known[:5]))}{more}" if known else text)
