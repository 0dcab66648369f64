"""An upload to a struct: streamed to disk, bounded while it arrives."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

import msgspec
from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser

from service.platform.base.problem import Fault, PayloadTooLarge, Problem, UnsupportedMediaType, ValidationFailed
from service.platform.http.disposition import plain_disposition
from service.platform.http.faults import read
from service.platform.http.intake import Receive
from service.platform.route.api import FILES_MAX, Upload, Uploads

FIELD_BYTES = 64 * 1024  # a field of a form that is not a file
FIELDS = 32
FORM_OVERHEAD_BYTES = 64 * 1024  # boundaries and the other fields around a file of the greatest size
PADDING_BYTES = 80  # blanks behind a boundary


async def read_form(
    headers: dict[bytes, bytes],
    receive: Receive,
    *,
    kinds: dict[str, Any],
    most_bytes: int,
    too_large: type[Problem] = PayloadTooLarge,
) -> tuple[dict[str, Any], Callable[[], Awaitable[None]]]:
    """Return a form's fields, files as `Upload`, and what closes the files.

    `kinds` are the types of the fields that are read: one of them may be there once only, but for `Uploads`, which come
    as a list. Of other fields the last one counts.

    Raises:
        UnsupportedMediaType: neither multipart nor urlencoded.
        too_large: more bytes arrive than may.
        ValidationFailed: the form is malformed.
    """
    ceiling = most_bytes + FORM_OVERHEAD_BYTES
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > ceiling:
        raise too_large.with_size(most_bytes, int(declared))
    files_max = FILES_MAX if Uploads in kinds.values() else 4
    parser = _parser(headers, _chunks(receive, most_bytes, too_large), files_max)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise ValidationFailed.at(["body"], error.message) from None
    except (KeyError, UnicodeError, ValueError, AttributeError):
        raise ValidationFailed.at(["body"], "malformed form") from None
    try:
        return _fields(form, kinds), form.close
    except ValidationFailed:
        await form.close()
        raise


def _parser(
    headers: dict[bytes, bytes], chunks: AsyncGenerator[bytes, None], files_max: int
) -> MultiPartParser | FormParser:
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    raw = Headers(raw=list(headers.items()))
    if kind == b"multipart/form-data":
        boundary = parse_options_header(headers[b"content-type"])[1].get(b"boundary")
        if boundary:  # without one the parser refuses
            chunks = _without_padding(_without_preamble(chunks, boundary), boundary)
        return _PartParser(raw, chunks, max_files=files_max, max_fields=FIELDS, max_part_size=FIELD_BYTES)
    if kind == b"application/x-www-form-urlencoded":
        return FormParser(raw, chunks, max_fields=FIELDS, max_part_size=FIELD_BYTES)
    raise UnsupportedMediaType.at(["header", "content-type"], "expected a form")


async def _chunks(receive: Receive, most_bytes: int, too_large: type[Problem]) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives, an empty chunk at its end."""
    count = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ValidationFailed.at(["body"], "the upload broke off")
        chunk = message.get("body", b"")
        count += len(chunk)
        if count > most_bytes + FORM_OVERHEAD_BYTES:
            raise too_large.with_size(most_bytes)
        if chunk:
            yield chunk
        if not message.get("more_body"):
            yield b""
            return


def _fields(form: FormData, kinds: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in form.multi_items():
        if "\x00" in ((value.filename or "") if isinstance(value, UploadFile) else value):
            raise ValidationFailed(Fault(["body", name], "null character"))
        item = Upload(value.filename or "", value.size or 0, value.file) if isinstance(value, UploadFile) else value
        if kinds.get(name) is Uploads:
            fields.setdefault(name, []).append(item)
        elif name in fields and name in kinds:  # of two files, say, one would be lost without a word
            raise ValidationFailed(Fault(["body", name], "given twice"))
        else:
            fields[name] = item
    return fields


class _PartParser(MultiPartParser):
    """Starlette's parser, for the names of fields and files in any client's form."""

    def on_headers_finished(self) -> None:
        self._current_part.content_disposition = plain_disposition(self._current_part.content_disposition or b"")
        super().on_headers_finished()


async def _without_preamble(chunks: AsyncGenerator[bytes, None], boundary: bytes) -> AsyncGenerator[bytes, None]:
    """Yield the body from its first boundary on (RFC 2046, 5.1.1).

    Raises:
        ValidationFailed: the boundary is nowhere.
    """
    delimiter = re.compile(rb"\n--" + re.escape(boundary) + rb"(?=\r|-|[ \t])")
    seen = b"\r\n"  # the body's beginning is the beginning of a line, too
    begun = False
    async for chunk in chunks:
        if begun:
            yield chunk
            continue
        seen += chunk
        if first := delimiter.search(seen):
            begun = True
            yield seen[first.start() + 1 :]
        seen = seen[-len(boundary) - 4 :]
    if not begun:
        raise ValidationFailed.at(["body"], "the boundary that Content-Type names is nowhere in the body")


async def _without_padding(chunks: AsyncGenerator[bytes, None], boundary: bytes) -> AsyncGenerator[bytes, None]:
    """Yield the body without blanks behind its boundaries.

    A reader must pass over them (RFC 2046, 5.1.1).
    """
    delimiter = b"--" + boundary
    padded = re.compile(rb"(\A|\n)(" + re.escape(delimiter) + rb")[ \t]+(?=\r)")
    kept = b""  # from a line's end on, where a boundary may go on in the next chunk
    async for chunk in chunks:
        data = kept + chunk
        if delimiter in data:
            data = padded.sub(rb"\1\2", data)
        end = max(data.rfind(b"\r"), data.startswith(delimiter) - 1) if chunk else -1
        cut = end if len(data) - end < len(boundary) + PADDING_BYTES and end >= 0 else len(data)
        kept = data[cut:]
        if cut:
            yield data[:cut]
    yield b""


def to_struct(fields: dict[str, Any], kind: type, records: Sequence[Any] = ()) -> Any:
    """Convert the fields to the form's struct; empty optional ones are missing.

    Args:
        records: types of the record that is made: the names of their fields may stand there, as in a body.

    Raises:
        ValidationFailed: a field is missing, does not fit, or is none of the form's where that takes no others; every
            one of them is named.
    """
    optional = {field.encode_name for field in msgspec.structs.fields(kind) if not field.required}
    plain = {name: value for name, value in fields.items() if value != "" or name not in optional}
    return read(plain, kind, ["body"], records=records, strict=False)
