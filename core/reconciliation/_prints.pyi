from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

def fingerprints(
    count: int,
    numbers: Sequence[NDArray[np.float64]],
    texts: Sequence[tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]],
    states: Sequence[NDArray[np.uint8]],
    seed: int,
) -> NDArray[np.uint64]: ...
def differing(
    prints: NDArray[np.uint64], other_prints: NDArray[np.uint64], pair: NDArray[np.int32], first: int, last: int
) -> NDArray[np.int32]: ...
