import numpy as np
from numpy.typing import NDArray

def number_severities(
    tape: NDArray[np.float64],
    book: NDArray[np.float64],
    tape_rows: NDArray[np.int32],
    book_rows: NDArray[np.int32],
    tolerance: float,
    whole: bool,
    severity: int,
    above: NDArray[np.float64],
    inclusive: NDArray[np.uint8],
    worse: NDArray[np.uint8],
) -> NDArray[np.uint8]: ...
def state_severities(
    tape: NDArray[np.uint8],
    book: NDArray[np.uint8],
    tape_rows: NDArray[np.int32],
    book_rows: NDArray[np.int32],
    first: int,
    last: int,
    severity: int,
    lesser: int,
) -> NDArray[np.uint8]: ...
def name_severities(
    tape: NDArray[np.int32],
    book: NDArray[np.int32],
    tape_rows: NDArray[np.int32],
    book_rows: NDArray[np.int32],
    tape_same: NDArray[np.int32],
    book_same: NDArray[np.int32],
    tape_alike: NDArray[np.int32],
    book_alike: NDArray[np.int32],
    tape_open: NDArray[np.uint8],
    book_open: NDArray[np.uint8],
    severity: int,
    lesser: int,
) -> NDArray[np.uint8]: ...
def text_differs(
    tape: NDArray[np.int32],
    tape_offsets: NDArray[np.int64],
    tape_data: NDArray[np.uint8],
    book: NDArray[np.int32],
    book_offsets: NDArray[np.int64],
    book_data: NDArray[np.uint8],
    tape_rows: NDArray[np.int32],
    book_rows: NDArray[np.int32],
    with_blanks: bool,
) -> NDArray[np.uint8]: ...
