"""Patterns of a configuration (google-re2): which strings of a pool match."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from re2 import _re2  # type: ignore[import-untyped]  # the binding: re2's face in Python takes five times as long

from core.grid.column import Text
from core.portfolio.cells._replace import endings, joined_lines, split_lines, substituted, with_endings
from core.portfolio.cells.checkpoint import checkpoint, with_checkpoints

PATTERN_LENGTH_MAX: Final = 300
"""Characters of a pattern."""

PATTERN_MEMORY_BYTES: Final = 1 << 20
"""What a compiled pattern may take."""

PATTERNS_KEPT: Final = 64
"""Patterns that stay compiled, in four forms each; on its way through texts each form grows up to the figure above."""

PROGRAM_SIZE_MAX: Final = 500
"""Instructions of a compiled pattern. The worst pattern asks each of them about each byte: 7 us a byte for a thousand;
^[A-Z0-9]{9}$ has 20, ^.{1,50}$ has 450."""

GROWTH_MAX: Final = 1_000
"""UTF-8 bytes by which replacing may lengthen a text: a short cell must not grow to megabytes."""

STEPS_FREE: Final = 1_000_000_000
STEPS_PER_BYTE: Final = 10
"""Replacing may take so many steps, and so many more for each byte of the pool and instruction of the pattern.

A step is an instruction asked about a byte, 3 ns at worst. Each match may read its string to the end, so that a long
string full of matches costs the square of its length, in any engine; 10 matches a string are many.
"""

_NEWLINE: Final = 10
_NOWHERE: Final = (-1, -1)
_ANYWHERE, _HERE = _re2.RE2.Anchor.UNANCHORED, _re2.RE2.Anchor.ANCHOR_START
_TEMPLATE: Final = re.compile(r"\\(\d|\\)|([^\\]+)")

# A pattern that cannot match a line break: of it a whole pool is asked at once, one string a line.
_IN_A_LINE: Final = re.compile(r"(?!.*(?:\[\^|\[:|\(\?(?!:)|\\[^\WdwbS]|\\$))[ -~]*")

# A pattern of plain letters, groups and choices that can only match at the end of a string.
_AT_THE_END: Final = re.compile(r"(?!.*\(\?)(?:\\[.,()&/+*-]|[\w ,&'/()|?-])+\$", re.ASCII)
_LETTER: Final = re.compile(r"\\?.")


class PatternError(ValueError):
    """A pattern or a replacement that is not understood."""


def pattern_fault(value: Any, _kind: str = "") -> str | None:
    """Return why a parameter is no pattern."""
    if not isinstance(value, str):
        return "is not a text"
    try:
        compile_pattern(value)
    except PatternError as error:
        return str(error)
    return None


def program_size(pattern: str) -> int:
    """Return instructions of a sound pattern."""
    return int(compile_pattern(pattern).ProgramSize())


@lru_cache(maxsize=PATTERNS_KEPT)
def compile_pattern(pattern: str) -> Any:
    """Return a pattern over UTF-8 bytes.

    Raises:
        PatternError: it is empty, too long, not understood, or too large when compiled.
    """
    if not 0 < len(pattern) <= PATTERN_LENGTH_MAX:
        raise PatternError(f"a pattern has 1 to {PATTERN_LENGTH_MAX} characters")
    program = _compile(pattern)
    if program.ProgramSize() > PROGRAM_SIZE_MAX:
        raise PatternError(f"is a pattern of {program.ProgramSize()} steps, more than {PROGRAM_SIZE_MAX}")
    return program


def _compile(pattern: str, *, without_groups: bool = False) -> Any:
    options = _re2.RE2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY_BYTES
    options.never_capture = without_groups
    try:
        re2 = _re2.RE2(pattern.encode(), options)
    except UnicodeEncodeError as error:
        raise PatternError("is not valid Unicode") from error
    if not re2.ok():
        raise PatternError(f"is no pattern: {re2.error().decode(errors='replace')}")
    return re2


# ---- matching ------------------------------------------------------------------------------------------------------


def matching(pattern: str, text: Text) -> NDArray[np.bool_]:
    """Return which strings of a pool have a match somewhere in them.

    Raises:
        PatternError: as `compile_pattern`.
    """
    program = compile_pattern(pattern)
    if _is_in_lines(pattern, text):
        return _matching_lines(pattern, text)
    return np.array(
        [
            program.Match(_ANYWHERE, string, 0, len(string))[0] != _NOWHERE
            for string in with_checkpoints(_strings(text))
        ],
        np.bool_,
    )


def _is_in_lines(pattern: str, text: Text) -> bool:
    return _IN_A_LINE.fullmatch(pattern) is not None and not (text.data == _NEWLINE).any()


def _strings(text: Text) -> list[bytes]:
    data = text.data.tobytes()
    return [data[start:end] for start, end in pairwise(text.offsets.tolist())]


def _lines(text: Text) -> tuple[bytes, NDArray[np.int64]]:
    """Join a pool's strings by line breaks, and return where each begins."""
    starts = text.offsets + np.arange(len(text.offsets))
    return joined_lines(text.offsets, text.data), starts


