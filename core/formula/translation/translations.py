"""What each function becomes in Python and NumPy source.

Rows of templates, and the helpers that they call.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ScalarSource(NamedTuple):
    """A function of single values.

    In a template {0} is the first argument, {0:p} the same in parentheses where it needs them, {0:i} the same as an
    int, {0:t} as a text; each argument stands once, so that nested calls stay short.
    """

    python: str
    numpy: str = ""
    """Empty: the Python one, which is then lifted over arrays by np.vectorize."""
    least: int = 1
    defaults: tuple[str, ...] = ()
    """Sources of the optional arguments that were left out."""


class AggregateSource(NamedTuple):
    """A function of all numbers in its arguments."""

    python: str
    """{0} is a list of numbers."""
    numpy: str
    """{0} is an array; NaN is blank."""
    pandas: str = ""
    """A method of a Series; empty where it has none."""


IMPORTS: Final = {
    "math": "import math",
    "calendar": "import calendar",
    "random": "import random",
    "re": "import re",
    "statistics": "import statistics",
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "date": "from datetime import date, datetime, timedelta",
    "Decimal": "from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, ROUND_UP, Decimal",
}
"""Import lines by the word in a source that needs them."""

SCALARS: Final = {
    # math
    "ABS": ScalarSource("abs({0})", "np.abs({0})"),
    "SQRT": ScalarSource("math.sqrt({0})", "np.sqrt({0})"),
    "EXP": ScalarSource("math.exp({0})", "np.exp({0})"),
    "LN": ScalarSource("math.log({0})", "np.log({0})"),
    "LOG10": ScalarSource("math.log10({0})", "np.log10({0})"),
    "LOG": ScalarSource("math.log({0}, {1})", "(np.log({0}) / np.log({1}))", 1, ("10",)),
    "SIN": ScalarSource("math.sin({0})", "np.sin({0})"),
    "COS": ScalarSource("math.cos({0})", "np.cos({0})"),
    "TAN": ScalarSource("math.tan({0})", "np.tan({0})"),
    "ASIN": ScalarSource("math.asin({0})", "np.arcsin({0})"),
    "ACOS": ScalarSource("math.acos({0})", "np.arccos({0})"),
    "ATAN": ScalarSource("math.atan({0})", "np.arctan({0})"),
    "ATAN2": ScalarSource("math.atan2({1}, {0})", "np.arctan2({1}, {0})", 2),
    "SINH": ScalarSource("math.sinh({0})", "np.sinh({0})"),
    "COSH": ScalarSource("math.cosh({0})", "np.cosh({0})"),
    "TANH": ScalarSource("math.tanh({0})", "np.tanh({0})"),
    "RADIANS": ScalarSource("math.radians({0})", "np.radians({0})"),
    "DEGREES": ScalarSource("math.degrees({0})", "np.degrees({0})"),
    "PI": ScalarSource("math.pi", "np.pi", 0),
    "INT": ScalarSource("math.floor({0})", "np.floor({0})"),
    "SIGN": ScalarSource("sign({0})", "np.sign({0})"),
    "MOD": ScalarSource("({0:p} % {1:p})", "", 2),
    "POWER": ScalarSource("({0:p} ** {1:p})", "", 2),
    "QUOTIENT": ScalarSource("math.trunc({0:p} / {1:p})", "np.trunc({0:p} / {1:p})", 2),
    "ROUND": ScalarSource("rounded({0}, {1}, ROUND_HALF_UP)", "", 2),
    "ROUNDUP": ScalarSource("rounded({0}, {1}, ROUND_UP)", "", 2),
    "ROUNDDOWN": ScalarSource("rounded({0}, {1}, ROUND_DOWN)", "", 2),
    "TRUNC": ScalarSource("rounded({0}, {1}, ROUND_DOWN)", "", 1, ("0",)),
    "CEILING": ScalarSource("multiple({0}, {1}, ROUND_CEILING)", "", 2),
    "FLOOR": ScalarSource("multiple({0}, {1}, ROUND_FLOOR)", "", 2),
    "MROUND": ScalarSource("nearest_multiple({0}, {1})", "", 2),
    "FACT": ScalarSource("math.factorial({0:i})"),
    "COMBIN": ScalarSource("math.comb({0:i}, {1:i})", "", 2),
    "PERMUT": ScalarSource("math.perm({0:i}, {1:i})", "", 2),
    "RAND": ScalarSource("random.random()", "np.random.random()", 0),
    "RANDBETWEEN": ScalarSource("random.randint({0}, {1})", "np.random.randint({0}, {1:p} + 1)", 2),
    "ISEVEN": ScalarSource("({0:i} % 2 == 0)"),
    "ISODD": ScalarSource("({0:i} % 2 == 1)"),
    # logical and information
    "NOT": ScalarSource("(not {0:p})", "np.logical_not({0})"),
    "TRUE": ScalarSource("True", "", 0),
    "FALSE": ScalarSource("False", "", 0),
    "ISNUMBER": ScalarSource("is_number({0})"),
    "ISTEXT": ScalarSource("isinstance({0}, str)"),
    "ISLOGICAL": ScalarSource("isinstance({0}, bool)", "isinstance({0}, bool | np.bool_)"),
    "ISBLANK": ScalarSource("is_blank({0})"),
    # text
    "LEFT": ScalarSource("{0:t}[:{1:i}]", "", 1, ("1",)),
    "RIGHT": ScalarSource("right({0:t}, {1:i})", "", 1, ("1",)),
    "MID": ScalarSource("middle({0:t}, {1:i}, {2:i})", "", 3),
    "LEN": ScalarSource("len(text({0}))"),
    "TRIM": ScalarSource("' '.join({0:t}.split())"),
    "UPPER": ScalarSource("{0:t}.upper()"),
    "LOWER": ScalarSource("{0:t}.lower()"),
    "PROPER": ScalarSource("{0:t}.title()"),
    "REPT": ScalarSource("({0:t} * {1:i})", "", 2),
    "EXACT": ScalarSource("({0:t} == {1:t})", "", 2),
    "FIND": ScalarSource("({1:t}.index({0:t}, {2:i} - 1) + 1)", "", 2, ("1",)),
    "SEARCH": ScalarSource("({1:t}.casefold().index({0:t}.casefold(), {2:i} - 1) + 1)", "", 2, ("1",)),
    "REPLACE": ScalarSource("replaced({0:t}, {1:i}, {2:i}, {3:t})", "", 4),
    "CHAR": ScalarSource("bytes([{0:i}]).decode('cp1252')"),
    "CODE": ScalarSource("{0:t}.encode('cp1252')[0]"),
    "UNICHAR": ScalarSource("chr({0:i})"),
    "UNICODE": ScalarSource("ord({0:t}[0])"),
    "VALUE": ScalarSource("float({0})"),
    # dates
    "DATE": ScalarSource("serial({0:i}, {1:i}, {2:i})", "", 3),
    "TODAY": ScalarSource("(date.today() - date(1899, 12, 30)).days", "", 0),
    "NOW": ScalarSource("((datetime.now() - datetime(1899, 12, 30)) / timedelta(days=1))", "", 0),
    "YEAR": ScalarSource("day({0}).year"),
    "MONTH": ScalarSource("day({0}).month"),
    "DAY": ScalarSource("day({0}).day"),
    "HOUR": ScalarSource("(round({0:p} * 86400) // 3600 % 24)"),
    "MINUTE": ScalarSource("(round({0:p} * 86400) // 60 % 60)"),
    "SECOND": ScalarSource("(round({0:p} * 86400) % 60)"),
    "TIME": ScalarSource("(({0:p} * 3600 + {1:p} * 60 + {2:p}) / 86400 % 1)", "", 3),
    "DAYS": ScalarSource("({0:i} - {1:i})", "", 2),
    "EDATE": ScalarSource("months_later({0}, {1:i})", "", 2),
    "EOMONTH": ScalarSource("month_end({0}, {1:i})", "", 2),
    "DATEDIF": ScalarSource("date_difference({0}, {1}, {2})", "", 3),
    # financial
    "PMT": ScalarSource("payment({0}, {1}, {2}, {3}, {4})", "", 3, ("0", "0")),
    "PV": ScalarSource("present_value({0}, {1}, {2}, {3}, {4})", "", 3, ("0", "0")),
    "FV": ScalarSource("future_value({0}, {1}, {2}, {3}, {4})", "", 3, ("0", "0")),
    "NPER": ScalarSource("periods({0}, {1}, {2}, {3}, {4})", "", 3, ("0", "0")),
    "EFFECT": ScalarSource("effective({0}, {1:i})", "", 2),
    "SLN": ScalarSource("(({0:p} - {1:p}) / {2:p})", "", 3),
}  # fmt: skip

AGGREGATES: Final = {
    "SUM": AggregateSource("sum({0})", "np.nansum({0})", "sum()"),
    "PRODUCT": AggregateSource("math.prod({0})", "np.nanprod({0})", "prod()"),
    "SUMSQ": AggregateSource("sum(x * x for x in {0})", "np.nansum(np.square({0}))"),
    "AVERAGE": AggregateSource("statistics.fmean({0})", "np.nanmean({0})", "mean()"),
    "MIN": AggregateSource("min({0}, default=0)", "np.nanmin({0})", "min()"),
    "MAX": AggregateSource("max({0}, default=0)", "np.nanmax({0})", "max()"),
    "MEDIAN": AggregateSource("statistics.median({0})", "np.nanmedian({0})", "median()"),
    "COUNT": AggregateSource("len({0})", "np.count_nonzero(~np.isnan({0}))", "count()"),
    "STDEV": AggregateSource("statistics.stdev({0})", "np.nanstd({0}, ddof=1)", "std()"),
    "STDEV.S": AggregateSource("statistics.stdev({0})", "np.nanstd({0}, ddof=1)", "std()"),
    "STDEVP": AggregateSource("statistics.pstdev({0})", "np.nanstd({0})", "std(ddof=0)"),
    "STDEV.P": AggregateSource("statistics.pstdev({0})", "np.nanstd({0})", "std(ddof=0)"),
    "VAR": AggregateSource("statistics.variance({0})", "np.nanvar({0}, ddof=1)", "var()"),
    "VAR.S": AggregateSource("statistics.variance({0})", "np.nanvar({0}, ddof=1)", "var()"),
    "VARP": AggregateSource("statistics.pvariance({0})", "np.nanvar({0})", "var(ddof=0)"),
    "VAR.P": AggregateSource("statistics.pvariance({0})", "np.nanvar({0})", "var(ddof=0)"),
    "GEOMEAN": AggregateSource("statistics.geometric_mean({0})", "np.exp(np.nanmean(np.log({0})))"),
    "HARMEAN": AggregateSource("statistics.harmonic_mean({0})", "(1 / np.nanmean(1 / np.asarray({0})))"),
    "GCD": AggregateSource("math.gcd(*map(int, {0}))", "np.gcd.reduce(np.asarray({0}).astype(int))"),
    "LCM": AggregateSource("math.lcm(*map(int, {0}))", "np.lcm.reduce(np.asarray({0}).astype(int))"),
}

HELPERS: Final = {
    "is_blank": """\
