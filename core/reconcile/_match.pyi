from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ANY: int
CUSIP: int
LOANX: int
ISIN: int
EMBEDDED: int

def identifier_keys(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], codes: NDArray[np.int32], kind: int
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
def text_hashes(offsets: NDArray[np.int64], data: NDArray[np.uint8], seed: int) -> NDArray[np.uint64]: ...
def fingerprints(
    count: int,
    numbers: Sequence[NDArray[np.float64]],
    texts: Sequence[tuple[NDArray[np.int32], NDArray[np.uint64]]],
    states: Sequence[NDArray[np.uint8]],
    seed: int,
) -> NDArray[np.uint64]: ...
def differing(
    prints: NDArray[np.uint64], other_prints: NDArray[np.uint64], pair: NDArray[np.int32]
) -> NDArray[np.int32]: ...
def join(
    tape_keys: NDArray[np.uint64],
    tape_rows: NDArray[np.int32],
    book_keys: NDArray[np.uint64],
    book_rows: NDArray[np.int32],
    tape_pair: NDArray[np.int32],
    book_pair: NDArray[np.int32],
    seed: int,
) -> tuple[int, tuple[NDArray[np.int64], NDArray[np.int64]], tuple[NDArray[np.int64], NDArray[np.int64]]]: ...
def pair_nearest(
    groups: NDArray[np.int64], par: NDArray[np.float64], is_book: NDArray[np.uint8]
) -> NDArray[np.int64]: ...
