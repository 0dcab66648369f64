# The second half of parser.pyx: a tree back to text, and what a tree refers to.

import re

_PLAIN_SHEET = re.compile(r"(?:\[[^\[\]'!:]+\])?(?:[^\W\d][\w.]*)?")
_READS_OTHERWISE = re.compile(r"[A-Za-z]{1,3}[0-9]{1,7}|(?:[Rr][0-9]*)?(?:[Cc][0-9]*)?|TRUE|FALSE", re.IGNORECASE | re.ASCII)
_PLAIN_COLUMN = re.compile(r"\w+")

cdef dict _LEVELS = {"=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5,
                     ",": 8, " ": 9, ":": 10}

cdef enum:
    _PERCENT = 6
    _SIGN = 7
    _UNION = 8
    _RANGE = 10
    _PRIMARY = 12


def render(Node tree not None, Py_ssize_t row=0, Py_ssize_t column=0):
    """The text of a tree as it stands in the cell (row, column), 0-based: `parse` of it gives the same tree.

    Blanks and needless parentheses are not kept; what a relative reference meets outside the sheet is #REF!.
    """
    return "=" + _text(tree, 1, row, column)


def references(Node tree not None, Py_ssize_t row=0, Py_ssize_t column=0):
    """The cells, areas and names that a formula in (row, column) reads, as A1 text without `$`, in order of first
    appearance, each once. Names bound by LET and LAMBDA are none; a spilled A1# counts as A1."""
    cdef _Finder finder = _Finder.__new__(_Finder)
    finder.row = row
    finder.column = column
    finder.references = {}
    finder.functions = {}
    finder.visit(tree, frozenset())
    return list(finder.references.values())


def functions(Node tree not None):
    """The functions that a formula calls, in order of appearance, each once; lambdas bound by name are none."""
    cdef _Finder finder = _Finder.__new__(_Finder)
    finder.references = {}
    finder.functions = {}
    finder.visit(tree, frozenset())
    return list(finder.functions)


cdef bint _reads_otherwise(str name):
    """Whether a name alone reads as a cell in either notation, or as a boolean."""
    return _READS_OTHERWISE.fullmatch(name) is not None


cdef bint _needs_quotes(str sheet):
    if _PLAIN_SHEET.fullmatch(sheet) is None:
        return True
    name = sheet.rpartition("]")[2]
    return bool(name) and _reads_otherwise(name)


cdef str _prefix(str sheet, str last_sheet):
    """What stands before a reference to other sheets: Sheet1!, 'My Sheet'!, Jan:Mar!; empty for none."""
    if sheet is None:
        return ""
    whole = sheet if last_sheet is None else f"{sheet}:{last_sheet}"
    if _needs_quotes(sheet) or (last_sheet is not None and _needs_quotes(last_sheet)):
        whole = "'" + whole.replace("'", "''") + "'"
    return whole + "!"


cdef str _constant_text(value):
    if value is True:
        return "TRUE"
    if value is False:
        return "FALSE"
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, (int, float)):
        text = repr(float(value)).upper()
        return text.removesuffix(".0")
    return value.text


cdef str _corner_text(Cell cell, Py_ssize_t row, Py_ssize_t column, bint rows, bint columns):
    """One corner with the parts that are asked for; None outside the sheet."""
    cdef Py_ssize_t place
    cdef str text = ""
    if columns:
        place = cell.column if cell.column_absolute else cell.column + column
        if not 0 <= place < SHEET_COLUMNS:
            return None
        text = ("$" if cell.column_absolute else "") + column_name(place)
    if rows:
        place = cell.row if cell.row_absolute else cell.row + row
        if not 0 <= place < SHEET_ROWS:
            return None
        text = f"{text}{'$' if cell.row_absolute else ''}{place + 1}"
    return text


cdef list _COLONS = [":", ".:", ":.", ".:."]  # by the sides that are trimmed


cdef int _sides(Call call):
    """Which sides of a range a call trims as dots beside its colon would; 0 for any other call."""
    cdef int sides
    if call.name != "TRIMRANGE" or len(call.arguments) != 3 or type(call.arguments[0]) is not Area:
        return 0
    if type(call.arguments[1]) is not Literal or type(call.arguments[2]) is not Literal:
        return 0
    wanted = (<Literal> call.arguments[1]).value
    if type(wanted) is not float or wanted not in (1.0, 2.0, 3.0) or (<Literal> call.arguments[2]).value != wanted:
        return 0
    return 0 if type((<Literal> call.arguments[2]).value) is not float else <int> wanted


