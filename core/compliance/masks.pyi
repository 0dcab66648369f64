"""Signatures of the sums of masks over the loans."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

PART_ROWS: Final[int]
"""Rows whose sums are added up apart, and then in the order of the parts."""

OPERATIONS: Final[dict[str, int]]
"""What a step does, by its name."""

@final
class Program:
    """Steps over masks, for any columns of its kinds."""

    sums: Final[int]
    """How many sums it makes."""
    kinds: Final[str]
    """Of its columns: d for numbers, i for codes, B for bytes."""

    def __init__(
        self,
        steps: Sequence[tuple[int, int, int, int, tuple[float, float, float, float], bool, bytes | None]],
        kinds: str,
    ) -> None:
        """Take steps: (operation, out, a, b, (low, high, shift, scale), whether to flip, table).

        Raises:
            ValueError: a step reads a column of another kind, a mask that none has written, or has too short a table.
        """

def add_up(
    program: Program,
    columns: Sequence[NDArray[Any]],
    weights: NDArray[np.float64],
    first: int,
    last: int,
    into: NDArray[np.float64],
) -> None:
    """Write the sums of the parts of the rows from `first` to before `last` into their rows of `into`.

    Raises:
        ValueError: a column has other rows or another kind, or a code has no entry in its table.
    """

def has_infinite(numbers: NDArray[np.float64]) -> bool:
    """Return whether a number is infinite."""

def largest(amounts: NDArray[np.float64], count: int) -> list[int]:
    """Return the places of the largest, largest first, of equals the first; NaN is none."""

def joined(parts: NDArray[np.float64]) -> list[float]:
    """Return the sums of all parts, added in their order."""
