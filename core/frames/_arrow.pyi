from typing import Any

import numpy as np
from numpy.typing import NDArray

_Column = tuple[bytes, bytes, int, tuple[NDArray[Any] | None, ...]]

def stream_of(columns: list[_Column], length: int, metadata: bytes | None) -> object: ...
def schema_of(columns: list[_Column], metadata: bytes | None) -> object: ...
def gathered(
    codes: NDArray[np.int32], offsets: NDArray[np.int64], data: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