def _matching_lines(pattern: str, text: Text) -> NDArray[np.bool_]:
    """Do the same by runs: lines that match, then on to the next that does.

    A call costs a microsecond, so a million strings that are alike cost what their bytes do.
    """
    run_of, next_of = _line_patterns(pattern)
    data, starts = _lines(text)
    is_match = np.zeros(len(text), np.bool_)
    row = 0
    while row < len(text):
        checkpoint()
        _, end = run_of.Match(_HERE, data, int(starts[row]), len(data))[0]
        if end >= 0:
            stop = int(starts.searchsorted(end))
            is_match[row:stop] = True
            row = stop
        if row < len(text):
            start, _ = next_of.Match(_ANYWHERE, data, int(starts[row]), len(data))[0]
            row = len(text) if start < 0 else int(starts.searchsorted(start, side="right")) - 1
    return is_match


@lru_cache(maxsize=PATTERNS_KEPT)
def _line_patterns(pattern: str) -> tuple[Any, Any]:
    """Compile patterns for a run of lines and for one match, ^ and $ at line ends."""
    return (
        _compile(rf"(?m)(?:.*?(?:{pattern}).*\n)+", without_groups=True),
        _in_lines(pattern, without_groups=True),
    )


# ---- replacing -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def template(replacement: str) -> tuple[bytes | int, ...]:
    r"""Parse a replacement into texts and groups: \1 to \9, \0 for the whole.

    Raises:
        PatternError: a backslash before anything else.
    """
    parts: list[bytes | int] = []
    at = 0
    for match in _TEMPLATE.finditer(replacement):
        if match.start() != at:
            break
        at = match.end()
        parts.append(match[2].encode() if match[2] is not None else b"\\" if match[1] == "\\" else int(match[1]))
    if at != len(replacement):
        raise PatternError(r"a backslash in a replacement stands before a digit or a backslash: \1, \\")
    return tuple(parts)


def replacement_fault(parameters: dict[str, Any]) -> str | None:
    """Return why a pattern and a replacement do not go together."""
    try:
        groups = [part for part in template(parameters["replacement"]) if isinstance(part, int)]
    except PatternError as error:
        return str(error)
    named, known = max(groups, default=0), compile_pattern(parameters["pattern"]).NumberOfCapturingGroups()
    return f"the replacement names group {named}, the pattern has {known}" if named > known else None


