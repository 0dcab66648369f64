"""A Typst template and its data to the bytes of a PDF.

Tagged, PDF/A-2b, the same bytes for the same arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from typst import Fonts

DATA_BYTES_MAX: Final = 64_000_000
"""Bytes of JSON that a template takes."""

UNSHOWN: Final = "\N{REPLACEMENT CHARACTER}"
"""What stands for a text that no font of ours shows: PDF/A has no boxes in place of letters."""

UNSHOWN_LISTED: Final = 8
"""Of those that a remark names."""

STANDARD: Final = "a-2b"

_ROOT: Final = Path(__file__).parents[1]
"""What a template may import or read: the sources of `core`, so that one reaches `/typeset/house.typ`."""

_TRIES: Final = 4
"""A text may be shown in several types, and each try tells of those that are reached."""

_REFUSED: Final = re.compile(r'^error: .*?the text `"(?P<text>.*)"` could not be displayed', re.MULTILINE)
_ERRORS: Final = re.compile(r"^error: ", re.MULTILINE)
_ESCAPED: Final = re.compile(r"\\(?:u\{(?P<code>[0-9a-f]+)\}|(?P<letter>.))")
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


_PANIC: Final = "PanicException"
"""What pyo3 raises for a panic of the compiler, which is no Exception: Typst 0.15 has one for marks (as Hebrew has them
below its letters) at the end of some lines."""

_UNCOMMON: Final = re.compile("[^\n\t -~\xa0-\u024f\u0370-\u03ff\u0400-\u04ff\u2010-\u205e\u20a0-\u22ff\ufffd]")
"""Letters that no panic is known of are kept after one: Latin, Greek, Cyrillic, signs. All others are replaced."""


_UNSETTLED: Final = re.compile("did not converge|did not stabilize")
"""What the compiler warns of where a template's place depends on itself: page numbers and contents are then wrong."""


class CompilerStopped(RuntimeError):
    """A document that the compiler cannot make, through no fault of its template's or its data's."""


class LayoutUnsettled(RuntimeError):
    """A document whose layout has no end.

    A template asks where it stands and moves by the answer.
    """


@dataclass(frozen=True, slots=True)
class Typeset:
    """A document that was set."""

    data: bytes
    replaced: tuple[str, ...] = ()
    """Texts that no font shows, in order; `UNSHOWN` stands in their place."""

    @property
    def remark(self) -> str | None:
        """What a reader is to know of them."""
        if not self.replaced:
            return None
        codes = ", ".join(" ".join(f"U+{ord(each):04X}" for each in text) for text in self.replaced[:UNSHOWN_LISTED])
        more = "" if len(self.replaced) <= UNSHOWN_LISTED else f" and {len(self.replaced) - UNSHOWN_LISTED} more"
        return f"Letters that this document's fonts lack are shown as a mark: {codes}{more}."


def typeset(
    template: Path, data: object, *, created: datetime, standard: str | None = STANDARD, tagged: bool = True
) -> Typeset:
    """Compile a template, which reads `data` as `json(bytes(sys.inputs.data))`.

    It is never a part of the source.

    `created` (with a zone) is the document's date and the only one that the bytes know. Fonts are those of the
    typst package, not the machine's. What a template imports it names from `core` on ("/typeset/house.typ"). `standard`
    is a PDF standard of typst's ("a-2b"); None asks for none, and then what no font shows is left as an empty box.
    Tags tell a reader's program what is a heading and what a cell; they take about 300 bytes a cell.

    Raises:
        ValueError: more than `DATA_BYTES_MAX` bytes of data.
        typst.TypstError: the template is wrong.
        CompilerStopped: a fault of the compiler itself.
        LayoutUnsettled: the pages' numbers would be wrong, which the compiler takes for a warning.
    """
    from typst import TypstError, compile_with_warnings  # a late import: 30 MB of program that few need

    source = template.read_bytes()
    replaced: dict[str, None] = {}
    for last in range(_TRIES):
        inputs = msgspec.json.encode(data)
        if len(inputs) > DATA_BYTES_MAX:
            raise ValueError(f"a document is made of at most {DATA_BYTES_MAX:,} bytes of data")
        try:
            document, warnings = compile_with_warnings(  # type: ignore[type-var]
                source,
                root=_ROOT,
                font_paths=_fonts(),
                ignore_system_fonts=True,
                sys_inputs={"data": inputs.decode()},
                pdf_standards=[standard] if standard else [],  # type: ignore[list-item]
                pdf_tags=tagged,
                timestamp=created.replace(microsecond=0),  # the bytes know whole seconds
            )
        except TypstError as error:
            fault = _refusal(error.diagnostic)
            if not fault or last == _TRIES - 1:
                raise
        except BaseException as error:
            if type(error).__name__ != _PANIC or last == _TRIES - 1:
                raise
            fault = dict.fromkeys(_UNCOMMON.findall(inputs.decode()))
            if not fault:
                raise CompilerStopped("the compiler of documents stopped, and not for a letter of the data") from error
        else:
            unsettled = [warning.message for warning in warnings if _UNSETTLED.search(warning.message)]
            if unsettled:
                raise LayoutUnsettled(f"{template.name}: {'; '.join(unsettled)}")
            assert isinstance(document, bytes), "a PDF is one file"
            return Typeset(document, tuple(sorted(replaced)))
        replaced.update(fault)
        # The longest first: a letter with an accent before the letter alone.
        any_of = re.compile("|".join(map(re.escape, sorted(fault, key=len, reverse=True))))
        data = _mapped(msgspec.to_builtins(data), any_of)
    raise AssertionError


def typeset_remarked(template: Path, view: Callable[[Sequence[str]], object], *, created: datetime) -> bytes:
    """As `typeset`, of the data that `view` makes with further remarks.

    Where letters are replaced, one says so.
    """
    document = typeset(template, view(()), created=created)
    return (
        document.data if document.remark is None else typeset(template, view((document.remark,)), created=created).data
    )


@lru_cache(maxsize=1)
def _fonts() -> Fonts:
    from typst import Fonts

    return Fonts(include_system_fonts=False)


def _refusal(diagnostic: str) -> dict[str, None]:
    """Return texts that could not be shown, if that is all that was wrong."""
    texts = _REFUSED.findall(diagnostic)
    return dict.fromkeys(map(_unescape, texts)) if len(texts) == len(_ERRORS.findall(diagnostic)) else {}


def _unescape(text: str) -> str:
    return _ESCAPED.sub(
        lambda mark: chr(int(mark["code"], 16)) if mark["code"] else _LETTERS.get(mark["letter"], mark["letter"]), text
    )


def _mapped(data: Any, any_of: re.Pattern[str]) -> Any:
    """Return the data with a sign for each text that is not shown."""
    if isinstance(data, str):
        return any_of.sub(UNSHOWN, data)
    if isinstance(data, dict):
        return {name: _mapped(value, any_of) for name, value in data.items()}
    return [_mapped(value, any_of) for value in data] if isinstance(data, list | tuple) else data
