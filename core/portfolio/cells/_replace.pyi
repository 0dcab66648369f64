from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

def substituted(
    match: Callable[[Any, bytes, int, int], list[tuple[int, int]]],
    anchor: Any,
    data: bytes,
    parts: tuple[bytes | int, ...],
    *,
    has_lines: bool,
    growth_max: int,
    match_steps: int,
    steps_left: int,
    ask: Callable[[int], None],
) -> tuple[bytes, list[int], int, int]: ...
def joined_lines(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> bytes: ...
def split_lines(lines: NDArray[np.uint8], count: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
def endings(
    offsets: NDArray[np.int64], data: NDArray[np.uint8], longest: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]: ...
def with_endings(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    codes: NDArray[np.int32],
    old: NDArray[np.int64],
    new: NDArray[np.int64],
    new_data: NDArray[np.uint8],
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]: ...