cdef str _area_text(Area area, Py_ssize_t row, Py_ssize_t column, int sides=0):
    first = _corner_text(area.first, row, column, not area.whole_columns, not area.whole_rows)
    last = _corner_text(area.last, row, column, not area.whole_columns, not area.whole_rows)
    if first is None or last is None:
        return _REF_TEXT
    return f"{_prefix(area.sheet, area.last_sheet)}{first}{_COLONS[sides]}{last}"


cdef str _column_text(str name):
    return re.sub(r"(['\[\]#@])", r"'\1", name)


cdef str _structured_text(Structured node):
    cdef str table = node.table or ""
    cdef str columns = ""
    cdef str item
    if node.first is not None:
        columns = f"[{_column_text(node.first)}]"
        if node.last != node.first:
            columns = f"{columns}:[{_column_text(node.last)}]"
    if node.items == ("#This Row",):
        if node.first is not None and node.first == node.last and _PLAIN_COLUMN.fullmatch(node.first):
            columns = node.first
        return f"{table}[@{columns}]"
    if not node.items and node.first is not None and node.first == node.last and node.first == node.first.strip():
        return table + columns
    if len(node.items) == 1 and not columns:
        return f"{table}[{node.items[0]}]"
    parts = [f"[{item}]" for item in node.items]
    return f"{table}[{','.join(parts + [columns] if columns else parts)}]"


cdef str _arguments_text(tuple arguments, Py_ssize_t row, Py_ssize_t column):
    return "(" + ",".join([_text(argument, 1, row, column) for argument in arguments]) + ")"


cdef str _binary_text(Binary node, int level, Py_ssize_t row, Py_ssize_t column):
    cdef str symbol = node.operator
    cdef str left = _text(node.left, level, row, column)
    cdef str right = _text(node.right, level + 1, row, column)
    if symbol == ":":  # a name beside ':' may read as a column or a sheet, two cells as one area
        if type(node.left) is Name or (type(node.left) is Cell and type(node.right) is Cell):
            left = f"({left})"
        if type(node.right) is Name:
            right = f"({right})"
    elif symbol == " " and right.startswith("(") and not left.endswith(")"):  # a name before '(' reads as a call
        left = f"({left})"
    elif symbol == "," and type(node.left) is Binary and (<Binary> node.left).operator == "," :
        left = left.removeprefix("(").removesuffix(")")
    return left + symbol + right


cdef str _text(Node node, int lowest, Py_ssize_t row, Py_ssize_t column):
    """The text of a node, in parentheses where it binds less than `lowest`."""
    cdef int level = _PRIMARY
    cdef str text
    cdef str symbol
    if type(node) is Literal:
        text = _constant_text((<Literal> node).value)
        if text.startswith("-"):
            level = _SIGN
    elif type(node) is Cell:
        text = _corner_text(<Cell> node, row, column, True, True)
        text = _REF_TEXT if text is None else _prefix((<Cell> node).sheet, (<Cell> node).last_sheet) + text
    elif type(node) is Area:
        text = _area_text(<Area> node, row, column)
        level = _RANGE
    elif type(node) is Binary:
        symbol = (<Binary> node).operator
        level = _LEVELS[symbol]
        text = _binary_text(<Binary> node, level, row, column)
        if level == _UNION:
            text = f"({text})"
            level = _PRIMARY
    elif type(node) is Unary:
        symbol = (<Unary> node).operator
        level = _PERCENT if symbol == "%" else _SIGN
        text = _text((<Unary> node).operand, level, row, column)
        text = text + "%" if symbol == "%" else symbol + text
    elif type(node) is Call and _sides(<Call> node):
        text = _area_text((<Call> node).arguments[0], row, column, _sides(<Call> node))
        level = _RANGE
    elif type(node) is Call:
        text = (<Call> node).name + _arguments_text((<Call> node).arguments, row, column)
    elif type(node) is Name:
        text = _prefix((<Name> node).sheet, None) + (<Name> node).name
    elif type(node) is Spill:
        text = _text((<Spill> node).operand, _RANGE + 1, row, column)
        text = text if text == _REF_TEXT else text + "#"
    elif type(node) is Structured:
        text = _structured_text(<Structured> node)
    elif type(node) is Invoke:
        text = _text((<Invoke> node).callee, _PRIMARY, row, column)
        if type((<Invoke> node).callee) not in (Call, Invoke) and not text.startswith("("):
            text = f"({text})"
        text += _arguments_text((<Invoke> node).arguments, row, column)
    elif type(node) is ArrayLiteral:
        text = ";".join([",".join([_constant_text(value) for value in line]) for line in (<ArrayLiteral> node).rows])
        text = f"{{{text}}}"
    else:
        text = ""
    return f"({text})" if level < lowest else text


