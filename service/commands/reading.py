"""Files and words that the user of a command names, read or refused in one line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.grid.sheet import Workbook


def read_workbook(file: Path) -> Workbook:
    """The workbook in a file, which is parsed in a confined child: whatever it holds, this process goes on.

    Raises:
        Refused: it cannot be opened, or is no spreadsheet within the limits.
    """
    from core.files.errors import FileRefused
    from core.files.isolate import read_isolated

    try:
        return read_isolated(file)
    except FileRefused as refused:
        raise Refused(f"{file}: {refused.message}: {refused.hint}") from refused
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from error


def words(given: tuple[str, ...]) -> list[str]:
    """Each word once, in the order given: options come separated by spaces, by commas, or repeated."""
    return list(dict.fromkeys(word for option in given for word in option.split(",") if word))
