from collections.abc import Callable
from typing import Any

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
