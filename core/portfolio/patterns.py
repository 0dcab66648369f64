"""Patterns of a configuration (google-re2, linear in the text): which strings of a pool match, and replacing."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import re2
from numpy.typing import NDArray

from core.grid.column import Text

PATTERN_LENGTH_MAX: Final = 300
"""Characters of a pattern."""

PATTERN_MEMORY_BYTES: Final = 1 << 20
"""What a compiled pattern may take: it bounds how many states each character of a text can meet."""

REPLACED_LENGTH_MAX: Final = 1_000
"""UTF-8 bytes of a text after replacing, unless it was longer before: a short cell must not grow to megabytes."""

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
    return _compiled(pattern)


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
    return np.array([one.search(string) is not None for string in strings_of(text)], np.bool_)


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


def replaced(pattern: str, replacement: str, string: bytes) -> bytes | None:
    """A string with every match replaced; None when the result is longer than `REPLACED_LENGTH_MAX` and than before."""
    parts = template(replacement)
    pieces: list[bytes] = []
    size = at = 0
    most = max(REPLACED_LENGTH_MAX, len(string))
    for found in compiled(pattern).finditer(string):
        piece = b"".join(part if isinstance(part, bytes) else found.group(part) or b"" for part in parts)
        pieces += (string[at : found.start()], piece)
        size += found.start() - at + len(piece)
        at = found.end()
        if size > most:
            return None
    pieces.append(string[at:])
    return b"".join(pieces) if size + len(string) - at <= most else None