def is_blank(value):
    return value is None or value != value
""",
    "is_number": """\
def is_number(value):
    return hasattr(value, "__float__") and not isinstance(value, str) and str(value) not in ("True", "False", "nan")
""",
    "flat": '''\
def flat(*values):
    """All values inside nested lists and arrays."""
    for value in values:
        if hasattr(value, "__iter__") and not isinstance(value, str):
            yield from flat(*value)
        else:
            yield value
''',
    "numbers": '''\
def numbers(*values):
    """The numbers among the values: blanks, text and booleans are left out."""
    return [value for value in flat(*values) if is_number(value)]
''',
    "each": '''\
def each(function, *operands):
    """A function applied element by element; single values stretch."""
    lengths = [len(operand) for operand in operands if isinstance(operand, list)]
    if not lengths:
        return function(*operands)
    rows = [operand if isinstance(operand, list) else [operand] * lengths[0] for operand in operands]
    return [each(function, *row) for row in zip(*rows, strict=True)]
''',
    "text": '''\
def text(value):
    """A value as a cell shows it: 3.0 is 3, True is TRUE, a blank is empty."""
    if isinstance(value, str):
        return value
    if is_blank(value):
        return ""
    if not is_number(value):
        return str(value).upper()
    return format(float(value), ".15g").replace("e", "E")
''',
    "same": '''\
def same(first, second):
    """Equality without regard to case."""
    if isinstance(first, str) and isinstance(second, str):
        return first.casefold() == second.casefold()
    return bool(first == second)
''',
    "meets": '''\
def meets(value, criterion):
    """Whether a value meets a criterion such as 5, ">5", "<>x" or "a*"."""
    sign, word = re.fullmatch(r"(<=|>=|<>|<|>|=|)(.*)", text(criterion), re.DOTALL).groups()
    try:
        wanted = float(word)
    except ValueError:
        wanted = word
    if isinstance(wanted, str) and sign in ("", "=", "<>"):
        if not wanted:
            found = is_blank(value) or (value == "" and sign == "")
        else:
            pattern = re.sub(r"\\\\\\*", ".*", re.sub(r"\\\\\\?", ".", re.escape(wanted)))
            found = isinstance(value, str) and re.fullmatch(pattern, value, re.IGNORECASE | re.DOTALL) is not None
        return found != (sign == "<>")
    if is_number(value) != is_number(wanted) or is_blank(value):
        return sign == "<>"
    if isinstance(wanted, str):
        value, wanted = value.casefold(), wanted.casefold()
    return bool({
        "": value == wanted, "=": value == wanted, "<>": value != wanted,
        "<": value < wanted, ">": value > wanted, "<=": value <= wanted, ">=": value >= wanted,
    }[sign])
''',
    "rounded": '''\
def rounded(number, digits, way):
    """A number rounded in decimal, as it is written with 15 digits."""
    return float(Decimal(format(number, ".15g")).quantize(Decimal(1).scaleb(-int(digits)), way))
''',
    "multiple": '''\
def multiple(number, step, way):
    """A number rounded to a multiple of a step."""
    if not step:
        return 0.0
    count = Decimal(format(number / step, ".15g")).to_integral_value(way)
    return float(count * Decimal(format(step, ".15g")))
''',
    "nearest_multiple": '''\
def nearest_multiple(number, step):
    """The nearest multiple of a step; what spells a half with 15 digits is rounded up."""
    if not step:
        return 0.0
    whole = math.floor(number / step)
    return (whole + (number / step - whole >= 0.4999999999999995)) * step
''',
    "trimmed": '''\
def trimmed(values, sides):
    """Values without the blank ones at an end: sides 1 for the first, 2 for the last, 3 for both."""
    filled = [at for at, value in enumerate(values) if not all(is_blank(x) for x in flat(value))]
    return values[filled[0] if sides & 1 else 0 : filled[-1] + 1 if sides & 2 else len(values)]
''',
    "sign": """\