@cython.final
cdef class _Finder:
    """One walk over a tree that collects, each once, the references (by their upper-case text) and the functions."""

    cdef Py_ssize_t row
    cdef Py_ssize_t column
    cdef dict references
    cdef dict functions

    cdef int enter(self, str text) except -1:
        self.references.setdefault(text.upper(), text)
        return 0

    cdef int visit(self, Node node, frozenset bound) except -1:
        """Collect from a node; `bound` holds the lower-case names that mean something inside the formula."""
        cdef Name name
        cdef str text
        if type(node) is Cell:
            text = _text(node, 1, self.row, self.column)
            self.enter(text if text == _REF_TEXT else _without_marks(node, self.row, self.column))
        elif type(node) is Area:
            self.enter(_without_marks(node, self.row, self.column))
        elif type(node) is Name:
            name = <Name> node
            if name.sheet is not None or name.name.lower() not in bound:
                self.enter(_text(node, 1, 0, 0))
        elif type(node) is Structured:
            self.enter(_structured_text(<Structured> node))
        elif type(node) is Binary:
            self.visit((<Binary> node).left, bound)
            self.visit((<Binary> node).right, bound)
        elif type(node) is Unary:
            self.visit((<Unary> node).operand, bound)
        elif type(node) is Spill:
            self.visit((<Spill> node).operand, bound)
        elif type(node) is Invoke:
            self.visit((<Invoke> node).callee, bound)
            for argument in (<Invoke> node).arguments:
                self.visit(argument, bound)
        elif type(node) is Call:
            self.visit_call(<Call> node, bound)
        return 0

    cdef int visit_call(self, Call call, frozenset bound) except -1:
        cdef Py_ssize_t index
        cdef Py_ssize_t last = len(call.arguments) - 1
        cdef str name
        if call.name.lower() not in bound:
            self.functions[call.name] = None
        cdef str pending = None  # what LET binds once its value has been walked
        for index in range(last + 1):
            argument = call.arguments[index]
            name = None
            if index < last and (call.name == "LAMBDA" or (call.name == "LET" and index % 2 == 0)):
                name = _parameter(argument)
            if name is None:
                self.visit(argument, bound)
                if pending is not None:
                    bound, pending = bound | {pending}, None
            elif call.name == "LAMBDA":
                bound = bound | {name}
            else:
                pending = name
        return 0


cdef str _parameter(Node node):
    """The lower-case name that a node binds as a parameter; None where it binds none."""
    if type(node) is Name and (<Name> node).sheet is None:
        return (<Name> node).name.lower()
    if type(node) is Structured and (<Structured> node).table is None and not (<Structured> node).items \
            and (<Structured> node).first is not None:
        return (<Structured> node).first.lower()
    return None


cdef str _without_marks(Node node, Py_ssize_t row, Py_ssize_t column):
    """A cell or an area as A1 text without `$`, its corners in order, an area of one cell as that cell."""
    cdef Cell cell
    cdef Area area
    cdef str text, first, last
    if type(node) is Cell:
        cell = <Cell> node
        return _prefix(cell.sheet, cell.last_sheet) + _corner_text(cell, row, column, True, True).replace("$", "")
    area = <Area> node
    if _area_text(area, row, column) == _REF_TEXT:
        return _REF_TEXT
    rows = sorted([corner.row if corner.row_absolute else corner.row + row for corner in (area.first, area.last)])
    columns = sorted([corner.column if corner.column_absolute else corner.column + column
                      for corner in (area.first, area.last)])
    if area.whole_columns:
        text = f"{column_name(columns[0])}:{column_name(columns[1])}"
    elif area.whole_rows:
        text = f"{rows[0] + 1}:{rows[1] + 1}"
    else:
        first = f"{column_name(columns[0])}{rows[0] + 1}"
        last = f"{column_name(columns[1])}{rows[1] + 1}"
        text = first if first == last else f"{first}:{last}"
    return _prefix(area.sheet, area.last_sheet) + text
