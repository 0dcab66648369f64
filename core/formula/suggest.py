"""What a mistaken formula may have meant, how complex a valid one is, and what to be warned of in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from core.formula.functions.catalogue import FUNCTIONS
from core.formula.language.errors import SyntaxFault
from core.formula.language.parser import CHARACTERS_MAX, NESTING_MAX, parse, render
from core.formula.language.tree import Area, Binary, Call, Cell, Empty, Invoke, Literal, Name, Node
from core.formula.language.walk import children, walk
from core.formula.values.value import REF
from core.remembered import remembered

SUGGESTIONS_MAX: Final = 3
"""Suggestions of one fault: more would be guessing."""

NESTING_DEEP: Final = 7
"""Calls inside each other beyond which a formula is called deep: what Excel itself allowed until 2003."""

_OTHER_NAMES: Final = {
    "AVG": "AVERAGE", "MEAN": "AVERAGE", "CEIL": "CEILING", "LENGTH": "LEN", "SUBSTR": "MID", "SUBSTRING": "MID",
    "POW": "POWER", "STDDEV": "STDEV.S", "VARIANCE": "VAR.S", "TOUPPER": "UPPER", "TOLOWER": "LOWER", "IIF": "IF",
    "IFELSE": "IF", "ELSEIF": "IFS", "CASE": "SWITCH", "ISNULL": "ISBLANK", "COALESCE": "IFERROR", "LOG2": "LOG",
    "ROUNDUPTO": "ROUNDUP", "COUNTUNIQUE": "UNIQUE", "JOIN": "TEXTJOIN", "SPLIT": "TEXTSPLIT", "XIFERROR": "IFERROR",
    "SUMME": "SUM", "WENN": "IF", "SVERWEIS": "VLOOKUP", "WVERWEIS": "HLOOKUP", "MITTELWERT": "AVERAGE",
    "SUMMEWENN": "SUMIF", "ZÄHLENWENN": "COUNTIF", "RUNDEN": "ROUND", "VERGLEICH": "MATCH", "WENNFEHLER": "IFERROR",
    "SOMME": "SUM", "SI": "IF", "RECHERCHEV": "VLOOKUP", "MOYENNE": "AVERAGE", "ARRONDI": "ROUND",
    "SIERREUR": "IFERROR", "SUMA": "SUM", "PROMEDIO": "AVERAGE", "BUSCARV": "VLOOKUP",
    "REDONDEAR": "ROUND", "SOMA": "SUM", "SE": "IF",
}  # fmt: skip
"""Names from other languages and editions, with the function that they mean."""

_SPELLINGS: Final = {
    "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "\u00a0": " ", "\u202f": " ", "\u3000": " ",
    "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "<>", "＝": "=", "（": "(",
    "）": ")", "，": ",", "；": ";", "：": ":",
    "==": "=", "!=": "<>", "=>": ">=", "=<": "<=", "**": "^",
}  # fmt: skip
"""Characters and operators of word processors, keyboards and programming languages, with Excel's."""


# ---- mistaken formulas ----


def parse_or_suggest(text: str, row: int = 0, column: int = 0) -> Node:
    """`parse`, whose fault brings what the formula may have meant.

    Raises:
        SyntaxFault: not a formula, or past a limit; with the position and suggestions.
    """
    try:
        return parse(text, row, column)
    except SyntaxFault as fault:
        raise SyntaxFault(fault.message, fault.position, repairs(text, fault.position)) from None


def repairs(text: str, position: int | None) -> tuple[str, ...]:
    """Return texts near a formula that has a fault at `position` and that are formulas, as "did you mean =...?"."""
    if position is None or not 0 < len(text) <= CHARACTERS_MAX:
        return ()
    candidates: dict[str, None] = {}
    for candidate in _candidates(text, position):
        if candidate != text and candidate not in candidates and _is_formula(candidate):
            candidates[candidate] = None
            if len(candidates) == SUGGESTIONS_MAX:
                break
    return tuple(f"did you mean {candidate}?" for candidate in candidates)


def _is_formula(text: str) -> bool:
    try:
        parse(text)
    except SyntaxFault:
        return False
    return True


def _candidates(text: str, position: int) -> Iterator[str]:
    """Repairs to try, the least intrusive first.

    One kind alone, then all kinds, each also with its ends mended.
    """
    kinds: tuple[Callable[[str], str], ...] = (_begun, _respell, _separate_by_commas, _quote_doubly)
    for kind in kinds:
        yield kind(text)
    yield from _close(text)
    yield from _changed_at(text, position)
    for kind in kinds:
        text = kind(text)
    yield text
    yield from _close(text)


