"""What a confined child does for readings.

Choose loans of many, and write a long table of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from core.portfolio.model.loan_fields import LoanColumn
from core.portfolio.model.selection import LoanCondition, select
from service.platform.route.api import Raw
from service.readings.schema import WorkbookLoans


class Chosen(Struct, frozen=True):
    """Rows of a portfolio, in order."""

    rows: bytes
    """Numbers of four bytes."""

    def array(self) -> NDArray[np.int32]:
        """Return the rows as an array."""
        return np.frombuffer(self.rows, np.int32)


def choose(
    row_count: int,
    columns: Mapping[str, LoanColumn],
    conditions: Sequence[LoanCondition],
    sort: str | None,
    descending: bool,
) -> Chosen:
    """Return the rows that meet every condition, in the order of a field."""
    return Chosen(select(row_count, columns, conditions, sort, descending=descending).tobytes())


def write(answer: WorkbookLoans, columns: Mapping[str, LoanColumn]) -> Raw:
    """Encode an answer with the values of its columns."""
    values = {name: column.values() for name, column in columns.items()}
    return Raw(msgspec.json.encode(msgspec.structs.replace(answer, columns=values)), "application/json")
