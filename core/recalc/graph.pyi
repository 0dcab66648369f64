from collections.abc import Callable

from core.recalc.environment import BookEnvironment
from core.recalc.regions import Read, Region, Shape

Rectangle = tuple[int, int, int, int, int]
Touched = tuple[Region, int, int]

class Graph:
    environment: BookEnvironment
    regions: list[Region | None]
    waiting: list[Region]
    def __init__(
        self,
        environment: BookEnvironment,
        resolve: Callable[[Region], list[Read]],
        prepare: Callable[[Shape, BookEnvironment], None],
        plan: Callable[[Shape, BookEnvironment], None],
        after: Callable[[Region, object], list[Rectangle]],
    ) -> None: ...
    def add(self, region: Region) -> None: ...
    def remove(self, region: Region) -> None: ...
    def reads(self, region: Region) -> list[Read]: ...
    def propagate(self, work: list[Rectangle]) -> None: ...
    def mark_rows(self, region: Region, low: int, high: int, work: list[Rectangle]) -> None: ...
    def forget_indexes(self, rectangles: list[Rectangle]) -> None: ...
    def calculate(self) -> None: ...
    def take(
        self,
    ) -> tuple[list[Touched], list[list[tuple[int, int, int]]], list[tuple[Region, int, str]], list[Rectangle]]: ...
