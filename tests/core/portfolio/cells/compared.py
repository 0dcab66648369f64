"""Numbers compared with those that are expected, NaN equal to NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

NAN = math.nan


def same(values: Any, expected: list[float]) -> bool:
    return bool(np.array_equal(np.asarray(values, float), np.array(expected, float), equal_nan=True))
