from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

def intern(values: Sequence[str | None]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]: ...
