"""A formula as source text of Python, NumPy or pandas.

The source is an expression (`code`) and a function around it (`full_code`) with the imports and the few helpers that
it needs. What a reference becomes:

    reference        python and numpy: parameters       pandas: a DataFrame `df`, columns A, B, ..., index 1, 2, ...
    A1               a1, a value                        df.at[1, "A"]
    A1:A10           a1_a10, a list or 1-D array        df.loc[1:10, "A"]
    A1:C1            a1_c1, a list or 1-D array         df.loc[1, "A":"C"]
    A1:C10           a1_c10, rows or a 2-D array        df.loc[1:10, "A":"C"]
    A:A              a_a, the whole column              df["A"]
    Sheet1!A1        sheet1_a1                          sheets["Sheet1"].at[1, "A"]
    rate             rate, a parameter                  rate, a parameter

Blanks are None in lists and NaN in arrays and frames; dates are serial numbers, as in the formula. Functions are
rows: `_SCALARS` for those of single values, `_AGGREGATES` for those of all numbers in their arguments, and a method of
`_Writer` for each with a way of its own. The text is written, never run; all that comes from the formula enters it
through `repr` or as a checked identifier.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from typing import Literal as OneOf

from core.formula.language.errors import FormulaError, LimitExceeded, UnsupportedFunction
from core.formula.language.parser import render
from core.formula.language.tree import Area, ArrayLiteral, Binary, Call, Cell, Empty, Invoke, Literal, Name, Node, Unary
from core.formula.suggest import parse_or_suggest
from core.formula.translation.translations import AGGREGATES, HELPERS, IMPORTS, SCALARS, AggregateSource
from core.formula.values.value import Error
from core.grid.address import COLUMNS_MAX, ROWS_MAX, column_name

Target = OneOf["python", "numpy", "pandas"]

CODE_CHARACTERS_MAX: Final = 100_000
"""Characters of a translation: over ten times the longest formula."""


@dataclass(frozen=True, slots=True)
class Translation:
    """The source of a formula."""

    code: str
    """The expression."""
    imports: list[str]
    """The import lines that it needs."""
    full_code: str
    """Imports where asked for, helpers, and the function `formula` that returns the expression."""
    notes: list[str]
    """The convention for what the formula reads, and where the source and a spreadsheet differ."""


def translate(formula: str, target: Target = "pandas", *, include_imports: bool = True) -> Translation:
    """Return a formula as source of Python, NumPy or pandas.

    See above for what references become.

    Raises:
        SyntaxFault: not a formula.
        UnsupportedFunction: it calls a function that has no counterpart here.
        FormulaError: it has a reference or an operation that has no counterpart here.
        LimitExceeded: the source would be longer than CODE_CHARACTERS_MAX.
    """
    writer = _Writer(target)
    code = writer.write(parse_or_suggest(formula))
    try:
        ast.parse(code, mode="eval")
    except (SyntaxError, MemoryError, RecursionError):
        raise LimitExceeded("the source is nested deeper than Python reads") from None
    helpers = _needed_helpers(code)
    source = "\n\n".join([*(HELPERS[name] for name in helpers), ""]) + "\n" if helpers else ""
    body = f"def formula({', '.join(writer.parameters)}):\n    return {code}\n"
    words = set(re.findall(r"[A-Za-z_]\w*", source + code))
    words |= (
        {"Decimal"} if words & {"ROUND_HALF_UP", "ROUND_UP", "ROUND_DOWN", "ROUND_CEILING", "ROUND_FLOOR"} else set()
    )
    words |= {"date"} if words & {"datetime", "timedelta"} else set()
    words |= {"pd"} if target == "pandas" else set()
    imports = [line for word, line in IMPORTS.items() if word in words]
    opening = "\n".join(imports) + "\n\n\n" if include_imports and imports else ""
    return Translation(code, imports, opening + source + body, list(writer.notes))


def _needed_helpers(code: str) -> list[str]:
    """Return the helpers that a source calls, and those that these call, in the order of HELPERS."""
    needed: set[str] = set()
    waiting = [code]
    while waiting:
        for word in re.findall(r"\b([a-z_]+)\(|\b(same|text)\b", waiting.pop()):
            name = word[0] or word[1]
            if name in HELPERS and name not in needed:
                needed.add(name)
                waiting.append(HELPERS[name])
    return [name for name in HELPERS if name in needed]


_SUM, _PRODUCT, _SIGNED, _ATOM = 3, 4, 5, 9
"""How strongly a source binds: a conditional or a comparison less than all of them."""


class _Code(str):
    """A piece of source, and its form: a value, row, column or grid."""

    form: str
    level: int

    def __new__(cls, text: str, form: str = "value", *, level: int = _ATOM) -> _Code:
        if len(text) > CODE_CHARACTERS_MAX:
            raise LimitExceeded(f"the source is longer than {CODE_CHARACTERS_MAX:,} characters")
        code = super().__new__(cls, text)
        code.form = form
        code.level = level
        return code

    def __format__(self, spec: str) -> str:
        """`p` in parentheses beside any operator, a digit where it binds less than that level, `i` as an int,
        `t` like `p`, a number as its text."""
        if spec == "t" and re.fullmatch(r"[0-9.]+", self):
            return repr(str(self))
        if self.level < (_ATOM if spec in ("p", "t") else int(spec) if spec.isdecimal() else 0):
            return f"({self})"
        if spec == "i" and not self.isdecimal():
            return f"int({self})"
        return str(self)


_TAKEN: Final = {
    *keyword.kwlist, *dir(builtins), *HELPERS, *" ".join(IMPORTS.values()).split(), "df", "sheets", "formula", "x", "y",
}  # fmt: skip
"""Words that no parameter may have as its name."""

_OPERATORS: Final = {
    "+": ("{0:3} + {1:4}", _SUM), "-": ("{0:3} - {1:4}", _SUM), "*": ("{0:4} * {1:5}", _PRODUCT),
    "/": ("{0:4} / {1:5}", _PRODUCT), "^": ("{0:p} ** {1:p}", _SIGNED), "=": ("{0:3} == {1:3}", 1),
    "<>": ("{0:3} != {1:3}", 1), "<": ("{0:3} < {1:3}", 1), ">": ("{0:3} > {1:3}", 1), "<=": ("{0:3} <= {1:3}", 1),
    ">=": ("{0:3} >= {1:3}", 1),
}  # fmt: skip
"""Template and level by operator."""

_UNFIT: Final = "has no counterpart in Python source"

_FORMATS: Final = {
    "0": ".0f", "0.0": ".1f", "0.00": ".2f", "0.000": ".3f", "0.0000": ".4f", "#,##0": ",.0f", "#,##0.0": ",.1f",
    "#,##0.00": ",.2f", "0%": ".0%", "0.0%": ".1%", "0.00%": ".2%", "0.00E+00": ".2E",
}  # fmt: skip
_DATE_FORMATS: Final = {
    "yyyy": "%Y",
    "yy": "%y",
    "mmmm": "%B",
    "mmm": "%b",
    "mm": "%m",
    "dd": "%d",
    "dddd": "%A",
    "ddd": "%a",
}


class _Writer:
    """Writes one tree; collects parameters and notes on the way."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.parameters: dict[str, None] = {}
        self.notes: dict[str, None] = {}
        self.identifiers: dict[str, str] = {}
        self.taken = set(_TAKEN)
        self.alike: Counter[str] = Counter()
        self.bound: dict[str, str] = {}

    def note(self, text: str) -> None:
        self.notes[text] = None

    # ---- names and references ----

    def identifier(self, wanted: str, key: str) -> str:
        """Return a free identifier for a thing, near the wanted word."""
        if key not in self.identifiers:
            word = re.sub(r"[^a-z0-9]+", "_", wanted.lower()).strip("_") or "name"
            free = word = f"n_{word}" if word[0].isdigit() else word
            while free in self.taken:  # word, word_, word_2, ..., from where the last one alike came to
                self.alike[word] += 1
                free = f"{word}_{self.alike[word] if self.alike[word] > 1 else ''}"
            self.taken.add(free)
            self.identifiers[key] = free
        return self.identifiers[key]

    def parameter(self, wanted: str) -> str:
        word = self.identifier(wanted, wanted.casefold())
        self.parameters[word] = None
        return word

    def frame(self, sheet: str | None) -> str:
        """Return the DataFrame of a sheet."""
        if sheet is None:
            self.parameters["df"] = None
            return "df"
        self.parameters["sheets"] = None
        self.note("sheets maps the names of sheets to their DataFrames")
        return f"sheets[{sheet!r}]"

    def reference(self, node: Cell | Area, *, values: bool) -> _Code:
        """Return a cell or a range.

        `values` asks pandas for bare arrays, which line up by place and not by index.
        """
        if node.last_sheet is not None or (node.sheet is not None and "[" in node.sheet):
            raise FormulaError(f"a reference over sheets or workbooks {_UNFIT}", node.start)
        form = "value" if isinstance(node, Cell) else _form(node)
        if self.target != "pandas":
            written = render(node)[1:].replace("$", "")
            name = self.parameter(written)
            kinds = {
                "value": "a value",
                "row": "a row's values",
                "column": "a column's values",
                "grid": "rows of values",
            }
            kind = "a 2-D array" if form == "grid" and self.target == "numpy" else kinds[form]
            self.note(f"{written} is the parameter {name}: {kind}")
            return _Code(name, form)
        frame = self.frame(node.sheet)
        self.note("rows and columns have the sheet's own labels: index 1, 2, ..., columns A, B, ...")
        if isinstance(node, Cell):
            return _Code(f'{frame}.at[{node.row + 1}, "{column_name(node.column)}"]')
        (top, bottom), (left, right) = _corners(node)
        first, last = column_name(left), column_name(right)
        columns = f'"{first}"' if left == right else f'"{first}":"{last}"'
        if node.whole_columns:
            code = f"{frame}[{columns}]" if left == right else f"{frame}.loc[:, {columns}]"
        elif node.whole_rows:
            code = f"{frame}.loc[{top + 1}]" if top == bottom else f"{frame}.loc[{top + 1}:{bottom + 1}]"
        else:
            rows = f"{top + 1}" if top == bottom and left != right else f"{top + 1}:{bottom + 1}"
            code = f"{frame}.loc[{rows}, {columns}]"
        self.note(f"{render(node)[1:].replace('$', '')} is {code}")
        return _Code(f"{code}.to_numpy()" if values else code, form)

    # ---- expressions ----

    def write(self, node: Node) -> _Code:
        """Return the source of a node.

        A chain of operators is a loop, so that its length does not matter.
        """
        chain: list[Binary | Unary] = []
        while isinstance(node, Binary | Unary):
            chain.append(node)
            node = node.left if isinstance(node, Binary) else node.operand
        code = self.leaf(node)
        for link in reversed(chain):
            code = self.binary(link, code) if isinstance(link, Binary) else self.unary(link, code)
        return code

    def leaf(self, node: Node) -> _Code:
        match node:
            case Literal():
                return self.constant(node.value)
            case Cell() | Area():
                return self.reference(node, values=True)
            case Name() if node.sheet is None:
                return _Code(self.bound.get(node.name.lower()) or self.parameter(node.name))
            case ArrayLiteral():
                return self.array(node)
            case Empty():
                return _Code("0")
            case Call():
                return self.call(node)
            case Invoke():
                arguments = ", ".join(self.write(argument) for argument in node.arguments)
                return _Code(f"{self.write(node.callee):p}({arguments})")
        raise FormulaError(f"{render(node)[1:]} {_UNFIT}", node.start)

    def constant(self, value: Any) -> _Code:
        if isinstance(value, Error):
            return _Code(f"failed({value.text!r})")
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            return _Code(repr(int(value)), level=_ATOM if value >= 0 else _SIGNED)
        return _Code(repr(value))

    def array(self, node: ArrayLiteral) -> _Code:
        rows = [f"[{', '.join(self.constant(value) for value in row)}]" for row in node.rows]
        form = "row"
        code = rows[0]
        if len(rows) > 1:
            form = "column" if len(node.rows[0]) == 1 else "grid"
            code = f"[{', '.join(row[1:-1] if form == 'column' else row for row in rows)}]"
        return _Code(code if self.target == "python" else f"np.array({code})", form)

    def unary(self, node: Unary, code: _Code) -> _Code:
        if node.operator == "%":
            return self.elementwise("{0:4} / 100", [code], level=_PRODUCT)
        if node.operator == "-":
            return self.elementwise("-{0:5}", [code], level=_SIGNED)
        if node.operator == "@" and code.form != "value":
            raise FormulaError(f"an intersection with the formula's own row {_UNFIT}", node.start)
        return code

    def binary(self, node: Binary, left: _Code) -> _Code:
        symbol = node.operator
        if symbol in ":, ":
            raise FormulaError(f"an operator between references {_UNFIT}", node.start)
        right = self.write(node.right)
        if symbol == "&":
            self.note("numbers are joined with up to 15 digits, as a spreadsheet shows them")
            chained = isinstance(node.left, Binary) and node.left.operator == "&"
            template = "{0:3} + text({1})" if chained else "text({0}) + text({1})"
            return self.elementwise(template, [left, right], level=_SUM, vectorize=True)
        if symbol in ("=", "<>") and not all(_is_number(side) for side in (node.left, node.right)):
            self.note("= and <> compare text without regard to case")
            template = "same({0}, {1})" if symbol == "=" else "(not same({0}, {1}))"
            return self.elementwise(template, [left, right], vectorize=True)
        if symbol == "/":
            self.note("a division by zero raises ZeroDivisionError, or gives inf or NaN in arrays, for #DIV/0!")
        template, level = _OPERATORS[symbol]
        return self.elementwise(template, [left, right], level=level)

    def elementwise(
        self, template: str, operands: Sequence[_Code], *, level: int = _ATOM, vectorize: bool = False
    ) -> _Code:
        """Return a template over single values, applied element by element where an operand is an array.

        `vectorize` says that the template is not understood by NumPy's arrays.
        """
        form = self.common_form(operands)
        if form == "value":
            return _Code(template.format(*operands), level=level)
        if self.target != "python" and not vectorize:
            return _Code(template.format(*operands), form, level=level)
        names = [_Code(f"v{place}") for place in range(1, len(operands) + 1)]
        function = f"lambda {', '.join(names)}: {template.format(*names)}"
        values = ", ".join(operands)
        if self.target == "python":
            return _Code(f"each({function}, {values})", form)
        return _Code(f"np.vectorize({function})({values})", form)

    def common_form(self, operands: Sequence[_Code]) -> str:
        forms = {operand.form for operand in operands} - {"value"}
        if len(forms) > 1:
            raise FormulaError(f"an operation on arrays of different directions {_UNFIT}")
        return forms.pop() if forms else "value"

    # ---- calls ----

    def call(self, node: Call) -> _Code:
        if node.name.lower() in self.bound:
            arguments = ", ".join(self.write(argument) for argument in node.arguments)
            return _Code(f"{self.bound[node.name.lower()]}({arguments})")
        if node.name in SCALARS:
            return self.scalar(node)
        if node.name in AGGREGATES:
            return self.aggregate(AGGREGATES[node.name], node.arguments)
        method = _CALLS.get(node.name)
        if method is None:
            raise UnsupportedFunction(node.name, node.start)
        try:
            return method(self, *node.arguments)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise
            raise FormulaError(f"{node.name} has a number of arguments that {_UNFIT}", node.start) from None

    def scalar(self, node: Call) -> _Code:
        row = SCALARS[node.name]
        count = row.least + len(row.defaults)
        if not row.least <= len(node.arguments) <= count:
            raise FormulaError(f"{node.name} takes {row.least} to {count} arguments", node.start)
        operands = [self.write(argument) for argument in node.arguments]
        operands += [_Code(default) for default in row.defaults[len(operands) - row.least :]]
        if node.name in _DATE_FUNCTIONS:
            self.note("dates are serial numbers: days since 1899-12-30")
        if node.name in _TEXT_FUNCTIONS:
            self.note("text functions take text: a number has to be made one first")
        array = self.common_form(operands) != "value"
        native = self.target != "python" and bool(row.numpy)
        return self.elementwise(row.numpy if native else row.python, operands, vectorize=array and not native)

    def aggregate(self, row: AggregateSource, arguments: Sequence[Node]) -> _Code:
        if not arguments:
            raise FormulaError("a function of numbers needs an argument")
        if self.target == "pandas" and row.pandas and len(arguments) == 1 and isinstance(arguments[0], Area):
            code = self.reference(arguments[0], values=False)
            if code.form != "grid":
                return _Code(f"{code}.{row.pandas}")
        values = [self.write(argument) for argument in arguments]
        if self.target == "python":
            self.note("blanks (None), text and booleans in ranges are left out")
            return _Code(row.python.format(f"numbers({', '.join(values)})"))
        self.note("blanks are NaN and left out; a range must hold numbers only")
        return _Code(row.numpy.format(self.together(values)))

    def together(self, values: Sequence[_Code]) -> _Code:
        """Return one flat array of all values."""
        if len(values) == 1:
            return values[0] if values[0].form != "value" else _Code(f"[{values[0]}]")
        return _Code(f"np.r_[{', '.join(f'{value:p}.ravel()' if value.form == 'grid' else value for value in values)}]")

    def vector(self, node: Node) -> _Code:
        """Return a one-dimensional array."""
        code = self.write(node)
        if code.form not in ("row", "column"):
            raise FormulaError(f"a range of one row or column is expected: {render(node)[1:]} {_UNFIT}", node.start)
        return code

    def if_(self, test: Node, then: Node, otherwise: Node | None = None) -> _Code:
        parts = [self.write(test), self.write(then), _Code("False") if otherwise is None else self.write(otherwise)]
        if self.target != "python" and parts[0].form != "value":
            return _Code(f"np.where({', '.join(parts)})", self.common_form(parts))
        return self.elementwise("({1:p} if {0:p} else {2:p})", parts)

    def ifs(self, *pairs: Node) -> _Code:
        if not pairs or len(pairs) % 2:
            raise FormulaError("IFS takes pairs of a condition and a value")
        code = "failed('#N/A')"
        for place in range(len(pairs) - 2, -1, -2):
            code = f"({self.single(pairs[place + 1]):p} if {self.single(pairs[place]):p} else {code})"
            _Code(code)
        return _Code(code)

    def single(self, node: Node) -> _Code:
        code = self.write(node)
        if code.form != "value":
            raise FormulaError(f"an array in this place {_UNFIT}", node.start)
        return code

    def counted(self, number: Node) -> str:
        """Return the place from 0 of what a formula counts from 1.

        Below 1 there is none, where Python would take the last.
        """
        code = self.single(number)
        return f"{code} - 1" if code.isdecimal() and int(code) > 0 else f"place({code})"

    def if_error(self, attempt: Node, otherwise: Node) -> _Code:
        self.note("an error of a spreadsheet is an exception, infinity or NaN here")
        return _Code(f"if_error(lambda: {self.single(attempt)}, lambda: {self.single(otherwise)})")

    def is_error(self, attempt: Node) -> _Code:
        return _Code(f"if_error(lambda: ({self.single(attempt)}, False)[1], lambda: True)")

    def all_of(self, *tests: Node) -> _Code:
        return _Code(f"all(flat({', '.join(self.write(test) for test in tests)}))")

    def any_of(self, *tests: Node) -> _Code:
        return _Code(f"any(flat({', '.join(self.write(test) for test in tests)}))")

    def exclusive(self, *tests: Node) -> _Code:
        return _Code(f"(sum(map(bool, flat({', '.join(self.write(test) for test in tests)}))) % 2 == 1)")

    def switch(self, value: Node, *cases: Node) -> _Code:
        pairs = [f"{self.single(cases[i])}: {self.single(cases[i + 1])}" for i in range(0, len(cases) - 1, 2)]
        table = f"{{{', '.join(pairs)}}}"
        if len(cases) % 2:
            return _Code(f"{table}.get({self.single(value)}, {self.single(cases[-1])})")
        return _Code(f"{table}[{self.single(value)}]")

    def choose(self, index: Node, *choices: Node) -> _Code:
        return _Code(f"({', '.join(self.single(choice) for choice in choices)},)[{self.counted(index)}]")

    # sums and counts with criteria

    def criterion(self, values: Node, criterion: Node) -> _Code:
        """Return a mask over a range: which of its values meet a criterion."""
        code = self.vector(values)
        wanted = self.single(criterion)
        if self.target == "python":
            return _Code(f"[meets(x, {wanted}) for x in {code}]", "column")
        if isinstance(criterion, Literal):
            comparison = re.fullmatch(r"(<=|>=|<>|<|>|=|)(-?[0-9]+(?:\.[0-9]+)?)", _plain(criterion.value))
            if comparison is not None and comparison[1] != "<>":
                return _Code(
                    f"({code} {comparison[1] if comparison[1] not in ('', '=') else '=='} {comparison[2]})", "column"
                )
        return _Code(f"np.array([meets(x, {wanted}) for x in {code}])", "column")

    def masks(self, pairs: Sequence[Node]) -> _Code:
        if not pairs or len(pairs) % 2:
            raise FormulaError("criteria come in pairs of a range and a criterion")
        masks = [self.criterion(pairs[place], pairs[place + 1]) for place in range(0, len(pairs), 2)]
        if len(masks) == 1:
            return masks[0]
        if self.target == "python":
            return _Code(f"map(all, zip({', '.join(masks)}))")
        return _Code(f"({' & '.join(masks)})")

    def picked(self, values: Node, pairs: Sequence[Node], name: str) -> _Code:
        """Return an aggregate of those values whose neighbours meet the criteria."""
        code = self.vector(values)
        mask = self.masks(pairs)
        if self.target == "python":
            chosen = f"numbers(y for x, y in zip({mask}, {code}) if x)"
            return _Code(AGGREGATES[name].python.format(chosen))
        self.note("blanks are NaN and left out; a range must hold numbers only")
        return _Code(AGGREGATES[name].numpy.format(f"{code}[{mask}]"))

    def count_ifs(self, *pairs: Node) -> _Code:
        return _Code(f"sum({self.masks(pairs)})" if self.target == "python" else f"np.sum({self.masks(pairs)})")

    def count_all(self, *arguments: Node) -> _Code:
        values = ", ".join(self.write(argument) for argument in arguments)
        return _Code(f"sum(not is_blank(x) for x in flat({values}))")

    def count_blank(self, values: Node) -> _Code:
        return _Code(f"sum(is_blank(x) or x == '' for x in flat({self.write(values)}))")

    def sum_product(self, *arrays: Node) -> _Code:
        values = [self.write(array) for array in arrays]
        template = " * ".join(f"{{{place}:p}}" for place in range(len(values)))
        product = self.elementwise(template, values)
        if self.target == "python":
            return _Code(f"sum(numbers({product}))")
        return _Code(f"np.nansum({product})")

    # lookups

    def table(self, node: Node) -> Area:
        if not isinstance(node, Area):
            raise FormulaError(f"a table that is no plain range {_UNFIT}", node.start)
        return node

    def approximate(self, node: Node | None) -> str:
        """Return the mode of `position` for the last argument of VLOOKUP and HLOOKUP."""
        if node is None:
            return "1"
        if isinstance(node, Literal | Empty):
            return "1" if isinstance(node, Literal) and node.value else "0"
        return f"int(bool({self.single(node)}))"

    def lookup(self, value: Node, table: Node, index: Node, mode: Node | None, *, by_column: bool) -> _Code:
        area = self.table(table)
        (top, bottom), (left, right) = _corners(area)
        keys = _part(
            area,
            top,
            top if by_column else bottom,
            left,
            right if by_column else left,
            whole_columns=area.whole_columns and not by_column,
            whole_rows=area.whole_rows and by_column,
        )
        code = self.reference(area, values=True)
        if code.form != "grid":
            raise FormulaError(f"a table of one row or column {_UNFIT}", table.start)
        if self.target == "python":
            names = f"{code}[0]" if by_column else f"[x[0] for x in {code}]"
        elif self.target == "numpy":
            names = f"{code}[0]" if by_column else f"{code}[:, 0]"
        else:
            names = self.reference(keys, values=True)
        place = f"position({self.single(value)}, {names}, {self.approximate(mode)}) - 1"
        counter = self.counted(index)
        row, column = (counter, place) if by_column else (place, counter)
        return _Code(f"{code}[{row}][{column}]" if self.target == "python" else f"{code}[{row}, {column}]")

    def match(self, value: Node, keys: Node, mode: Node | None = None) -> _Code:
        way = _Code("1") if mode is None else self.single(mode)
        return _Code(f"position({self.single(value)}, {self.vector(keys)}, {way})")

    def match_exact(self, value: Node, keys: Node, mode: Node | None = None) -> _Code:
        if mode is not None and not (isinstance(mode, Literal) and mode.value == 0.0):
            raise FormulaError(f"XMATCH and XLOOKUP by another mode than 0: it {_UNFIT}", mode.start)
        return _Code(f"position({self.single(value)}, {self.vector(keys)}, 0)")

    def find_exact(
        self, value: Node, keys: Node, results: Node, missing: Node | None = None, mode: Node | None = None
    ) -> _Code:
        code = f"{self.vector(results)}[{self.match_exact(value, keys, mode)} - 1]"
        if missing is None or isinstance(missing, Empty):
            return _Code(code)
        return _Code(f"if_error(lambda: {code}, lambda: {self.single(missing)})")

    def index(self, array: Node, row: Node, column: Node | None = None) -> _Code:
        code = self.write(array)
        if code.form in ("row", "column"):
            if column is not None:
                row = column if code.form == "row" else row
            return _Code(f"{code:p}[{self.counted(row)}]")
        places = [] if column is None or code.form != "grid" else [self.counted(row), self.counted(column)]
        if not places or "place(0)" in places:
            raise FormulaError(f"a whole row or column of INDEX {_UNFIT}", array.start)
        return _Code(
            f"{code:p}[{places[0]}][{places[1]}]" if self.target == "python" else f"{code:p}[{', '.join(places)}]"
        )

    def offset(
        self, base: Node, rows: Node, columns: Node, height: Node | None = None, width: Node | None = None
    ) -> _Code:
        if not isinstance(base, Cell | Area):
            raise FormulaError(f"OFFSET from anything but a range {_UNFIT}", base.start)
        first, last = (base, base) if isinstance(base, Cell) else (base.first, base.last)
        area = Area(base.sheet, base.last_sheet, _bare(first), _bare(last), start=base.start, end=base.end)
        (top, bottom), (left, right) = _corners(area)
        top, left = top + _fixed(rows, 0), left + _fixed(columns, 0)
        bottom = top + _fixed(height, bottom - _corners(area)[0][0] + 1) - 1
        right = left + _fixed(width, right - _corners(area)[1][0] + 1) - 1
        if not (0 <= top <= bottom < ROWS_MAX and 0 <= left <= right < COLUMNS_MAX):
            raise FormulaError("OFFSET leaves the sheet", base.start)
        if (top, left) == (bottom, right):
            return self.reference(Cell(base.sheet, None, top, left, False, False), values=True)
        whole = (top, bottom) == (0, ROWS_MAX - 1), (left, right) == (0, COLUMNS_MAX - 1)
        part = _part(area, top, bottom, left, right, whole_columns=whole[0], whole_rows=whole[1])
        return self.reference(part, values=True)

    def trim(self, array: Node, rows: Node | None = None, columns: Node | None = None) -> _Code:
        code = self.write(array)
        trim_rows, trim_columns = _fixed(rows, 3), _fixed(columns, 3)
        if code.form == "value":
            return code
        if code.form != "grid":
            return _Code(f"trimmed({code}, {trim_columns if code.form == 'row' else trim_rows})", code.form)
        code = _Code(f"trimmed({code}, {trim_rows})" if trim_rows else code, "grid")
        if not trim_columns:
            return code
        if self.target == "python":
            return _Code(f"[list(x) for x in zip(*trimmed(list(zip(*{code})), {trim_columns}))]", "grid")
        return _Code(f"trimmed({code:p}.T, {trim_columns}).T", "grid")

    # text

    def joined(self, *parts: Node) -> _Code:
        return _Code(f"''.join(map(text, flat({', '.join(self.write(part) for part in parts)})))")

    def text_join(self, separator: Node, skip: Node, *parts: Node) -> _Code:
        values = f"map(text, flat({', '.join(self.write(part) for part in parts)}))"
        skipping = self.single(skip)
        chosen = f"filter(None, {values})" if skipping == "True" else f"(x for x in {values} if x or not {skipping:p})"
        return _Code(f"{self.single(separator):t}.join({chosen})")

    def substitute(self, word: Node, old: Node, new: Node, place: Node | None = None) -> _Code:
        parts = f"{self.single(old):t}, {self.single(new):t}"
        if place is None:
            return _Code(f"{self.single(word):t}.replace({parts})")
        return _Code(f"substituted({self.single(word)}, {parts}, {self.single(place):i})")

    def shown(self, value: Node, code: Node) -> _Code:
        wanted = code.value if isinstance(code, Literal) else None
        if wanted in _FORMATS:
            self.note("numbers are shown rounded half to even: 0.125 may show otherwise than in a spreadsheet")
            return _Code(f"format({self.single(value)}, {_FORMATS[wanted]!r})")
        if isinstance(wanted, str) and re.fullmatch(r"(?i)[dmy]+([-/ ][dmy]+)*", wanted):
            parts = re.split(r"([-/ ])", wanted.lower())
            if all(part in _DATE_FORMATS or part in "-/ " for part in parts):
                return _Code(
                    f"day({self.single(value)}).strftime({''.join(_DATE_FORMATS.get(part, part) for part in parts)!r})"
                )
        raise FormulaError(f"this format of TEXT {_UNFIT}", code.start)

    # ranking

    def ranked(self, values: Node, place: Node, *, largest: bool) -> _Code:
        ordered = f"sorted(numbers({self.write(values)}){', reverse=True' if largest else ''})"
        return _Code(f"{ordered}[{self.single(place):i} - 1]")

    def rank(self, value: Node, values: Node, ascending: Node | None = None) -> _Code:
        way = "False" if ascending is None else self.single(ascending)
        return _Code(f"rank({self.single(value)}, numbers({self.write(values)}), {way})")

    def percentile(self, values: Node, share: Node, *, divisor: str = "") -> _Code:
        if self.target == "python":
            self.note("a percentile is NumPy's in every target")
        code = self.write(values)
        data = f"numbers({code})" if self.target == "python" else code
        return _Code(f"np.nanquantile({data}, {self.single(share):p}{divisor})")

    def mode(self, *values: Node) -> _Code:
        return _Code(f"statistics.mode(numbers({', '.join(self.write(value) for value in values)}))")

    def net_present_value(self, rate: Node, *values: Node) -> _Code:
        flows = ", ".join(self.write(value) for value in values)
        return _Code(f"net_present_value({self.single(rate)}, numbers({flows}))")

    # names

    def let(self, *arguments: Node) -> _Code:
        if len(arguments) < 3 or len(arguments) % 2 == 0:
            raise FormulaError("LET takes pairs of a name and a value, and a calculation")
        name, value, *rest = arguments
        bound_value = self.write(value)
        with_name = self.scope(name)
        inner = self.let(*rest) if len(rest) > 1 else self.write(rest[0])
        self.leave(name, with_name[1])
        return _Code(f"(lambda {with_name[0]}: {inner})({bound_value})", inner.form)

    def function(self, *arguments: Node) -> _Code:
        if not arguments:
            raise FormulaError("LAMBDA needs a calculation")
        *parameters, body = arguments
        outer = [self.scope(parameter) for parameter in parameters]
        if len({name for name, _ in outer}) < len(outer):
            raise FormulaError("LAMBDA names two parameters alike")
        code = self.write(body)
        for parameter, (_, before) in zip(reversed(parameters), reversed(outer), strict=True):
            self.leave(parameter, before)
        return _Code(f"lambda {', '.join(name for name, _ in outer)}: {code}", level=0)

    def scope(self, name: Node) -> tuple[str, str | None]:
        """Bind a name; its identifier, and what it was bound to before."""
        if not isinstance(name, Name):
            raise FormulaError(f"an optional parameter {_UNFIT}", name.start)
        key = name.name.lower()
        before = self.bound.get(key)
        self.bound[key] = self.identifier(name.name, f"bound {key}")
        return self.bound[key], before

    def leave(self, name: Node, before: str | None) -> None:
        assert isinstance(name, Name)
        if before is None:
            del self.bound[name.name.lower()]
        else:
            self.bound[name.name.lower()] = before