def sign(number):
    return (number > 0) - (number < 0)
""",
    "right": """\
def right(word, count):
    return word[max(len(word) - count, 0):]
""",
    "middle": """\
def middle(word, start, count):
    return word[start - 1:start - 1 + count]
""",
    "replaced": """\
def replaced(word, start, count, new):
    return word[:start - 1] + new + word[start - 1 + count:]
""",
    "substituted": '''\
def substituted(word, old, new, place):
    """A text with only the occurrence at a place, counted from 1, replaced."""
    parts = word.split(old)
    if not old or len(parts) <= place:
        return word
    return old.join(parts[:place]) + new + old.join(parts[place:])
''',
    "serial": '''\
def serial(year, month, day):
    """A date as a serial number; a month or a day past its end runs on."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return (date(year, month, 1) - date(1899, 12, 30)).days + day - 1
''',
    "day": '''\
def day(serial):
    """The date of a serial number after February 1900."""
    return date(1899, 12, 30) + timedelta(days=int(serial))
''',
    "months_later": """\
def months_later(start, months):
    first = day(start)
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    return serial(year, month + 1, min(first.day, calendar.monthrange(year, month + 1)[1]))
""",
    "month_end": """\
def month_end(start, months):
    first = day(start)
    return serial(first.year, first.month + months + 1, 1) - 1
""",
    "date_difference": """\
def date_difference(start, end, unit):
    first, last, unit = day(start), day(end), unit.upper()
    if unit == "D":
        return (last - first).days
    months = (last.year - first.year) * 12 + last.month - first.month - (last.day < first.day)
    if unit in ("M", "Y", "YM"):
        return {"M": months, "Y": months // 12, "YM": months % 12}[unit]
    if unit == "MD":
        return (last - day(serial(last.year, last.month - (last.day < first.day), first.day))).days
    year = last.year - ((last.month, last.day) < (first.month, first.day))
    return (last - day(serial(year, first.month, first.day))).days
""",
    "position": '''\
