"""Signatures of the compiled verdict on a figure."""

from typing import Final, final

from typing_extensions import disjoint_base

from core.compliance.limits import ResolvedThreshold
from core.compliance.pool_sums import Measurement
from core.compliance.result import Maker, Status, TestResult
from core.compliance.suites import Test

def judge(value: float, limit: ResolvedThreshold, decimals: int | None) -> tuple[float, Status]:
    """(cushion, status) of a figure, rounded half away from zero before it is compared where the deal says so."""

def rounded_half_away(value: float, decimals: float) -> float:
    """Return the figure as it is printed.

    Halves go away from zero, what is one but for the rounding of a double too.
    """

def cushion_of(value: float, limit: ResolvedThreshold) -> float:
    """Return the headroom of a figure, in its unit; negative is a breach."""

def status_of(value: float, cushion: float, limit: ResolvedThreshold) -> Status:
    """Fail below a cushion of zero, warning within the warning band, else pass.

    Full precision but for `core.compliance.coverage.TOLERANCE`.
    """

@final
@disjoint_base
class Verdicts:
    """The results of a run's tests, in the order in which they were added."""

    results: Final[list[TestResult]]
    cushions: Final[dict[str, float]]
    """By test id, in full precision."""
    exact: Final[dict[str, tuple[float, float]]]
    """By test id the figure, not rounded, and what it is divided by."""

    def __init__(self, maker: Maker, has_cushion: bool) -> None:
        """Args:
        maker: makes the fields of the results that are no figures of their comparison, when they are read.
        has_cushion: whether the results show their cushions.
        """

    def add(
        self,
        test: Test,
        measured: Measurement,
        limit: ResolvedThreshold,
        decimals: int | None,
        low: float | None,
        high: float | None,
    ) -> Status:
        """Add the result of a test, and return its status; see `judge`."""
