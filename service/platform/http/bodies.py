"""A JSON body as its row's type: read here, or where it is large by a child."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from service.platform.base.problem import ValidationFailed
from service.platform.http.faults import has_checks, read

NULL_ESCAPE: Final = b"\\u0000"
"""A null character as JSON escapes it; behind an escaped backslash the same letters are a text."""
OBJECTS_MAX: Final = 100_000
"""Objects of a body: each takes half a microsecond to be made, and no route takes a quarter as many."""


class Unread(Struct, frozen=True):
    """A large body in place of its struct, for a `deferred` row: a child reads it."""

    content: bytes


class BodyReader:
    """Reads the bodies of one type."""

    def __init__(self, kind: Any, records: Sequence[Any] = (), empty: bytes = b"") -> None:
        """Read bodies of `kind`; `empty` stands for no body.

        `records`: types of the record that the route makes or changes.
        """
        self._kind = kind
        self._records = records
        self._empty = empty
        self._is_checked = has_checks(kind)
        self._decode: Callable[[bytes], Any] = msgspec.json.Decoder(kind).decode

    def __call__(self, raw: bytes) -> Any:
        """Return the body's struct.

        Raises:
            ValidationFailed: it is malformed, or not of the type.
        """
        if NULL_ESCAPE in raw and NULL_ESCAPE in raw.replace(b"\\\\", b"--"):
            raise ValidationFailed.at(["body"], "null character")
        if raw.count(b"{") > OBJECTS_MAX:  # braces within texts count too, of which there are few
            raise ValidationFailed.at(["body"], f"more than {OBJECTS_MAX:,} objects")
        gc.disable()  # decoded JSON has no cycles, and the collector's search for some takes most of the time
        try:
            if not self._is_checked:
                return self._decode(raw or self._empty)
        except msgspec.ValidationError:
            pass  # looked at more closely
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            raise ValidationFailed.at(["body"], "malformed JSON") from None
        finally:
            gc.enable()
        try:
            body = msgspec.json.decode(raw or self._empty)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            raise ValidationFailed.at(["body"], "malformed JSON") from None
        return read(body, self._kind, ["body"], records=self._records)