def position(value, keys, mode):
    """The place of a value among keys, counted from 1: equal for mode 0, the last not above it among ascending keys
    for 1, the last not below it among descending keys for -1."""
    found = 0
    for place, key in enumerate(keys, 1):
        if mode == 0:
            if same(key, value):
                return place
        elif is_number(key) == is_number(value):
            if isinstance(key, str):
                key, value = key.casefold(), value.casefold()
            if (key > value) if mode > 0 else (key < value):
                break
            found = place
    if not found:
        raise LookupError("#N/A")
    return found
''',
    "place": '''\
def place(number):
    """The place, from 0, of what is counted from 1."""
    if number < 1:
        raise LookupError("nothing is counted below 1")
    return int(number) - 1
''',
    "if_error": '''\
def if_error(attempt, otherwise):
    """What `attempt()` gives, or `otherwise()` where it fails."""
    try:
        value = attempt()
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return otherwise()
    infinite = is_number(value) and abs(value) == float("inf")
    return otherwise() if infinite or value != value else value
''',
    "failed": '''\
def failed(error):
    """Raise what stands for an Excel error."""
    raise {"#N/A": LookupError, "#DIV/0!": ZeroDivisionError, "#REF!": LookupError}.get(error, ValueError)(error)
''',
    "growth": '''\