def _begun(text: str) -> str:
    """With the '=' that begins a formula, and without the braces of an array formula."""
    bare = text.strip().removeprefix("\ufeff")
    if bare.startswith("{=") and bare.endswith("}"):
        return bare[1:-1]
    return bare if bare.startswith("=") else f"={bare}"


def _outside_text(text: str, change: Callable[[str], str]) -> str:
    """Return the text with what stands outside of double quotes changed."""
    parts = text.split('"')
    parts[::2] = [change(part) for part in parts[::2]]
    return '"'.join(parts)


def _respell(text: str) -> str:
    def respell(part: str) -> str:
        for wrong, right in _SPELLINGS.items():
            part = part.replace(wrong, right)
        return part

    first, rest = text[:1], text[1:]  # an '=' that begins the formula is no half of '=='
    return respell(first) + _outside_text(rest, respell)


def _separate_by_commas(text: str) -> str:
    """With commas for semicolons outside of array constants."""
    if "{" in text:
        return text
    return _outside_text(text, lambda part: part.replace(";", ","))


def _quote_doubly(text: str) -> str:
    return text.replace("'", '"') if "!" not in text and '"' not in text else text


def _close(text: str) -> Iterator[str]:
    """With its text and parentheses closed, then also without the operator or comma that it ends with."""
    if text.count('"') % 2:
        text += '"'
    for ended in (text, text.rstrip(" ,;+-*/^&=<>")):
        outside = "".join(ended.split('"')[::2])
        unclosed = outside.count("(") - outside.count(")")
        if unclosed <= NESTING_MAX:
            yield ended + ")" * unclosed


def _changed_at(text: str, position: int) -> Iterator[str]:
    """Without the parenthesis or comma at the fault, or with a multiplication put in there."""
    if 0 < position < len(text):
        if text[position] in "),":
            yield text[:position] + text[position + 1 :]
        elif text[position - 1] in " )" or text[position] == "(":
            yield text[:position].rstrip() + "*" + text[position:].lstrip()


# ---- unknown functions ----


def did_you_mean(name: str) -> tuple[str, ...]:
    """Return suggestions for the name of a function that there is not.

    "did you mean SUMIFS?".
    """
    return tuple(f"did you mean {near}?" for near in similar(name.upper()))


@remembered(1_024)
def similar(name: str) -> tuple[str, ...]:
    """Return the names in the catalogue within two edits of an upper-case one (one edit below five letters), nearest
    first.

    An edit adds, drops or changes a letter, or swaps two neighbours.
    """
    known = _OTHER_NAMES.get(name)
    if known is not None and known in FUNCTIONS:
        return (known,)
    if not 1 < len(name) <= 32:
        return ()
    edits = 2 if len(name) >= 5 else 1
    near = {function for part in _shorten(name, edits) for function in _by_part(len(FUNCTIONS)).get(part, ())}
    ranked = sorted((_distance(name, function), -_common(name, function), function) for function in near)
    return tuple(function for distance, _, function in ranked if distance <= edits)[:SUGGESTIONS_MAX]


@lru_cache(maxsize=1)
def _by_part(count: int) -> dict[str, list[str]]:
    """Return the catalogue's names by what is left of them without up to two letters.

    Two names within two edits share one.

    `count` is the size of the catalogue, so that the index follows it.
    """
    index: dict[str, list[str]] = {}
    for name in FUNCTIONS:
        for part in _shorten(name, 2):
            index.setdefault(part, []).append(name)
    return index


def _shorten(name: str, edits: int) -> set[str]:
    parts = shorter = {name}
    for _ in range(edits):
        shorter = {part[:at] + part[at + 1 :] for part in shorter for at in range(len(part))}
        parts = parts | shorter
    return parts


def _common(first: str, second: str) -> int:
    """Return letters that two names begin with alike."""
    count = 0
    for each, opposite in zip(first, second, strict=False):
        if each != opposite:
            break
        count += 1
    return count


def _distance(first: str, second: str) -> int:
    """Edits between two names (optimal string alignment)."""
    before: list[int] = []
    line = list(range(len(second) + 1))
    for i, each in enumerate(first, 1):
        earlier, before, line = before, line, [i]
        for j, opposite in enumerate(second, 1):
            cost = min(before[j] + 1, line[j - 1] + 1, before[j - 1] + (each != opposite))
            if i > 1 and j > 1 and each == second[j - 2] and opposite == first[i - 2]:
                cost = min(cost, earlier[j - 2] + 1)
            line.append(cost)
    return line[-1]


