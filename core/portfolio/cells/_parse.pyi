from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

PERCENT: Final = 1
BASIS_POINTS: Final = 2
UNREADABLE: Final = 4
THOUSANDS_COMMA: Final = 8
THOUSANDS_DOT: Final = 16
DECIMAL_COMMA: Final = 32
DECIMAL_POINT: Final = 64

OTHER: Final = 0
CUSIP: Final = 1
LOANX: Final = 2
ISIN: Final = 3
SHORT_CUSIP: Final = 4
DESTROYED: Final = 5

Pool = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]

def kinds_seen(kinds: NDArray[np.uint8]) -> int: ...
def distinct(codes: NDArray[np.int32], pool_size: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def spread(table: NDArray[Any], codes: NDArray[np.int32], into: NDArray[Any]) -> None: ...
def clean(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], used: NDArray[np.int32], upper: bool, is_distinct: bool
) -> Pool: ...
def numbers(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    used: NDArray[np.int32],
    is_spread: bool,
    decimal_comma: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]: ...
def may_mark(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> NDArray[np.int64]: ...
def may_have_marks(offsets: NDArray[np.int64], data: NDArray[np.uint8], has_wide: bool) -> NDArray[np.int64]: ...
def name_keys(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> Pool: ...
def identifier_kinds(offsets: NDArray[np.int64], data: NDArray[np.uint8], cusip_first: bool) -> NDArray[np.uint8]: ...
def letters_and_digits(
    offsets: NDArray[np.int64], data: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
