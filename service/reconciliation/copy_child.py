"""Issues as a file that PostgreSQL's COPY reads in its text format.

One line each, tabs between the columns.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

from core.reconciliation.issues import COLUMNS, ROW_COLUMNS, Issues

COPIED: Final = (*COLUMNS, *ROW_COLUMNS)
"""The columns of the file, in order."""

CHUNK: Final = 20_000
"""Issues that are text at a time."""

VALUE_CHARACTERS: Final = 1_000
"""Of one stored text; what a stranger's cell holds beyond that is cut."""

KEY_BYTES: Final = 500
"""UTF-8 bytes of a loan's key; an entry of an index has room for about 2,700."""

_SPECIAL: Final = re.compile(r"[\x00\\\t\n\r]")
_ESCAPED: Final = str.maketrans({"\x00": None, "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write_issues(issues: Issues, path: Path) -> None:
    """Write issues with the columns `COPIED`, in their order; no column is null.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for start in range(0, len(issues), CHUNK):
            chunk = issues.chunk(start, start + CHUNK)
            rows = issues.sheet_rows(start, start + CHUNK)
            columns = [*(_column(name, chunk[name]) for name in COLUMNS), *rows.values()]
            file.writelines("\t".join(line) + "\n" for line in zip(*columns, strict=True))


def _column(name: str, texts: list[str]) -> list[str]:
    """Return one column's texts, bounded and escaped."""
    is_special = _SPECIAL.search("\x1f".join(texts)) is not None
    if is_special or max(map(len, texts), default=0) > KEY_BYTES // 4:
        bounded = _key if name == "loan_key" else _value
        texts = [bounded(text) for text in texts]
    return [text.translate(_ESCAPED) for text in texts] if is_special else texts


def _value(text: str) -> str:
    return text if len(text) <= VALUE_CHARACTERS else text[: VALUE_CHARACTERS - 3] + "..."


def _key(text: str) -> str:
    """Return a key that stays distinct where it is cut or cleaned."""
    encoded = text.encode()
    if len(encoded) <= KEY_BYTES and "\x00" not in text:
        return text
    return f"{text[:50]}#{hashlib.sha256(encoded).hexdigest()}"
