from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column, Text

class Lines:
    def open(self, columns: Sequence[Column | None], height: int) -> None: ...
    def take(self) -> bytes: ...

class CsvLines(Lines):
    guarded: int
    def __init__(self, text: Text, shows: NDArray[np.uint8], date_1904: bool, delimiter: str) -> None: ...

class JsonLines(Lines):
    def __init__(
        self, text: Text, shows: NDArray[np.uint8], date_1904: bool, before_row: bytes, between: bytes
    ) -> None: ...

def guarded(text: str) -> str: ...
