"""The currencies that the euro replaced, converted by their fixed rates."""

from __future__ import annotations

import math
from typing import Any, Final

from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.functions.describe import logical, number
from core.formula.ranges.reduce import round_half_away
from core.formula.values.value import VALUE, Failure

_EURO: Final = "EUR"
CURRENCIES: Final[dict[str, tuple[float, int]]] = {
    _EURO: (1.0, 2), "ATS": (13.7603, 2), "BEF": (40.3399, 0), "DEM": (1.95583, 2), "ESP": (166.386, 0),
    "FIM": (5.94573, 2), "FRF": (6.55957, 2), "GRD": (340.750, 0), "IEP": (0.787564, 2), "ITL": (1936.27, 0),
    "LUF": (40.3399, 0), "NLG": (2.20371, 2), "PTE": (200.482, 0), "SIT": (239.640, 2),
}  # fmt: skip
"""Units to a euro, fixed by the Council of the European Union, and the decimals that EUROCONVERT rounds to: those of
Excel's help, whose older editions give the escudo one."""


def _significant(value: float, digits: int) -> float:
    """Return a number to so many significant digits."""
    if value == 0:
        return 0.0
    return round_half_away(value, digits - 1 - math.floor(math.log10(abs(value))))


@function(
    "EUROCONVERT", "financial", "Converts between the euro and the currencies that it replaced.",
    number("number", "The amount."),
    Argument("source", Takes.TEXT, "Its currency: EUR or one that the euro replaced until 2007, as DEM."),
    Argument("target", Takes.TEXT, "The currency to convert to."),
    logical("full_precision", "TRUE: the result is not rounded to the currency's decimals.", optional=True),
    number("triangulation_precision", "Significant digits, 3 or more, of the amount in euros between.",
           optional=True, empty=OMITTED),
    examples=(('=EUROCONVERT(1.2,"DEM","EUR")', 0.61), ('=EUROCONVERT(1,"FRF","EUR",TRUE,3)', 0.152),
              ('=ROUND(EUROCONVERT(1,"FRF","DEM",TRUE,3),8)', 0.29728616), ('=EUROCONVERT(1,"USD","EUR")', VALUE)),
)  # fmt: skip
def euroconvert(amount: float, source: str, target: str, full: bool = False, precision: Any = OMITTED) -> float:
    source, target = source.upper(), target.upper()
    if source not in CURRENCIES or target not in CURRENCIES or (precision is not OMITTED and precision < 3):
        raise Failure(VALUE)
    if source == target:
        return amount
    euros = amount / CURRENCIES[source][0]
    if precision is not OMITTED:
        euros = _significant(euros, int(min(precision, 300.0)))
    rate, decimals = CURRENCIES[target]
    converted = euros * rate
    return converted if full else round_half_away(converted, decimals)
