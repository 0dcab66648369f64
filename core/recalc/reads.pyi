from typing import Protocol

from core.formula.language import Node, Structured
from core.recalc.regions import Read, Region

class Range:
    sheet: str | None
    last_sheet: str | None
    fixed: bool
    partly: bool
    def __init__(
        self,
        sheet: str | None,
        last_sheet: str | None,
        top: int,
        top_fixed: bool,
        left: int,
        left_fixed: bool,
        bottom: int,
        bottom_fixed: bool,
        right: int,
        right_fixed: bool,
    ) -> None: ...

class Names(Protocol):
    def meaning(self, sheet: str | None, name: str) -> Node | None: ...
    def table_range(self, node: Structured) -> Range | None: ...

class Reads:
    ranges: list[Range]
    volatile: bool
    external: bool
    placed: bool

def reads_of(tree: Node, names: Names) -> Reads: ...
def resolved(reads: Reads, region: Region, sheet_index: dict[str, int]) -> list[Read]: ...
