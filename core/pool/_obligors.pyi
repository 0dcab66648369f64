"""Signatures of the table of obligors."""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

_Offsets = NDArray[np.int64]
_Bytes = NDArray[np.uint8]

class TooManyObligors(Exception):
    """The table has met more names than it may."""

@disjoint_base
class Obligors:
    """What the loans of each obligor add up to. Not for two threads at once."""

    count: int
    limit: int
    blank_par: float
    """Par without an obligor."""
    blank_rows: int
    def __new__(cls, limit: int) -> Obligors: ...
    def __len__(self) -> int: ...
    def meet(self, offsets: _Offsets, data: _Bytes) -> NDArray[np.int32]: ...
    def add(
        self,
        codes: NDArray[np.int32],
        weights: NDArray[np.float64],
        industries: NDArray[np.int32] | None,
        order: NDArray[np.int32] | None,
    ) -> None: ...
    def add_table(
        self, later: Obligors, industries: NDArray[np.int32] | None, order: NDArray[np.int32] | None
    ) -> None: ...
    def names(self) -> tuple[_Offsets, _Bytes]: ...
    def sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...

def appearing(codes: NDArray[np.int32], count: int) -> NDArray[np.int32]: ...
