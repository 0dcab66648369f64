"""Regular expressions: REGEXTEST, REGEXEXTRACT, REGEXREPLACE."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from core.formula.functions.catalogue import Argument, Takes, function
from core.formula.functions.text.text import bounded
from core.formula.ranges.environment import Environment
from core.formula.values.value import NA, VALUE, Array, Failure

if TYPE_CHECKING:
    import regex

PATTERN_MAX: Final = 2_048
"""Characters of a pattern; a longer one is #VALUE!."""

SECONDS_MAX: Final = 0.25
"""Time for the matches of one call (measured: up to three times as long passes before `regex` looks at the clock). A
pattern that backtracks without end gives #VALUE!, as one that is too complex does in Excel."""

_REPLACED: Final = re.compile(r"\$(?:\$|([0-9]{1,2})|\{([0-9]{1,2})\}|\{?([A-Za-z_][A-Za-z0-9_]{0,31})\}?)|\\([\\$])")

_TEXT: Final = Argument("text", Takes.TEXT, "The text.")
_PATTERN: Final = Argument("pattern", Takes.TEXT, "The regular expression.")
_CASE: Final = Argument("case_sensitivity", Takes.INTEGER, "1 disregards case.", required=False, empty=0)


@lru_cache(maxsize=256)
def _compiled(pattern: str, any_case: int) -> regex.Pattern[str]:
    """Return a pattern ready for use. Raises Failure(VALUE) where it is none."""
    import regex  # 19 ms: for those formulas only that need it

    if len(pattern) > PATTERN_MAX or any_case not in (0, 1):
        raise Failure(VALUE)
    # PCRE2 takes \h for blank and tab, \Q...\E for text as it is, and a bracket inside a class as itself.
    pattern = re.sub(r"\\Q(.*?)(?:\\E|$)", lambda match: re.escape(match[1]), pattern, flags=re.DOTALL)
    pattern = re.sub(r"(?<!\\)((?:\\\\)*)\\h", r"\1[ \\t\\u00a0]", pattern)
    try:
        return regex.compile(pattern, (regex.IGNORECASE if any_case else 0) | regex.VERSION0)
    except (regex.error, ValueError, OverflowError, RecursionError, IndexError) as error:
        raise Failure(VALUE) from error


def _matches(environment: Environment, text: str, pattern: regex.Pattern[str], most: int) -> list[regex.Match[str]]:
    """Return the first matches, up to `most`, from left to right."""
    environment.spend(len(text))
    matches: list[regex.Match[str]] = []
    try:
        for match in pattern.finditer(text, timeout=SECONDS_MAX, concurrent=True):
            matches.append(match)
            if len(matches) >= most:
                break
    except TimeoutError as error:
        raise Failure(VALUE) from error
    return matches


def has_match(environment: Environment, text: str, pattern: str, any_case: int = 0) -> bool:
    """Return whether a part of a text fits a regular expression.

    Raises Failure(VALUE) where it is none, or takes too long.
    """
    return bool(_matches(environment, text, _compiled(pattern, any_case), 1))


@function(
    "REGEXTEST", "text", "Tells whether a part of a text fits a regular expression.", _TEXT, _PATTERN, _CASE,
    environment=True,
    examples=(('=REGEXTEST("alfalfa","[a-z]+")', True), ('=REGEXTEST("alfalfa","[0-9]")', False)),
)  # fmt: skip
def regextest(environment: Environment, text: str, pattern: str, any_case: int = 0) -> bool:
    return has_match(environment, text, pattern, any_case)


@function(
    "REGEXEXTRACT", "text", "Gives the parts of a text that fit a regular expression.", _TEXT, _PATTERN,
    Argument("return_mode", Takes.INTEGER, "0 the first match, 1 all, 2 its groups.", required=False, empty=0),
    _CASE,
    environment=True,
    examples=(('=REGEXEXTRACT("DylanWilliams","[A-Z][a-z]+")', "Dylan"), ('=REGEXEXTRACT("abc","[0-9]")', NA)),
)  # fmt: skip
def regexextract(environment: Environment, text: str, pattern: str, mode: int = 0, any_case: int = 0) -> Any:
    if mode not in (0, 1, 2):
        raise Failure(VALUE)
    matches = _matches(environment, text, _compiled(pattern, any_case), len(text) + 1 if mode == 1 else 1)
    if not matches:
        raise Failure(NA)
    if mode == 0:
        return matches[0][0]
    parts = (
        [match[0] for match in matches]
        if mode == 1
        else [part or "" for part in matches[0].groups()] or [matches[0][0]]
    )
    environment.spend(len(parts))
    return Array(1, len(parts), parts)


@function(
    "REGEXREPLACE", "text", "Puts a new text in the place of what fits a regular expression.", _TEXT, _PATTERN,
    Argument("replacement", Takes.TEXT, "What to put there; $1 is the first group."),
    Argument("occurrence", Takes.INTEGER, "Which match; 0 all, negative counts from the end.", required=False, empty=0),
    _CASE,
    environment=True,
    examples=(
        ('=REGEXREPLACE("SoniaBrown","([A-Z][a-z]+)([A-Z][a-z]+)","$2, $1")', "Brown, Sonia"),
        ('=REGEXREPLACE("378-555-4195","[0-9]+-","***-")', "***-***-4195"),
    ),
)  # fmt: skip
def regexreplace(
    environment: Environment, text: str, pattern: str, replacement: str, occurrence: int = 0, any_case: int = 0
) -> str:
    matches = _matches(environment, text, _compiled(pattern, any_case), len(text) + 1)
    if occurrence:
        place = occurrence - 1 if occurrence > 0 else occurrence
        matches = [matches[place]] if -len(matches) <= place < len(matches) else []
    parts: list[str] = []
    size = at = 0
    for match in matches:
        parts += [text[at : match.start()], _expanded(match, replacement)]
        size += len(parts[-1])
        at = match.end()
        if size > len(text) + 32_767:
            raise Failure(VALUE)
    return bounded("".join((*parts, text[at:])))


def _expanded(match: regex.Match[str], replacement: str) -> str:
    """Return a replacement with the groups of a match in place of $1, ${1} and ${name}; Failure(VALUE) for no such
    group."""

    def part(mark: re.Match[str]) -> str:
        number, braced, name, escaped = mark.groups()
        if escaped or mark[0] == "$$":
            return escaped or "$"
        try:
            return match[name if name else int(number or braced)] or ""
        except IndexError as error:
            raise Failure(VALUE) from error

    return _REPLACED.sub(part, replacement)
