from typing import Any, Final, final

from core.formula.ranges.environment import Environment
from core.formula.ranges.index import Groups
from core.formula.values.criteria import Criterion
from core.formula.values.value import Array

ORDER_ROWS_MIN: int
ORDER_AFTER: int
ORDERED_ROWS_MAX: int

@final
class Tally:
    rows: Final[int]
    numbers: Final[int]
    sum: Final[float]
    smallest: Final[float]
    largest: Final[float]
    error: Final[int]

def ranges_many(values: Any, ranges: tuple[Any, ...]) -> tuple[list[Array], Array | None]: ...
def tally_many(environment: Environment, values: Any, pairs: tuple[Any, ...]) -> Tally: ...
def tally(
    environment: Environment,
    ranges: list[Array],
    criteria: list[Criterion],
    values: Array | None = ...,
    uses: int = ...,
) -> Tally: ...
def tally_group(environment: Environment, groups: Groups, range_: Array, values: Array | None, group: int) -> Tally: ...
