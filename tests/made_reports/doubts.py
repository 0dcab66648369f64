"""Which fields the warnings of a portfolio make doubtful."""

from __future__ import annotations

from core.portfolio import Portfolio
from core.portfolio.model.inputs import ANY, WARNINGS, input_of, inputs_of


class Doubts:
    """Fields and inputs that the warnings of a portfolio name."""

    def __init__(self, portfolio: Portfolio) -> None:
        warnings = [warning for warning in portfolio.notes.warnings if warning.code in WARNINGS]
        self.fields = {name for warning in warnings for name in warning.fields}
        self.inputs = {name for warning in warnings for name in inputs_of(warning)}

    def of(self, name: str) -> bool:
        """Return whether a warning names the field, what it says, or everything."""
        return name in self.fields or input_of(name) in self.inputs or ANY in self.inputs
