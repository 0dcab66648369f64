"""Patterns whose time is linear in the text, whatever stands in it."""

from __future__ import annotations

from typing import Any, Final

import re2  # type: ignore[import-untyped]  # no stubs

_MEMORY_MAX: Final = 64 << 20
"""Bytes that a pattern's automaton may take; letters of all scripts need several of them, and without it is slow."""


def linear(source: str | bytes, *, ignore_case: bool = True) -> Any:
    """Return a pattern as `re.compile` gives one, without look-around and back-references."""
    options = re2.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    options.max_mem = _MEMORY_MAX
    return re2.compile(source, options)
