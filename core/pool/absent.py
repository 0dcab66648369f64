"""What stands for columns that are nowhere in memory.

Whoever reads one is refused, and its test skipped.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from core.compliance.pool_sums import Unmeasurable

NOT_STREAMED: Final = "the test needs all loans in memory at once, and a pool is read piece by piece"


class NotStreamed(Unmeasurable):
    """A figure that sums over pieces do not give."""

    def __init__(self) -> None:
        super().__init__(NOT_STREAMED)


class AbsentColumn:
    """A column of a pool."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotStreamed

    __array__ = __array_ufunc__ = __getattr__ = __getitem__ = __iter__ = __len__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __or__ = __invert__ = __neg__ = _refuse


class AbsentNames:
    """A column of names of a pool, whose distinct names are known."""

    def __init__(self, values: Any) -> None:
        self.values = values

    @property
    def codes(self) -> NoReturn:
        """Refuse: no row is in memory."""
        raise NotStreamed


class ObligorNames:
    """The obligors of some loans, of which nothing is known without the others."""

    @property
    def codes(self) -> NoReturn:
        """Refuse: an obligor has loans elsewhere."""
        raise NotStreamed

    values = codes
