import numpy as np
from numpy.typing import NDArray

def rounded(number: float) -> float: ...

class Records:
    count: int
    def __init__(
        self,
        kinds: NDArray[np.uint8],
        numbers: NDArray[np.float64],
        codes: NDArray[np.int32],
        formats: NDArray[np.uint16],
        starts: NDArray[np.int32],
        lengths: NDArray[np.int32],
        texts: tuple[NDArray[np.int64], NDArray[np.uint8]],
        formula_rows: NDArray[np.int32],
        formula_codes: NDArray[np.int32],
        formula_flags: NDArray[np.uint8],
        extents: NDArray[np.int32],
        filled: NDArray[np.int32],
        forms: tuple[NDArray[np.int64], NDArray[np.uint8]],
        constants: NDArray[np.int8],
        booleans: NDArray[np.uint8],
    ) -> None: ...
    def chunk(self) -> memoryview | None: ...
    def prints(self, k0: int, k1: int, rows: NDArray[np.int32], found: NDArray[np.uint32]) -> int: ...
