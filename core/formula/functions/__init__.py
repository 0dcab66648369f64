"""The catalogue of functions, which `families` fills with their bodies.

Start with `catalogue`: a row has a function's name, category, arguments, description and examples. The body stands in
the module of its family. `core.formula.FUNCTIONS` is the full catalogue.
"""

from core.formula.functions.catalogue import FUNCTIONS, Function

__all__ = ["FUNCTIONS", "Function"]