def _bare(cell: Cell) -> Cell:
    return Cell(None, None, cell.row, cell.column, cell.row_absolute, cell.column_absolute)


def _corners(area: Area) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return ((top, bottom), (left, right)), 0-based.

    The formula stands in A1, so that distances are places.
    """
    top, bottom = sorted((area.first.row, area.last.row))
    left, right = sorted((area.first.column, area.last.column))
    return (top, bottom), (left, right)


def _part(
    area: Area, top: int, bottom: int, left: int, right: int, *, whole_columns: bool = False, whole_rows: bool = False
) -> Area:
    """Return an area on the same sheet."""
    first, last = Cell(None, None, top, left, False, False), Cell(None, None, bottom, right, False, False)
    return Area(area.sheet, area.last_sheet, first, last, whole_columns, whole_rows, area.start, area.end)


def _form(area: Area) -> str:
    (top, bottom), (left, right) = _corners(area)
    if left == right:
        return "column"
    return "row" if top == bottom else "grid"


def _fixed(node: Node | None, default: int) -> int:
    """Return a whole number that stands in the formula."""
    if node is None or isinstance(node, Empty):
        return default
    sign = 1
    if isinstance(node, Unary) and node.operator == "-":
        sign, node = -1, node.operand
    if not isinstance(node, Literal) or not isinstance(node.value, float):
        raise FormulaError(f"a computed number in this place {_UNFIT}", node.start)
    return sign * int(min(node.value, 2_000_000.0))


def _is_number(node: Node) -> bool:
    """Return whether a node cannot be text."""
    if isinstance(node, Literal):
        return isinstance(node.value, float)
    if isinstance(node, Binary | Unary):
        return node.operator in ("+", "-", "*", "/", "^", "%")
    return isinstance(node, Call) and node.name in AGGREGATES


def _plain(value: object) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


_DATE_FUNCTIONS: Final = frozenset(
    ["DATE", "TODAY", "NOW", "YEAR", "MONTH", "DAY", "EDATE", "EOMONTH", "DATEDIF", "DAYS"]
)
_TEXT_FUNCTIONS: Final = frozenset(
    ["LEFT", "RIGHT", "MID", "TRIM", "UPPER", "LOWER", "PROPER", "FIND", "SEARCH", "EXACT"]
)

_CALLS: Final[dict[str, Callable[..., _Code]]] = {
    "IF": _Writer.if_,
    "IFS": _Writer.ifs,
    "IFERROR": _Writer.if_error,
    "IFNA": _Writer.if_error,
    "ISERROR": _Writer.is_error,
    "NA": lambda self: _Code("failed('#N/A')"),
    "AND": _Writer.all_of,
    "OR": _Writer.any_of,
    "XOR": _Writer.exclusive,
    "SWITCH": _Writer.switch,
    "CHOOSE": _Writer.choose,
    "SUMIF": lambda self, keys, criterion, values=None: self.picked(values or keys, (keys, criterion), "SUM"),
    "SUMIFS": lambda self, values, *pairs: self.picked(values, pairs, "SUM"),
    "AVERAGEIF": lambda self, keys, criterion, values=None: self.picked(values or keys, (keys, criterion), "AVERAGE"),
    "AVERAGEIFS": lambda self, values, *pairs: self.picked(values, pairs, "AVERAGE"),
    "MAXIFS": lambda self, values, *pairs: self.picked(values, pairs, "MAX"),
    "MINIFS": lambda self, values, *pairs: self.picked(values, pairs, "MIN"),
    "COUNTIF": lambda self, keys, criterion: self.count_ifs(keys, criterion),
    "COUNTIFS": _Writer.count_ifs,
    "COUNTA": _Writer.count_all,
    "COUNTBLANK": _Writer.count_blank,
    "SUMPRODUCT": _Writer.sum_product,
    "VLOOKUP": lambda self, value, table, index, mode=None: self.lookup(value, table, index, mode, by_column=False),
    "HLOOKUP": lambda self, value, table, index, mode=None: self.lookup(value, table, index, mode, by_column=True),
    "MATCH": _Writer.match,
    "XMATCH": _Writer.match_exact,
    "XLOOKUP": _Writer.find_exact,
    "INDEX": _Writer.index,
    "OFFSET": _Writer.offset,
    "TRIMRANGE": _Writer.trim,
    "CONCATENATE": _Writer.joined,
    "CONCAT": _Writer.joined,
    "TEXTJOIN": _Writer.text_join,
    "SUBSTITUTE": _Writer.substitute,
    "TEXT": _Writer.shown,
    "LARGE": lambda self, values, place: self.ranked(values, place, largest=True),
    "SMALL": lambda self, values, place: self.ranked(values, place, largest=False),
    "RANK": _Writer.rank,
    "RANK.EQ": _Writer.rank,
    "PERCENTILE": lambda self, values, share: self.percentile(values, share),
    "PERCENTILE.INC": lambda self, values, share: self.percentile(values, share),
    "QUARTILE": lambda self, values, quarter: self.percentile(values, quarter, divisor=" / 4"),
    "QUARTILE.INC": lambda self, values, quarter: self.percentile(values, quarter, divisor=" / 4"),
    "MODE": _Writer.mode,
    "MODE.SNGL": _Writer.mode,
    "NPV": _Writer.net_present_value,
    "LET": _Writer.let,
    "LAMBDA": _Writer.function,
}
"""Functions with a way of their own; a method takes the nodes of the arguments."""
