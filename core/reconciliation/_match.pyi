import numpy as np
from numpy.typing import NDArray

ANY: int
CUSIP: int
LOANX: int
ISIN: int
EMBEDDED: int

def identifier_keys(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    codes: NDArray[np.int32],
    kind: int,
    keys: NDArray[np.uint64] | None = None,
) -> NDArray[np.uint64]: ...
def shared_codes(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    codes: NDArray[np.int32],
    other_offsets: NDArray[np.int64],
    other_data: NDArray[np.uint8],
    other_codes: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def folded(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
def parts_of(count: int) -> int: ...

class Parts:
    @property
    def count(self) -> int: ...
    def __init__(
        self, keys: NDArray[np.uint64], rows: NDArray[np.int32], row_count: int, count: int, seed: int
    ) -> None: ...

def join(
    tape: Parts, book: Parts, first: int, last: int, tape_pair: NDArray[np.int32], book_pair: NDArray[np.int32]
) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]], tuple[NDArray[np.int64], NDArray[np.int64]]]: ...
def unpaired(rows: NDArray[np.int32], pair: NDArray[np.int32]) -> NDArray[np.int32]: ...
def paired(pair: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def pair_nearest(
    groups: NDArray[np.int64], par: NDArray[np.float64], is_book: NDArray[np.uint8]
) -> NDArray[np.int64]: ...
