"""The names of a form's field and of its file, from a part's Content-Disposition."""

from __future__ import annotations

import re
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import collapse_rfc2231_value
from typing import Final

_ENCODED_WORD: Final = re.compile(r"=\?[^?\s]+\?[bq]\?[^?]*\?=", re.IGNORECASE)
_UNUSUAL: Final = re.compile(rb"[*/\\]|=\?")
"""What a header has in which something must be decoded or cut off."""


def plain_disposition(header: bytes) -> bytes:
    """Rewrite the header with plain parameters; an unreadable one stays as it is.

    `filename*` (RFC 2231) takes the place of `filename`, encoded words (RFC 2047) are decoded, and of a path only its
    last part stays, whichever slash parts it.
    """
    if not _UNUSUAL.search(header):
        return header
    try:
        text = header.decode()
    except UnicodeDecodeError:
        text = header.decode("latin-1")
    try:
        parameters = _parameters(text)
    except (MessageError, TypeError, ValueError, LookupError):  # numbered parts in no order, say
        return header
    if "filename" in parameters:
        parameters["filename"] = re.split(r"[/\\]", _decode_words(parameters["filename"]))[-1]
    kept = [(name, parameters[name]) for name in ("name", "filename") if name in parameters]
    return "; ".join(["form-data", *(f'{name}="{_escape(value)}"' for name, value in kept)]).encode()


def _parameters(text: str) -> dict[str, str]:
    message = Message()
    message["content-disposition"] = text
    parameters: dict[str, str] = {}
    extended: dict[str, str] = {}
    for name, value in message.get_params([], "content-disposition")[1:]:
        if isinstance(value, tuple):
            extended.setdefault(name.lower(), collapse_rfc2231_value(value))
        else:
            parameters.setdefault(name.lower(), value)
    return parameters | extended


def _decode_words(text: str) -> str:
    """Decode a text's encoded words; return it as it is where they cannot be."""
    if not _ENCODED_WORD.search(text):
        return text
    try:
        return "".join(
            part if isinstance(part, str) else part.decode(charset or "ascii") for part, charset in decode_header(text)
        )
    except (HeaderParseError, LookupError, UnicodeError):
        return text


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
