import numpy as np
from numpy.typing import NDArray

def shapes(
    texts: list[str], rows: NDArray[np.int32], columns: NDArray[np.int32]
) -> tuple[NDArray[np.int32], list[int]]: ...
def anchored_shapes(
    texts: list[str],
) -> tuple[NDArray[np.int32], list[int], NDArray[np.int32], NDArray[np.int32]]: ...
