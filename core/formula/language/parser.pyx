"""Text of a formula to its tree, the tree back to text, and what a tree refers to.

The grammar, in the order of the code; every rule is one method of `_Reader`. Blanks and line ends may stand between
any two symbols; where two references have only blanks between them, the blank itself is the operator ` `.

    formula      = "=" expression
    expression   = comparison, by precedence climbing over the binary operators, all grouping to the left:
                   1  = <> < > <= >=        2  &        3  + -        4  * /        5  ^
    operand      = { "+" | "-" | "@" } reference { "%" }          a sign binds before % and ^: -2^2 is 4
    reference    = intersection { "," intersection }              unions: in parentheses and at the top only
    intersection = range { " " range }
    range        = postfix { [ "." ] ":" [ "." ] postfix }        a dot trims: A1:.A9 is TRIMRANGE(A1:A9,2,2)
    postfix      = primary { "#" | "(" arguments ")" }            A1#   LAMBDA(x,x)(1)
    primary      = number | text | error | array | "(" expression ")" | TRUE | FALSE
                 | [ sheets "!" ] ( cell | columns | rows | name | error )
                 | name "(" arguments ")" | [ name ] "[" columns of a table "]"
    sheets       = name [ ":" name ] | "'" ... "'"                with "[book]" before the name, outside or inside the quotes
    cell         = [ "$" ] letters [ "$" ] digits
    columns      = [ "$" ] letters [ "." ] ":" [ "." ] [ "$" ] letters
    rows         = [ "$" ] digits [ "." ] ":" [ "." ] [ "$" ] digits
    arguments    = [ [ expression ] { "," [ expression ] } ]
    array        = "{" constant { "," constant } { ";" constant { "," constant } } "}"

Depth: parentheses and calls nest at most NESTING_MAX deep (the only recursion here); chains of operators are loops, and
no path of a tree is longer than DEPTH_MAX nodes, so that whoever walks a tree may do it by plain recursion.
"""

cimport cython
from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ, PyUnicode_Substring,
)

from core.formula.language.errors import SyntaxFault
from core.formula.language.tree cimport (
    Area, ArrayLiteral, Binary, Call, Cell, Empty, Invoke, Literal, Name, Node, Spill, Structured, Unary,
)
from core.formula.values.value import ALL_ERRORS
from core.grid.address cimport SHEET_COLUMNS, SHEET_ROWS
from core.grid.address import COLUMNS_MAX, ROWS_MAX, column_name

CHARACTERS_MAX = 8_192
"""Characters of a formula, the '=' included: Excel's own limit."""

NESTING_MAX = 64
"""Parentheses and calls inside each other: Excel's own limit for calls."""

ARGUMENTS_MAX = 255
"""Arguments of one call: Excel's own limit."""

DEPTH_MAX = 600
"""Nodes on the longest path of a tree, such as the terms of A1+A2+...: keeps recursive walks inside Python's limit of
1,000 frames and any C stack."""

cdef enum:
    _NESTING = 64
    _ARGUMENTS = 255
    _DEPTH = 600
    _PREFIXES = 64

assert (NESTING_MAX, ARGUMENTS_MAX, DEPTH_MAX) == (_NESTING, _ARGUMENTS, _DEPTH)
assert (ROWS_MAX, COLUMNS_MAX) == (SHEET_ROWS, SHEET_COLUMNS)

cdef dict _ERRORS = {error.text: error for error in ALL_ERRORS}
cdef dict _ITEMS = {item.casefold(): item for item in ("#All", "#Data", "#Headers", "#Totals", "#This Row")}
cdef str _REF_TEXT = "#REF!"
cdef dict _TRIMS = {"_TRO_LEADING": 1, "_TRO_TRAILING": 2, "_TRO_ALL": 3}  # how a file has `.:`, `:.` and `.:.`


def parse(str text not None, Py_ssize_t row=0, Py_ssize_t column=0):
    """The tree of a formula, `text` with its '='; (row, column) is its own cell, 0-based, from which the relative
    parts of references are measured.

    Raises:
        SyntaxFault: not a formula, or past a limit; with the position. `suggest.parse_or_suggest` adds suggestions.
    """
    cdef _Reader reader = _Reader.__new__(_Reader)
    reader.text = text
    reader.kind = PyUnicode_KIND(text)
    reader.data = PyUnicode_DATA(text)
    reader.size = PyUnicode_GET_LENGTH(text)
    reader.row = row
    reader.column = column
    return reader.formula()


include "_characters.pxi"


cdef inline int _level(Py_UCS4 c) noexcept nogil:
    """How strongly a binary operator binds; 0 for any other character."""
    if c == u"+" or c == u"-":
        return 3
    if c == u"*" or c == u"/":
        return 4
    if c == u"=" or c == u"<" or c == u">":
        return 1
    if c == u"&":
        return 2
    if c == u"^":
        return 5
    return 0


