"""What is compiled: the source of one function and its types."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

NAMES: Final = frozenset(
    {
        *("range", "abs", "float", "int", "min", "max", "floor", "ceil", "sqrt", "nan", "inf", "carray"),
        *("uint8", "int32", "int64", "float64"),
    }
)
"""What a source may use besides its parameters; it imports nothing. `floor` and `ceil` give floats, as NumPy's do."""


class Written(NamedTuple):
    """A loop before it is compiled."""

    source: str
    """The text of one function, `loop`. It allocates nothing and raises nothing."""
    signature: str
    """Its types as Numba writes them, such as `int32(CPointer(float64), int64)`."""


class Recipe(Protocol):
    """What a loop is written from; equal ones are the same loop."""

    def __hash__(self) -> int:
        """Return a hash that equal recipes share."""

    def written(self) -> Written:
        """Return the loop's source."""
