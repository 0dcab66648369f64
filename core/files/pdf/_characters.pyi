import numpy as np
from numpy.typing import NDArray

def read_characters(
    page: int,
    count: int,
    unicode_of: int,
    box_of: int,
    origin_of: int,
    angle_of: int,
    object_of: int,
    unknown_of: int,
    mode_of: int,
) -> tuple[NDArray[np.float64], NDArray[np.uint64]]: ...
