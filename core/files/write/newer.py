"""Functions that are younger than the file format.

A file has them under a prefix, and a person writes them without.
"""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = (
    "ACOT ACOTH AGGREGATE ARABIC ARRAYTOTEXT BASE BETA.DIST BETA.INV BINOM.DIST BINOM.DIST.RANGE BINOM.INV BITAND "
    "BITLSHIFT BITOR BITRSHIFT BITXOR BYCOL BYROW CEILING.MATH CEILING.PRECISE CHISQ.DIST CHISQ.DIST.RT CHISQ.INV "
    "CHISQ.INV.RT CHISQ.TEST CHOOSECOLS CHOOSEROWS COMBINA CONCAT CONFIDENCE.NORM CONFIDENCE.T COT COTH COVARIANCE.P "
    "COVARIANCE.S CSC CSCH DAYS DECIMAL DROP ENCODEURL ERF.PRECISE ERFC.PRECISE EXPAND EXPON.DIST F.DIST F.DIST.RT "
    "F.INV F.INV.RT F.TEST FIELDVALUE FILTER FILTERXML FLOOR.MATH FLOOR.PRECISE FORECAST.ETS FORECAST.ETS.CONFINT "
    "FORECAST.ETS.SEASONALITY FORECAST.ETS.STAT FORECAST.LINEAR FORMULATEXT GAMMA GAMMA.DIST GAMMA.INV "
    "GAMMALN.PRECISE GAUSS GROUPBY HSTACK HYPGEOM.DIST IFNA IFS IMAGE IMCOSH IMCOT IMCSC IMCSCH IMSEC IMSECH IMSINH "
    "IMTAN ISFORMULA ISO.CEILING ISOMITTED ISOWEEKNUM LOGNORM.DIST LOGNORM.INV MAKEARRAY MAP MAXIFS MINIFS MODE.MULT "
    "MODE.SNGL MUNIT NEGBINOM.DIST NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV NUMBERVALUE PDURATION PERCENTILE.EXC "
    "PERCENTILE.INC PERCENTOF PERCENTRANK.EXC PERCENTRANK.INC PERMUTATIONA PHI PIVOTBY POISSON.DIST QUARTILE.EXC "
    "QUARTILE.INC QUERYSTRING RANDARRAY RANK.AVG RANK.EQ REDUCE REGEXEXTRACT REGEXREPLACE REGEXTEST RRI SCAN SEC "
    "SECH SEQUENCE SHEET SHEETS SKEW.P SORT SORTBY STDEV.P STDEV.S STOCKHISTORY SWITCH T.DIST T.DIST.2T T.DIST.RT "
    "T.INV T.INV.2T T.TEST TAKE TEXTAFTER TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW TRIMRANGE UNICHAR UNICODE UNIQUE "
    "VALUETOTEXT VAR.P VAR.S VSTACK WEBSERVICE WEIBULL.DIST WRAPCOLS WRAPROWS XLOOKUP XMATCH XOR Z.TEST"
)

NEWER: Final = frozenset(_NAMES.split())
"""Without LET and LAMBDA, in which a file marks the names of values, too."""

_ON_SHEETS: Final = frozenset(("FILTER", "SORT"))

_WORD: Final = re.compile(
    r"""
      "(?:[^"]|"")*+"?                                                                  # text
    | (?<![\w.\\$!'])(?P<first>(?:(?:'(?:[^']|'')*+'|[^\W\d][\w.]*+)!)?[\w$]++)(?P<colon>\.:\.?|:\.)[ ]*+
      (?P<last>[\w$]++)(?![.(])
    | '(?:[^']|'')*+'
    | (?<![\w.\\])(?P<name>[A-Z][A-Z0-9.]*+)(?=\()
    """,
    re.VERBOSE,
)
_TRIMS: Final = {".:": "_TRO_LEADING", ":.": "_TRO_TRAILING", ".:.": "_TRO_ALL"}
"""The functions in whose form a file has references that are trimmed."""

_TRIM: Final = re.compile(r"""(?:"(?:[^"]|"")*+"?|'(?:[^']|'')*+'|[^"'.:]|\.(?!:)|:(?!\.))*+[.:]""")


def with_prefixes(text: str) -> str:
    """Return a formula as a file has it."""
    return _WORD.sub(_add_prefix, text)


def has_dots(text: str) -> bool:
    """Return whether a reference is trimmed by a dot beside its colon, as no file has it."""
    return (".:" in text or ":." in text) and _TRIM.match(text) is not None


def _add_prefix(word: re.Match[str]) -> str:
    name = word["name"]
    if word["colon"]:
        return f"_xlfn.{_TRIMS[word['colon']]}({word['first']}:{word['last']})"
    if name is None or name not in NEWER:
        return word[0]
    return f"_xlfn._xlws.{name}" if name in _ON_SHEETS else f"_xlfn.{name}"