cdef str _operator(Py_UCS4 c):
    if c == u"+":
        return "+"
    if c == u"-":
        return "-"
    if c == u"*":
        return "*"
    if c == u"/":
        return "/"
    if c == u"=":
        return "="
    if c == u"<":
        return "<"
    if c == u">":
        return ">"
    if c == u"&":
        return "&"
    if c == u"^":
        return "^"
    if c == u"@":
        return "@"
    return "%"


cdef bint _refers(Node node):
    """Whether a node can be a reference, which `:`, ` `, `,` and `#` demand."""
    if isinstance(node, Binary):
        return (<Binary> node).operator in (":", " ", ",")
    if isinstance(node, Literal):
        return isinstance((<Literal> node).value, type(ALL_ERRORS[0]))
    if isinstance(node, Unary):
        return (<Unary> node).operator == "@"
    return not isinstance(node, (ArrayLiteral, Empty))


cdef Cell _cell(str sheet, str last_sheet, Py_ssize_t row, Py_ssize_t column, bint row_absolute, bint column_absolute,
                Py_ssize_t start, Py_ssize_t end):
    cdef Cell node = Cell.__new__(Cell)
    node.sheet = sheet
    node.last_sheet = last_sheet
    node.row = row
    node.column = column
    node.row_absolute = row_absolute
    node.column_absolute = column_absolute
    node.start = start
    node.end = end
    return node


cdef Literal _literal(value, Py_ssize_t start, Py_ssize_t end):
    cdef Literal node = Literal.__new__(Literal)
    node.value = value
    node.start = start
    node.end = end
    return node


cdef str _stripped(str name):
    """A name without Excel's prefixes for functions and parameters newer than the file format."""
    cdef str low
    while name.startswith("_") and len(name) > 6:
        low = name[:7].lower()
        if low == "_xludf.":
            name = name[7:]
        elif low[:6] in ("_xlfn.", "_xlws.", "_xlpm.", "_xlop."):
            name = name[6:]
        else:
            break
    return name


cdef str _bare(str word):
    """A name without its prefix, unless the rest would read as something else than a name."""
    cdef str rest = _stripped(word)
    return rest if _opens_name(ord(rest[0])) and not _reads_otherwise(rest) else word


# ---- the grammar ----------------------------------------------------------------------------------------------------