def replace_matches(pattern: str, replacement: str, text: Text) -> tuple[Text, NDArray[np.bool_]]:
    """Replace every match in the strings of a pool, and say which could not be.

    Matches do not overlap, and an empty one does not stand right behind another. A string must not grow by more than
    `GROWTH_MAX`; and where matches are so many that looking for them could take long, the rest fails (`STEPS_FREE`).
    """
    whole, parts = compile_pattern(pattern), template(replacement)
    without_groups = all(isinstance(part, bytes) or part == 0 for part in parts)
    if _is_in_lines(pattern, text) and "\n" not in replacement:
        program, longest = _in_lines(pattern, without_groups=without_groups), _longest_at_end(pattern)
        return _replaced_at_ends(program, parts, text, longest) if longest else _replaced_in_lines(program, parts, text)
    left, failed = _steps(whole, text), np.zeros(len(text), np.bool_)
    strings: list[bytes] = []
    for place, string in enumerate(with_checkpoints(_strings(text))):
        result, grown_at, stopped_at, left = _substitute(whole, parts, string, left, has_lines=False)
        strings.append(result)
        failed[place] = bool(grown_at) or stopped_at >= 0
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum([len(string) for string in strings], dtype=np.int64)))
    return Text(offsets, np.frombuffer(b"".join(strings), np.uint8)), failed


def _longest_at_end(pattern: str) -> int:
    """Return the most bytes of a match, where each match ends with its string.

    0 where one may stand elsewhere, or where that is not seen.
    """
    if _AT_THE_END.fullmatch(pattern) is None:
        return 0
    choices = [[0]]  # of each open group the most letters of its choices so far
    for letter in _LETTER.findall(pattern[:-1]):
        if letter == "(":
            choices.append([0])
        elif letter == ")":
            longest = max(choices.pop())
            choices[-1][-1] += longest
        elif letter == "|":
            choices[-1].append(0)
        elif letter != "?":
            choices[-1][-1] += 1
    (whole,) = choices
    return whole[0] if len(whole) == 1 else 0


def _replaced_at_ends(
    program: Any, parts: tuple[bytes | int, ...], text: Text, longest: int
) -> tuple[Text, NDArray[np.bool_]]:
    """Do the same once for each distinct ending: a million names end in a few dozen ways."""
    codes, offsets, data = endings(text.offsets, text.data, longest)
    before = Text(offsets, data)
    after, failed = _replaced_in_lines(program, parts, before)
    grown = np.maximum(np.diff(after.offsets) - np.diff(before.offsets), 0)
    checkpoint(int(grown @ (np.bincount(codes, minlength=len(before)) - 1)))
    replaced = with_endings(text.offsets, text.data, codes, before.offsets, after.offsets, after.data)
    return Text(*replaced), failed[codes]


def _replaced_in_lines(program: Any, parts: tuple[bytes | int, ...], text: Text) -> tuple[Text, NDArray[np.bool_]]:
    failed = np.zeros(len(text), np.bool_)
    data, starts = _lines(text)
    result, grown_at, stopped_at, _ = _substitute(program, parts, data, _steps(program, text), has_lines=True)
    failed[starts.searchsorted(grown_at, side="right") - 1] = True
    if stopped_at >= 0:
        failed[int(starts.searchsorted(stopped_at, side="right")) - 1 :] = True
    return Text(*split_lines(np.frombuffer(result, np.uint8), len(text))), failed


def _steps(program: Any, text: Text) -> int:
    """Return the steps that replacing may take in a pool."""
    return STEPS_FREE + STEPS_PER_BYTE * len(text.data) * int(program.ProgramSize())


def _substitute(
    program: Any, parts: tuple[bytes | int, ...], data: bytes, steps_left: int, *, has_lines: bool
) -> tuple[bytes, list[int], int, int]:
    return substituted(
        program.Match,
        _ANYWHERE,
        data,
        parts,
        has_lines=has_lines,
        growth_max=GROWTH_MAX,
        match_steps=int(program.ProgramSize()),
        steps_left=steps_left,
        ask=checkpoint,
    )


@lru_cache(maxsize=PATTERNS_KEPT)
def _in_lines(pattern: str, *, without_groups: bool) -> Any:
    """Return a pattern with ^ and $ as ends of a line, groups unchanged."""
    return _compile(rf"(?m)(?:{pattern})", without_groups=without_groups)