def growth(rate, count, when):
    """What one unit grows to, and what a payment of one unit in each period grows to."""
    if not rate:
        return 1.0, float(count)
    factor = (1 + rate) ** count
    return factor, (1 + rate * when) * (factor - 1) / rate
''',
    "payment": """\
def payment(rate, count, present, future, when):
    factor, annuity = growth(rate, count, when)
    return -(present * factor + future) / annuity
""",
    "present_value": """\
def present_value(rate, count, amount, future, when):
    factor, annuity = growth(rate, count, when)
    return -(future + amount * annuity) / factor
""",
    "future_value": """\
def future_value(rate, count, amount, present, when):
    factor, annuity = growth(rate, count, when)
    return -(present * factor + amount * annuity)
""",
    "periods": """\
def periods(rate, amount, present, future, when):
    if not rate:
        return -(present + future) / amount
    due = amount * (1 + rate * when)
    return math.log((due - future * rate) / (due + present * rate)) / math.log(1 + rate)
""",
    "effective": """\
def effective(rate, count):
    return (1 + rate / count) ** count - 1
""",
    "net_present_value": """\
def net_present_value(rate, values):
    return sum(value / (1 + rate) ** place for place, value in enumerate(values, 1))
""",
    "rank": """\
def rank(value, values, ascending):
    return 1 + sum((other < value) if ascending else (other > value) for other in values)
""",
}
"""Functions that full_code brings along, in an order in which each may use those before it."""