# ---- valid formulas ----


def complexity(tree: Node) -> int:
    """Return how much there is to understand.

    1 for every operator and reference, 2 for every call, and 1 for each level that calls stand inside each other;
    at least 1. =A1+B1 is 3, =IF(SUM(A1:A9)>1,2,3) is 2 + 2 + 1 + 1 + 2 = 8.
    """
    score = deepest = 0
    for node, calls in walk(tree):
        if isinstance(node, Call | Invoke):
            score += 2
            deepest = max(deepest, calls + 1)
        elif not isinstance(node, Literal | Empty):
            score += 1
    return max(score + deepest, 1)


def warnings(tree: Node) -> list[str]:
    """Return what is valid and yet likely to surprise, in the order of the text, each once."""
    messages: dict[str, None] = {}
    known: dict[int, set[str]] = {}
    for node, calls in walk(tree):
        for warning in _warnings_of(node, known):
            messages[warning] = None
        if calls == NESTING_DEEP and isinstance(node, Call):
            messages[f"calls are nested more than {NESTING_DEEP} deep: LET can name the steps"] = None
    return list(messages)


_VOLATILE: Final = {"TODAY", "NOW", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT", "CELL", "INFO"}

_APPROXIMATE: Final = {"VLOOKUP": 4, "HLOOKUP": 4, "MATCH": 3}
"""Lookups that search sorted data unless the argument at this place says otherwise."""


def _warnings_of(node: Node, known: dict[int, set[str]]) -> Iterator[str]:
    match node:
        case Call(name=name, arguments=arguments):
            yield from _call_warnings(name, len(arguments))
            if name == "LET":
                yield from _unused_names(arguments, known)
        case Area(whole_columns=True):
            yield f"{render(node)[1:]} reads whole columns, down to the last used row"
        case Area(whole_rows=True):
            yield f"{render(node)[1:]} reads whole rows, up to the last used column"
        case Binary(operator="/", right=Literal(value=0.0)):
            yield "a division by zero is always #DIV/0!"
        case Binary(operator="=" | "<>" | "<" | ">" | "<=" | ">=", left=left, right=right):
            texts = [side.value for side in (left, right) if isinstance(side, Literal) and _is_number(side.value)]
            yield from (f'a comparison with the text "{text}": a number is never equal to a text' for text in texts)
        case Literal(value=value) if value is REF:
            yield "a reference was lost: #REF!"
        case Cell(sheet=str(sheet)) | Area(sheet=str(sheet)) | Name(sheet=str(sheet)) if "[" in sheet:
            yield f"{sheet} is another workbook, which is not read"


def _call_warnings(name: str, count: int) -> Iterator[str]:
    """Yield what surprises in a call with that many arguments."""
    row = FUNCTIONS.get(name)
    if name in _VOLATILE or (row is not None and row.volatile):
        yield f"{name} is volatile: it is computed again at every recalculation"
    if row is not None and row.caution:
        yield f"{name}: {row.caution}"
    if count < _APPROXIMATE.get(name, 0):
        yield f"{name} without its argument {_APPROXIMATE[name]} matches approximately, in sorted data"


def _is_number(value: Any) -> bool:
    """Return whether a value is a text that reads as a number."""
    return isinstance(value, str) and value.strip().lstrip("+-").replace(".", "", 1).isdecimal()


def _unused_names(arguments: tuple[Node, ...], known: dict[int, set[str]]) -> Iterator[str]:
    """Yield names of a LET that nothing behind them mentions.

    Each argument is walked through once.
    """
    mentioned = _names_in(arguments[-1], known)
    messages = []
    for index in range(len(arguments) - 3, -1, -2):
        name = arguments[index]
        if isinstance(name, Name) and name.name.lower() not in mentioned:
            messages.append(f"{name.name} is named by LET and never used")
        mentioned |= _names_in(name, known) | _names_in(arguments[index + 1], known)
    yield from reversed(messages)


def _names_in(tree: Node, known: dict[int, set[str]]) -> set[str]:
    """Return every name in a tree.

    `known` has those in a LET by its identity, so that LETs inside each other cost no more.
    """
    names: set[str] = set()
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and node.name == "LET":
            if id(node) not in known:
                known[id(node)] = {"let"}.union(*(_names_in(argument, known) for argument in node.arguments))
            names |= known[id(node)]
            continue
        if isinstance(node, Name | Call):
            names.add(node.name.lower())
        waiting.extend(children(node))
    return names
