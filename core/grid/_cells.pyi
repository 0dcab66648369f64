import numpy as np
from numpy.typing import NDArray

def is_zero(content: NDArray[np.uint8]) -> bool: ...
def are_cells(
    kinds: NDArray[np.uint8],
    numbers: NDArray[np.float64],
    codes: NDArray[np.int32],
    kind_max: int,
    texts: int,
    errors: int,
) -> bool: ...
def mark(used: NDArray[np.uint8], codes: NDArray[np.int32]) -> None: ...