@cython.final
cdef class _Reader:
    cdef str text
    cdef int kind
    cdef void* data
    cdef Py_ssize_t size
    cdef Py_ssize_t at  # the next character to read; after a rule, the end of what it read
    cdef Py_ssize_t row
    cdef Py_ssize_t column
    cdef int nesting
    cdef int depth  # of the node that was read last
    cdef bint unions  # whether a comma joins references here
    cdef Py_ssize_t[_NESTING] opened

    cdef inline Py_UCS4 look(self, Py_ssize_t at) noexcept:
        return PyUnicode_READ(self.kind, self.data, at) if at < self.size else 0

    cdef inline Py_UCS4 skip(self) noexcept:
        """Pass over blanks, and give the character behind them."""
        cdef Py_UCS4 c = self.look(self.at)
        while _blank(c):
            self.at += 1
            c = self.look(self.at)
        return c

    cdef inline Py_ssize_t past_blanks(self, Py_ssize_t at) noexcept:
        while _blank(self.look(at)):
            at += 1
        return at

    cdef inline str slice(self, Py_ssize_t start, Py_ssize_t end):
        return <str> PyUnicode_Substring(self.text, start, end)

    cdef int grow(self, int other) except -1:
        """Set the depth of a node over two others: the one just read, and `other`."""
        if other > self.depth:
            self.depth = other
        self.depth += 1
        if self.depth > _DEPTH:
            raise SyntaxFault(f"more than {DEPTH_MAX} operations inside each other or in one chain", self.at)
        return 0

    cdef int open(self, Py_ssize_t at) except -1:
        if self.nesting >= _NESTING:
            raise SyntaxFault(f"nested deeper than {NESTING_MAX} levels", at)
        self.opened[self.nesting] = at
        self.nesting += 1
        return 0

    cdef Node formula(self):
        cdef Node node
        if self.size > CHARACTERS_MAX:
            raise SyntaxFault(f"longer than {CHARACTERS_MAX:,} characters", CHARACTERS_MAX)
        if self.look(0) != u"=":
            raise SyntaxFault("a formula begins with '='", 0)
        self.at = 1
        self.unions = True
        node = self.expression(1)
        self.skip()
        if self.at < self.size:
            raise self.unexpected()
        return node

    cdef object unexpected(self):
        """The fault of a character that continues nothing."""
        cdef Py_UCS4 c = self.skip()
        if self.at >= self.size:
            if self.nesting:
                return SyntaxFault(f"unclosed parenthesis opened at {self.opened[self.nesting - 1]}", self.at)
            return SyntaxFault("a value is expected, and the formula ends", self.at)
        if c == u")":
            return SyntaxFault("a closing parenthesis that was never opened", self.at)
        if c == u";":
            return SyntaxFault("arguments are separated by ',', not by ';'", self.at)
        if c == u",":
            return SyntaxFault("a comma stands between arguments, or joins references", self.at)
        if c == u"]" or c == u"}":
            return SyntaxFault(f"a closing {chr(c)!r} that was never opened", self.at)
        if _in_name(c) or c in u"\"'({[#@$":
            return SyntaxFault(f"an operator is missing before {chr(c)!r}", self.at)
        return SyntaxFault(f"{chr(c)!r} means nothing here", self.at)

    cdef object missing(self):
        """The fault of a place where a value should begin."""
        cdef Py_UCS4 c = self.skip()
        if self.at >= self.size:
            return self.unexpected()
        if c == u"$":
            return SyntaxFault("a column or a row is expected after '$'", self.at)
        if _level(c) or c in u"),;:%]}!":
            return SyntaxFault(f"a value is expected before {chr(c)!r}", self.at)
        return SyntaxFault(f"{chr(c)!r} means nothing here", self.at)

    cdef Node expression(self, int lowest):
        cdef Py_ssize_t start, end, at
        cdef Py_UCS4 c, second
        cdef int level, depth
        cdef str symbol
        cdef Node left, right
        cdef Binary node
        self.skip()
        start = self.at
        left = self.operand()
        while True:
            at = self.past_blanks(self.at)
            c = self.look(at)
            level = _level(c)
            if level == 0 or level < lowest:
                return left
            at += 1
            if level == 1:
                second = self.look(at)
                if c == u"<" and second == u">":
                    symbol = "<>"
                    at += 1
                elif second == u"=" and c != u"=":
                    symbol = "<=" if c == u"<" else ">="
                    at += 1
                else:
                    symbol = _operator(c)
            else:
                symbol = _operator(c)
            depth = self.depth
            self.at = at
            right = self.expression(level + 1)
            self.grow(depth)
            node = Binary.__new__(Binary)
            node.operator = symbol
            node.left = left
            node.right = right
            node.start = start
            node.end = self.at
            left = node

    cdef Node operand(self):
        cdef Py_ssize_t[_PREFIXES] places
        cdef int prefixes = 0
        cdef Py_ssize_t at, start
        cdef Node node
        cdef Py_UCS4 c = self.skip()
        start = self.at
        while c == u"-" or c == u"+" or c == u"@":
            if prefixes == _PREFIXES:
                raise SyntaxFault(f"more than {_PREFIXES} signs in a row", self.at)
            places[prefixes] = self.at
            prefixes += 1
            self.at += 1
            c = self.skip()
        node = self.reference()
        while prefixes:
            prefixes -= 1
            node = self.unary(_operator(self.look(places[prefixes])), node, places[prefixes])
        while True:
            at = self.past_blanks(self.at)
            if self.look(at) != u"%":
                return node
            self.at = at + 1
            node = self.unary("%", node, start)

    cdef Node unary(self, str symbol, Node operand, Py_ssize_t start):
        cdef Unary node = Unary.__new__(Unary)
        node.operator = symbol
        node.operand = operand
        node.start = start
        node.end = self.at
        self.grow(0)
        return node

    cdef Node join(self, str symbol, Node left, Node right, Py_ssize_t start, int depth, Py_ssize_t place):
        """An operator between references; two plain corners of one sheet become an Area."""
        cdef Binary node
        cdef Cell first, last
        if not _refers(left) or not _refers(right):
            word = {":": "':' stands", " ": "a blank stands", ",": "a comma stands"}[symbol]
            raise SyntaxFault(f"{word} between references only", place)
        if symbol == ":" and type(left) is Cell and type(right) is Cell and self.look(self.at - 1) != u")":
            first, last = left, right
            if self.look(start) != u"(" and (last.sheet is None or _same_sheets(first, last)):
                self.depth += 1
                return _area(first, last, start, self.at)
        self.grow(depth)
        node = Binary.__new__(Binary)
        node.operator = symbol
        node.left = left
        node.right = right
        node.start = start
        node.end = self.at
        return node

    cdef Node reference(self):
        cdef Py_ssize_t start = self.at
        cdef Py_ssize_t at
        cdef int depth
        cdef Node right
        cdef Node left = self.intersection()
        while self.unions:
            at = self.past_blanks(self.at)
            if self.look(at) != u",":
                break
            depth = self.depth
            self.at = at + 1
            self.skip()
            right = self.intersection()
            left = self.join(",", left, right, start, depth, at)
        return left

    cdef Node intersection(self):
        cdef Py_ssize_t start = self.at
        cdef Py_ssize_t place
        cdef int depth
        cdef Py_UCS4 c
        cdef Node right
        cdef Node left = self.range()
        while _blank(self.look(self.at)):
            place = self.at
            c = self.look(self.past_blanks(place))
            if not (_in_name(c) or c == u"$" or c == u"'" or c == u"[" or c == u"(" or c == u"#") or not _refers(left):
                break
            depth = self.depth
            self.skip()
            right = self.range()
            left = self.join(" ", left, right, start, depth, place)
        return left

    cdef Node range(self):
        cdef Py_ssize_t start = self.at
        cdef Py_ssize_t at
        cdef int depth
        cdef int sides
        cdef Node right
        cdef Node left = self.postfix()
        while True:
            at = self.past_blanks(self.at)
            sides = self.colon(&at)
            if sides < 0:
                return left
            depth = self.depth
            self.at = at
            right = self.postfix()
            left = self.join(":", left, right, start, depth, at - 1)
            if sides:
                left = self.trimmed(left, sides, start)

    cdef inline int colon(self, Py_ssize_t *at) noexcept:
        """Move past a colon, its dots, and the blanks behind it: which sides are trimmed, as TRIMRANGE counts them (1 the
        leading, 2 the trailing one); -1 where there is no colon."""
        cdef int sides = 0
        cdef Py_ssize_t place = at[0]
        if self.look(place) == u"." and self.look(place + 1) == u":":
            sides = 1
            place += 1
        if self.look(place) != u":":
            return -1
        place += 1
        if self.look(place) == u".":
            sides |= 2
            place += 1
        at[0] = self.past_blanks(place)
        return sides

    cdef Node trimmed(self, Node operand, int sides, Py_ssize_t start):
        """A range between dots, or in the call that a file has in their place."""
        cdef Call node = Call.__new__(Call)
        self.grow(0)
        node.name = "TRIMRANGE"
        node.arguments = (operand, _literal(<double> sides, self.at, self.at), _literal(<double> sides, self.at, self.at))
        node.start = start
        node.end = self.at
        return node

    cdef Node postfix(self):
        cdef Py_ssize_t start = self.at
        cdef Node node = self.primary()
        cdef Spill spill
        cdef Invoke invoke
        cdef tuple arguments
        cdef int depth
        cdef Py_UCS4 c
        while True:
            c = self.look(self.at)
            if c == u"#" and _refers(node) and type(node) is not Literal:
                self.at += 1
                spill = Spill.__new__(Spill)
                spill.operand = node
                spill.start = start
                spill.end = self.at
                self.grow(0)
                node = spill
            elif c == u"(" and (type(node) is Call or type(node) is Invoke or self.look(self.at - 1) == u")"):
                depth = self.depth
                arguments = self.arguments()
                self.grow(depth)
                invoke = Invoke.__new__(Invoke)
                invoke.callee = node
                invoke.arguments = arguments
                invoke.start = start
                invoke.end = self.at
                node = invoke
            else:
                return node

    cdef Node primary(self):
        cdef Py_ssize_t start = self.at
        cdef Py_UCS4 c = self.look(start)
        cdef Node node
        cdef bint unions
        self.depth = 1
        if _letter(c) or c == u"$":
            return self.word(None, None, start)
        if _digit(c) or (c == u"." and _digit(self.look(start + 1))):
            return self.number(None, None, start)
        if c == u"(":
            self.open(start)
            unions = self.unions
            self.unions = True
            self.at = start + 1
            node = self.expression(1)
            if self.skip() != u")":
                raise self.unexpected()
            self.at += 1
            self.nesting -= 1
            self.unions = unions
            return node
        if c == u'"':
            return self.string()
        if c == u"#":
            return self.error(start)
        if c == u"'":
            return self.quoted()
        if c == u"[":
            return self.bracketed()
        if c == u"{":
            return self.array()
        if _opens_name(c):
            return self.word(None, None, start)
        raise self.missing()

    # ---- constants ----

    cdef Node number(self, str sheet, str last_sheet, Py_ssize_t start):
        """A number, or a run of rows (which is all that may follow a sheet)."""
        cdef Py_ssize_t at = self.at
        cdef Node rows
        while _digit(self.look(at)):
            at += 1
        if sheet is not None or self.colon_follows(at):
            rows = self.rows(sheet, last_sheet, start)
            if rows is not None:
                return rows
            if sheet is not None:
                raise SyntaxFault("a cell or a name is expected after '!'", self.at)
        return self.figure(start)

    cdef inline bint colon_follows(self, Py_ssize_t at) noexcept:
        at = self.past_blanks(at)
        return self.look(at) == u":" or (self.look(at) == u"." and self.look(at + 1) == u":")

    cdef Literal figure(self, Py_ssize_t start):
        cdef Py_ssize_t at = self.at
        cdef Py_ssize_t mark
        cdef double value = 0
        cdef Py_UCS4 c = self.look(at)
        while _digit(c):
            value = value * 10 + <Py_ssize_t> (<unsigned int> c - 48)
            at += 1
            c = self.look(at)
        if at - self.at <= 15 and c != u"." and c != u"E" and c != u"e":
            self.at = at
            return _literal(value, start, at)
        if c == u".":
            at += 1
            while _digit(self.look(at)):
                at += 1
        c = self.look(at)
        if c == u"E" or c == u"e":
            mark = at + 1
            c = self.look(mark)
            if c == u"+" or c == u"-":
                mark += 1
            if _digit(self.look(mark)):
                at = mark
                while _digit(self.look(at)):
                    at += 1
        self.at = at
        value = float(self.slice(start, at))
        if value - value != 0:
            raise SyntaxFault("a number larger than 1E+308", start)
        return _literal(value, start, at)

    cdef Node string(self):
        cdef Py_ssize_t start = self.at
        cdef Py_ssize_t at = start + 1
        cdef bint doubled = False
        cdef Py_UCS4 c
        cdef str value
        while True:
            if at >= self.size:
                raise SyntaxFault(f"unclosed text opened at {start}", self.size)
            c = self.look(at)
            if c == u'"':
                if self.look(at + 1) != u'"':
                    break
                doubled = True
                at += 1
            at += 1
        value = self.slice(start + 1, at)
        self.at = at + 1
        return _literal(value.replace('""', '"') if doubled else value, start, self.at)

    cdef object error_value(self):
        """The error value that is written here."""
        cdef Py_ssize_t at = self.at + 1
        cdef Py_UCS4 c = self.look(at)
        while _letter(c) or _digit(c) or c == u"/" or c == u"_":
            at += 1
            c = self.look(at)
        if c == u"!" or c == u"?":
            at += 1
        text = self.slice(self.at, at).upper()
        found = _ERRORS.get(text)
        if found is None and text.startswith("#N/A"):  # nothing closes #N/A: the next word may follow at once
            found, at = _ERRORS["#N/A"], self.at + 4
        if found is None:
            raise SyntaxFault(f"{text} is no error value", self.at)
        self.at = at
        return found

    cdef Node error(self, Py_ssize_t start):
        """An error value; #REF! also takes what a deleted sheet left behind it, as in #REF!A1."""
        value = self.error_value()
        cdef Node rest
        if value.text == _REF_TEXT and (_letter(self.look(self.at)) or self.look(self.at) == u"$"):
            rest = self.word("#REF", None, start)
            if type(rest) is Call:
                return rest
        self.depth = 1
        return _literal(value, start, self.at)

    cdef Node array(self):
        cdef Py_ssize_t start = self.at
        cdef list rows = []
        cdef list cells = []
        cdef Py_UCS4 c
        cdef ArrayLiteral node
        while True:
            self.at += 1
            cells.append(self.constant())
            c = self.skip()
            if c == u",":
                continue
            if c != u";" and c != u"}":
                if self.at >= self.size:
                    raise SyntaxFault(f"unclosed array opened at {start}", self.at)
                raise SyntaxFault("an array holds constants with ',' and ';' between them", self.at)
            rows.append(tuple(cells))
            if len(cells) != len(<tuple> rows[0]):
                raise SyntaxFault("the rows of an array must be equally long", self.at)
            cells = []
            if c == u"}":
                break
        self.at += 1
        node = ArrayLiteral.__new__(ArrayLiteral)
        node.rows = tuple(rows)
        node.start = start
        node.end = self.at
        self.depth = 1
        return node

    cdef object constant(self):
        """A value inside an array constant."""
        cdef Py_UCS4 c = self.skip()
        cdef bint minus = False
        cdef bint signed = False
        cdef Py_ssize_t start
        while c == u"-" or c == u"+":
            minus ^= c == u"-"
            signed = True
            self.at += 1
            c = self.skip()
        start = self.at
        if _digit(c) or c == u".":
            if c == u"." and not _digit(self.look(start + 1)):
                raise self.missing()
            value = self.figure(start).value
            return -value if minus else value
        if not signed:
            if c == u'"':
                return (<Literal> self.string()).value
            if c == u"#":
                return self.error_value()
            while _letter(self.look(self.at)):
                self.at += 1
            word = self.slice(start, self.at).upper()
            if word == "TRUE" or word == "FALSE":
                return word == "TRUE"
            if word:
                raise SyntaxFault("an array holds constants, no references or names", start)
        raise self.missing()

    # ---- references and names ----

    cdef Node rows(self, str sheet, str last_sheet, Py_ssize_t start):
        """A run of rows at this place, 1:3 or $1:$3; None where there is none."""
        cdef Py_ssize_t at = self.at
        cdef Py_ssize_t row, end, place
        cdef int part
        cdef int sides = 0
        cdef bint absolute
        cdef Cell first = None
        cdef Cell last = None
        cdef Area node
        for part in range(2):
            place = at
            absolute = self.look(at) == u"$"
            at += absolute
            end = at
            row = 0
            while _digit(self.look(end)) and end - at < 8:
                row = row * 10 + <Py_ssize_t> (<unsigned int> self.look(end) - 48)
                end += 1
            if end == at or not 1 <= row <= SHEET_ROWS:
                return None
            row -= 1
            if part == 0:
                first = _cell(None, None, row if absolute else row - self.row, 0, absolute, True, place, end)
                at = self.past_blanks(end)
                sides = self.colon(&at)
                if sides < 0:
                    return None
            else:
                last = _cell(None, None, row if absolute else row - self.row, SHEET_COLUMNS - 1, absolute, True, place, end)
                if not self.ends_reference(end):
                    return None
                at = end
        self.at = at
        self.depth = 2
        node = _area(first, last, start, at)
        node.sheet = sheet
        node.last_sheet = last_sheet
        node.whole_rows = True
        return self.trimmed(node, sides, start) if sides else node

    cdef Node columns(self, str sheet, str last_sheet, Py_ssize_t start):
        """A run of columns at this place, A:C or $A:$C; None where there is none."""
        cdef Py_ssize_t at = self.at
        cdef Py_ssize_t column, end, place
        cdef int part
        cdef int sides = 0
        cdef bint absolute
        cdef Cell first = None
        cdef Cell last = None
        cdef Area node
        for part in range(2):
            place = at
            absolute = self.look(at) == u"$"
            at += absolute
            end = at
            column = 0
            while _letter(self.look(end)) and end - at < 4:
                column = column * 26 + <Py_ssize_t> ((<unsigned int> self.look(end) | 32) - 96)
                end += 1
            if not 1 <= end - at <= 3 or column > SHEET_COLUMNS:
                return None
            column -= 1
            if part == 0:
                first = _cell(None, None, 0, column if absolute else column - self.column, True, absolute, place, end)
                at = self.past_blanks(end)
                sides = self.colon(&at)
                if sides < 0:
                    return None
            else:
                last = _cell(None, None, SHEET_ROWS - 1, column if absolute else column - self.column, True, absolute,
                             place, end)
                if not self.ends_reference(end):
                    return None
                at = end
        self.at = at
        self.depth = 2
        node = _area(first, last, start, at)
        node.sheet = sheet
        node.last_sheet = last_sheet
        node.whole_columns = True
        return self.trimmed(node, sides, start) if sides else node

    cdef Node word(self, str sheet, str last_sheet, Py_ssize_t start):
        """What begins with a letter or '$': a cell, columns, rows, a name, a call, a table, or a sheet."""
        cdef Py_ssize_t at = self.at
        cdef Py_ssize_t column = 0
        cdef Py_ssize_t row = 0
        cdef Py_ssize_t letters, digits
        cdef bint column_absolute, row_absolute
        cdef Py_UCS4 c = self.look(at)
        cdef Node node
        column_absolute = c == u"$"
        at += column_absolute
        letters = at
        c = self.look(at)
        while _letter(c) and at - letters < 4:
            column = column * 26 + <Py_ssize_t> ((<unsigned int> c | 32) - 96)
            at += 1
            c = self.look(at)
        letters = at - letters
        if 1 <= letters <= 3 and column <= SHEET_COLUMNS:
            row_absolute = c == u"$"
            at += row_absolute
            digits = at
            c = self.look(at)
            if 49 <= c <= 57:
                while _digit(c) and at - digits < 8:
                    row = row * 10 + <Py_ssize_t> (<unsigned int> c - 48)
                    at += 1
                    c = self.look(at)
                if row <= SHEET_ROWS and self.ends_reference(at):
                    self.at = at
                    return _cell(sheet, last_sheet, row - 1 if row_absolute else row - 1 - self.row,
                                 column - 1 if column_absolute else column - 1 - self.column,
                                 row_absolute, column_absolute, start, at)
            elif c == u":" or c == u"." or _blank(c):
                node = self.columns(sheet, last_sheet, start)
                if node is not None:
                    return node
        elif column_absolute and letters == 0:
            node = self.rows(sheet, last_sheet, start)
            if node is not None:
                return node
        if column_absolute:
            raise self.missing()
        return self.named(sheet, last_sheet, start)

    cdef inline bint ends_reference(self, Py_ssize_t at) noexcept:
        return _ends_reference(self.look(at), self.look(at + 1))

    cdef inline Py_ssize_t name_end(self, Py_ssize_t at) noexcept:
        while _in_name(self.look(at)):
            at += 1
        return at

    cdef Node named(self, str sheet, str last_sheet, Py_ssize_t start):
        """What begins with a name that is no cell."""
        cdef Py_ssize_t end = self.name_end(self.at)
        cdef Py_ssize_t begin = self.at
        cdef Py_ssize_t other
        cdef Py_UCS4 c = self.look(end)
        cdef str word
        cdef Name node
        if last_sheet is not None:
            raise SyntaxFault("a run of sheets is followed by cells", begin)
        if c == u"(":
            return self.call(sheet, start, begin, end)
        if c == u"!" and sheet is None:
            self.at = end + 1
            return self.qualified(self.slice(begin, end), None, start)
        if c == u":" and sheet is None:
            other = self.name_end(end + 1)
            if other > end + 1 and self.look(other) == u"!":
                self.at = other + 1
                return self.qualified(self.slice(begin, end), self.slice(end + 1, other), start)
        if c == u":" and end - begin > 1 and self.look(end - 1) == u".":
            end -= 1  # the dot of `.:`
            c = u"."
        word = self.slice(begin, end)
        self.at = end
        if c == u"[":
            return self.structured(_prefix(sheet, None) + word, start)
        if sheet is None:
            if (end - begin == 4 or end - begin == 5) and word.upper() in ("TRUE", "FALSE"):
                return _literal(end - begin == 4, start, end)
            other = self.past_blanks(end)
            if other > end and self.look(other) == u"(":
                self.at = other
                return self.call(None, start, begin, end)
        node = Name.__new__(Name)
        node.sheet = sheet
        node.name = _bare(word) if word.startswith("_xl") else word
        node.start = start
        node.end = end
        return node

    cdef Node qualified(self, str sheet, str last_sheet, Py_ssize_t start):
        """What follows a sheet and its '!'."""
        cdef Py_UCS4 c = self.look(self.at)
        if last_sheet is not None and sheet.casefold() == last_sheet.casefold():
            last_sheet = None
        if c == u"#":
            self.error_value()
            return _literal(_ERRORS[_REF_TEXT], start, self.at)
        if _digit(c):
            return self.number(sheet, last_sheet, start)
        if _opens_name(c) or c == u"$":
            return self.word(sheet, last_sheet, start)
        raise SyntaxFault("a cell or a name is expected after '!'", self.at)

    cdef Node quoted(self):
        """'A sheet'!A1: a quote inside is doubled; a colon outside a book's path makes a 3-D reference."""
        cdef Py_ssize_t start = self.at
        cdef Py_ssize_t at = start + 1
        cdef str sheet, book, rest, first, last
        while True:
            if at >= self.size:
                raise SyntaxFault(f"unclosed sheet name opened at {start}", self.size)
            if self.look(at) == u"'":
                if self.look(at + 1) != u"'":
                    break
                at += 1
            at += 1
        if self.look(at + 1) != u"!":
            raise SyntaxFault("'!' is expected after a quoted sheet; text stands in double quotes", at + 1)
        sheet = self.slice(start + 1, at).replace("''", "'")
        if not sheet:
            raise SyntaxFault("an empty sheet name", start)
        self.at = at + 2
        book, bracket, rest = sheet.rpartition("]")
        first, colon, last = rest.partition(":")
        if colon and first and last:
            return self.qualified(book + bracket + first, last, start)
        return self.qualified(sheet, None, start)

    cdef Node bracketed(self):
        """[1]Sheet1!A1 of another workbook, or a column of the formula's own table."""
        cdef Py_ssize_t start = self.at
        cdef Py_ssize_t at = start + 1
        cdef Py_ssize_t end, other
        while at < self.size and self.look(at) != u"]" and self.look(at) != u"[":
            at += 1
        if self.look(at) == u"]" and at > start + 1:
            end = self.name_end(at + 1)
            if self.look(end) == u"!":
                self.at = end + 1
                return self.qualified(self.slice(start, end), None, start)
            if self.look(end) == u":" and end > at + 1:
                other = self.name_end(end + 1)
                if other > end + 1 and self.look(other) == u"!":
                    self.at = other + 1
                    return self.qualified(self.slice(start, end), self.slice(end + 1, other), start)
        return self.structured(None, start)

    # ---- tables ----

    cdef Node structured(self, str table, Py_ssize_t start):
        """[Col], [@Col], [[#Headers],[Col]], [[a]:[b]], [] at this place."""
        cdef Structured node = Structured.__new__(Structured)
        cdef Py_ssize_t opened = self.at
        cdef list items = []
        cdef str word, item
        cdef Py_UCS4 c
        cdef Py_ssize_t at = self.past_blanks(opened + 1)
        c = self.look(at)
        if c == u"@":
            items.append("#This Row")
            at = self.past_blanks(at + 1)
            c = self.look(at)
        self.at = at
        if c == u"[":
            self.inner(node, items, opened)
        elif c == u"]":
            self.at += 1
        else:
            self.at = at if items else opened + 1
            word = self.column_text(opened)
            if c == u"#" and not items:
                items.append(self.item(word, at))
            else:
                node.first = node.last = word
        if len(items) > 3:
            raise SyntaxFault("a table's part is named more than once", opened)
        node.table = table
        node.items = tuple(items)
        node.start = start
        node.end = self.at
        self.depth = 1
        return node

    cdef int inner(self, Structured node, list items, Py_ssize_t opened) except -1:
        """The bracketed parts inside the brackets of a table, up to its closing one."""
        cdef Py_ssize_t place
        cdef str word
        cdef bint named = bool(items)
        cdef Py_UCS4 c
        while True:
            place = self.at + 1
            self.at = place
            word = self.column_text(opened)
            if self.look(place) == u"#":
                if named or node.first is not None:
                    raise SyntaxFault("the parts of a table stand before its columns", place)
                items.append(self.item(word, place))
            elif node.first is None:
                node.first = node.last = word
                if self.skip() == u":":
                    self.at += 1
                    if self.skip() != u"[":
                        raise SyntaxFault("a column in brackets is expected after ':'", self.at)
                    self.at += 1
                    node.last = self.column_text(opened)
            else:
                raise SyntaxFault("columns of a table that are apart need a union of two references", place)
            c = self.skip()
            if c == u"]":
                self.at += 1
                return 0
            if c != u",":
                if self.at >= self.size:
                    raise SyntaxFault(f"unclosed bracket opened at {opened}", self.at)
                raise SyntaxFault("',' or ']' is expected inside a table's brackets", self.at)
            self.at += 1
            if self.skip() != u"[":
                raise SyntaxFault("a bracketed column is expected", self.at)

    cdef str column_text(self, Py_ssize_t opened):
        """The text up to the closing bracket, its escapes by ' resolved; leaves behind that bracket."""
        cdef Py_ssize_t start = self.at
        cdef bint escaped = False
        cdef Py_UCS4 c = self.look(start)
        cdef list letters
        while c != u"]":
            if self.at >= self.size:
                raise SyntaxFault(f"unclosed bracket opened at {opened}", self.size)
            if c == u"[":
                raise SyntaxFault("a bracket in a column's name is written '[", self.at)
            if c == u"'":
                escaped = True
                self.at += 1
            self.at += 1
            c = self.look(self.at)
        if self.at == start:
            raise SyntaxFault("a column without a name", start)
        self.at += 1
        if not escaped:
            return self.slice(start, self.at - 1)
        letters = []
        while start < self.at - 1:
            if self.look(start) == u"'":
                start += 1
            letters.append(chr(self.look(start)))
            start += 1
        return "".join(letters)

    cdef str item(self, str word, Py_ssize_t place):
        cdef str found = <str> _ITEMS.get(word.strip().casefold())
        if found is None:
            raise SyntaxFault(f"{word} is no part of a table: #All, #Data, #Headers, #Totals, #This Row", place)
        return found

    # ---- calls ----

    cdef tuple arguments(self):
        """The arguments at an opening parenthesis, past the closing one; `depth` is that of the deepest."""
        cdef list found = []
        cdef bint unions = self.unions
        cdef int depth = 0
        cdef Py_UCS4 c
        self.open(self.at)
        self.unions = False
        self.at += 1
        if self.skip() == u")":
            self.at += 1
        else:
            while True:
                c = self.skip()
                if c == u"," or c == u")":
                    found.append(_empty(self.at))
                    self.depth = 1
                else:
                    found.append(self.expression(1))
                    c = self.skip()
                if self.depth > depth:
                    depth = self.depth
                if c != u"," and c != u")":
                    raise self.unexpected()
                self.at += 1
                if c == u")":
                    break
                if len(found) >= _ARGUMENTS:
                    raise SyntaxFault(f"more than {ARGUMENTS_MAX} arguments", self.at)
        self.nesting -= 1
        self.unions = unions
        self.depth = depth
        return tuple(found)

    cdef Node call(self, str sheet, Py_ssize_t start, Py_ssize_t begin, Py_ssize_t end):
        """A call of the name between `begin` and `end`."""
        cdef Call node
        cdef Spill spill
        cdef str written = self.slice(begin, end)
        cdef str name = written.upper()
        cdef tuple arguments
        self.at = end if self.look(end) == u"(" else self.at
        arguments = self.arguments()
        self.grow(0)
        if name.startswith("_"):
            name = _stripped(name)
            if len(arguments) == 1 and name in _TRIMS:
                self.depth -= 1
                return self.trimmed(arguments[0], _TRIMS[name], start)
            if len(arguments) == 1 and type(arguments[0]) is not Empty:
                if name == "SINGLE":
                    self.depth -= 1
                    return self.unary("@", arguments[0], start)
                if name == "ANCHORARRAY":
                    spill = Spill.__new__(Spill)
                    spill.operand = arguments[0]
                    spill.start = start
                    spill.end = self.at
                    return spill
        if name == "LAMBDA" and arguments:
            arguments = self.optional_parameters(arguments)
        node = Call.__new__(Call)
        node.name = name if sheet is None else _prefix(sheet, None) + name
        node.arguments = arguments
        node.start = start
        node.end = self.at
        return node

    cdef tuple optional_parameters(self, tuple arguments):
        """A file writes the optional parameter [x] of a LAMBDA as _xlop.x: make both the same node."""
        cdef list found = list(arguments)
        cdef Structured optional
        cdef Name name
        cdef int index
        for index in range(len(found) - 1):
            if type(found[index]) is Name:
                name = found[index]
                if self.slice(name.start, name.start + 6).lower() == "_xlop.":
                    optional = Structured.__new__(Structured)
                    optional.items = ()
                    optional.first = optional.last = name.name
                    optional.start = name.start
                    optional.end = name.end
                    found[index] = optional
        return tuple(found)


cdef Empty _empty(Py_ssize_t at):
    cdef Empty node = Empty.__new__(Empty)
    node.start = node.end = at
    return node


cdef bint _same_sheets(Cell first, Cell last):
    return (first.sheet is not None and first.sheet.casefold() == last.sheet.casefold()
            and first.last_sheet is None and last.last_sheet is None)


cdef Area _area(Cell first, Cell last, Py_ssize_t start, Py_ssize_t end):
    """The area of two corners, which hand their sheets to it."""
    cdef Area node = Area.__new__(Area)
    node.sheet = first.sheet
    node.last_sheet = first.last_sheet
    first.sheet = first.last_sheet = last.sheet = last.last_sheet = None
    node.first = first
    node.last = last
    node.start = start
    node.end = end
    return node


include "_render.pxi"
