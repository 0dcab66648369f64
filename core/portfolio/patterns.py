"""Patterns of a configuration (google-re2, linear in the text): which strings of a pool match, and replacing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import re2
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.effort import ask, asked

PATTERN_LENGTH_MAX: Final = 300
"""Characters of a pattern."""

PATTERN_MEMORY_BYTES: Final = 1 << 20
"""What a compiled pattern may take."""

PROGRAM_SIZE_MAX: Final = 500
"""Instructions of a compiled pattern. The worst pattern asks each of them about each byte: 7 us a byte for a thousand;
^[A-Z0-9]{9}$ has 20, ^.{1,50}$ has 450."""

REPLACED_LENGTH_MAX: Final = 1_000
"""UTF-8 bytes of a text after replacing, unless it was longer before: a short cell must not grow to megabytes."""

STEPS_FREE: Final = 1_000_000_000
STEPS_PER_BYTE: Final = 10
"""Replacing may take so many steps, and so many more for each byte of the pool and instruction of the pattern.

A step is an instruction asked about a byte, 3 ns at worst. Each match may read its string to the end, so that a long
string full of matches costs the square of its length, in any engine; 10 matches a string are many.
"""

_NEWLINE: Final = 10
_TEMPLATE: Final = re.compile(r"\\(\d|\\)|([^\\]+)")

# A pattern that cannot match a line break: of it a whole pool is asked at once, one string a line.
_IN_A_LINE: Final = re.compile(r"(?!.*(?:\[\^|\[:|\(\?(?!:)|\\[^\WdwbS]|\\$))[ -~]*")


class PatternError(ValueError):
    """A pattern or a replacement that is not understood."""


def pattern_fault(value: Any, _kind: str = "") -> str | None:
    """Why a parameter is no pattern."""
    if not isinstance(value, str):
        return "is not a text"
    try:
        compiled(value)
    except PatternError as error:
        return str(error)
    return None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """A pattern over UTF-8 bytes.

    Raises:
        PatternError: it is empty, too long, not understood, or too large when compiled.
    """
    if not 0 < len(pattern) <= PATTERN_LENGTH_MAX:
        raise PatternError(f"a pattern has 1 to {PATTERN_LENGTH_MAX} characters")
    one = _compiled(pattern)
    if one.programsize > PROGRAM_SIZE_MAX:
        raise PatternError(f"is a pattern of {one.programsize} steps, more than {PROGRAM_SIZE_MAX}")
    return one


def _compiled(pattern: str, *, without_groups: bool = False) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY_BYTES
    options.never_capture = without_groups
    try:
        return re2.compile(pattern.encode(), options)
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise PatternError(f"is no pattern: {said}") from error


def matching(pattern: str, text: Text) -> NDArray[np.bool_]:
    """Which strings of a pool have a match somewhere in them.

    Raises:
        PatternError: as `compiled`.
    """
    one = compiled(pattern)
    if _IN_A_LINE.fullmatch(pattern) and not (text.data == _NEWLINE).any():
        return _matching_lines(pattern, text)
    return np.array([one.search(string) is not None for string in asked(strings_of(text))], np.bool_)


def strings_of(text: Text) -> list[bytes]:
    """The strings of a pool as UTF-8."""
    data = text.data.tobytes()
    return [data[start:end] for start, end in pairwise(text.offsets.tolist())]


def _matching_lines(pattern: str, text: Text) -> NDArray[np.bool_]:
    """The same by runs: all lines that match up to the first that does not, then on to the next that does.

    A call costs a microsecond, so a million strings that are alike cost what their bytes do.
    """
    run_of, next_of = _line_patterns(pattern)
    count = len(text)
    starts = text.offsets + np.arange(count + 1)
    lines = np.full(int(starts[-1]), _NEWLINE, np.uint8)
    own = np.ones(len(lines), np.bool_)
    own[starts[1:] - 1] = False
    lines[own] = text.data[: text.offsets[-1]]
    data = lines.tobytes()
    found = np.zeros(count, np.bool_)
    row = 0
    while row < count:
        ask()
        run = run_of.match(data, int(starts[row]))
        if run is not None:
            stop = int(np.searchsorted(starts, run.end()))
            found[row:stop] = True
            row = stop
            if row == count:
                break
        following = next_of.search(data, int(starts[row]))
        if following is None:
            break
        row = int(np.searchsorted(starts, following.start(), side="right")) - 1
    return found


@lru_cache(maxsize=256)
def _line_patterns(pattern: str) -> tuple[Any, Any]:
    """What matches a run of lines with a match each, and a single match, where ^ and $ are the ends of a line."""
    return (
        _compiled(rf"(?m)(?:.*?(?:{pattern}).*\n)+", without_groups=True),
        _compiled(rf"(?m)(?:{pattern})", without_groups=True),
    )


# ---- replacing -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def template(replacement: str) -> tuple[bytes | int, ...]:
    r"""A replacement as texts and numbers of groups: \1 to \9, \0 for the whole match, \\ for a backslash.

    Raises:
        PatternError: a backslash before anything else.
    """
    parts: list[bytes | int] = []
    at = 0
    for found in _TEMPLATE.finditer(replacement):
        if found.start() != at:
            break
        at = found.end()
        parts.append(found[2].encode() if found[2] is not None else b"\\" if found[1] == "\\" else int(found[1]))
    if at != len(replacement):
        raise PatternError(r"a backslash in a replacement stands before a digit or a backslash: \1, \\")
    return tuple(parts)


def replacement_fault(parameters: dict[str, Any]) -> str | None:
    """Why a pattern and a replacement do not go together."""
    try:
        groups = [part for part in template(parameters["replacement"]) if isinstance(part, int)]
    except PatternError as error:
        return str(error)
    named, known = max(groups, default=0), compiled(parameters["pattern"]).groups
    return f"the replacement names group {named}, the pattern has {known}" if named > known else None


def replaced(pattern: str, replacement: str, text: Text) -> tuple[list[bytes], NDArray[np.bool_]]:
    """The strings of a pool with every match replaced, and which of them could not be: those are empty.

    A result must not be longer than `REPLACED_LENGTH_MAX` and than its string was; and where matches are so many that
    looking for them could take long, the strings that are left fail (`STEPS_FREE`).
    """
    one, parts = compiled(pattern), template(replacement)
    strings = strings_of(text)
    failed = np.zeros(len(strings), np.bool_)
    steps_left = STEPS_FREE + STEPS_PER_BYTE * len(text.data) * one.programsize
    for code in asked(np.flatnonzero(matching(pattern, text)).tolist()):
        steps = (len(strings[code]) + 1) * one.programsize
        result, searches = _replaced(one, parts, strings[code], steps_left // steps)
        steps_left -= searches * steps
        failed[code] = result is None
        strings[code] = result or b""
    return strings, failed


def _replaced(one: Any, parts: tuple[bytes | int, ...], string: bytes, searches_max: int) -> tuple[bytes | None, int]:
    """A string with every match replaced, None when it grows too long or has too many; and how many were found.

    Matches do not overlap, and an empty one does not stand right behind another.
    """
    pieces: list[bytes] = []
    size = at = searches = 0
    most = max(REPLACED_LENGTH_MAX, len(string))
    for found in asked(_matches(one, string)):
        piece = b"".join(part if isinstance(part, bytes) else found.group(part) or b"" for part in parts)
        pieces += (string[at : found.start()], piece)
        size += found.start() - at + len(piece)
        at = found.end()
        searches += 1
        if size > most or searches > searches_max:
            return None, searches
    pieces.append(string[at:])
    return (b"".join(pieces) if size + len(string) - at <= most else None), searches


def _matches(one: Any, string: bytes) -> Iterator[Any]:
    """The matches in a string. (`finditer` over bytes goes on from an empty match inside a character.)"""
    start, end = 0, -1
    while start <= len(string) and (found := one.search(string, start)) is not None:
        if found.end() > end:
            yield found
        end = found.end()
        start = end if end > start else start + 1
        while start < len(string) and string[start] & 0xC0 == 0x80:
            start += 1
