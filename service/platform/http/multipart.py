"""An upload to a struct: streamed to disk, bounded while it arrives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser

from service.platform.http.api import Upload
from service.platform.http.intake import Receive
from service.platform.http.problem import Fault, PayloadTooLarge, Problem, UnsupportedMediaType, ValidationFailed

FIELD_BYTES = 64 * 1024  # a field of a form that is not a file
FIELDS = 32
FORM_OVERHEAD_BYTES = 64 * 1024  # boundaries and the other fields around a file of the greatest size


async def read_form(
    headers: dict[bytes, bytes],
    receive: Receive,
    *,
    names: frozenset[str],
    most_bytes: int,
    too_large: type[Problem] = PayloadTooLarge,
) -> tuple[dict[str, Any], Callable[[], Awaitable[None]]]:
    """The fields of a form, files as `Upload`, and what closes (and so removes) the files. One of `names` may be there
    once only; of others, which nobody reads, the last one counts.

    Raises:
        UnsupportedMediaType: neither multipart nor urlencoded.
        too_large: more bytes arrive than may.
        ValidationFailed: the form is malformed.
    """
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    ceiling = most_bytes + FORM_OVERHEAD_BYTES
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and int(declared) > ceiling:
        raise too_large

    async def body() -> Any:
        arrived = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ValidationFailed.at(["body"], "the upload broke off")
            chunk = message.get("body", b"")
            arrived += len(chunk)
            if arrived > ceiling:
                raise too_large
            if chunk:
                yield chunk
            if not message.get("more_body"):
                yield b""
                return

    parser: MultiPartParser | FormParser
    if kind == b"multipart/form-data":
        parser = MultiPartParser(
            Headers(raw=list(headers.items())), body(), max_files=4, max_fields=FIELDS, max_part_size=FIELD_BYTES
        )
    elif kind == b"application/x-www-form-urlencoded":
        parser = FormParser(Headers(raw=list(headers.items())), body(), max_fields=FIELDS, max_part_size=FIELD_BYTES)
    else:
        raise UnsupportedMediaType.at(["header", "content-type"], "expected a form")
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise ValidationFailed.at(["body"], error.message) from None
    except (KeyError, UnicodeError, ValueError, AttributeError):
        raise ValidationFailed.at(["body"], "malformed form") from None
    fields: dict[str, Any] = {}
    for name, value in form.multi_items():
        if "\x00" in ((value.filename or "") if isinstance(value, UploadFile) else value):
            await form.close()
            raise ValidationFailed(Fault(["body", name], "null character"))
        if name in fields and name in names:  # of two files, say, one would be lost without a word
            await form.close()
            raise ValidationFailed(Fault(["body", name], "given twice"))
        if isinstance(value, UploadFile):
            fields[name] = Upload(value.filename or "", value.size or 0, value.file)
        else:
            fields[name] = value
    return fields, form.close


def to_struct(fields: dict[str, Any], kind: type) -> Any:
    """The fields as the form's struct.

    Raises:
        msgspec.ValidationError: a field is missing or does not fit.
    """
    files = {name: value for name, value in fields.items() if isinstance(value, Upload)}
    known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    plain = {name: value for name, value in fields.items() if name in known and name not in files}
    for name, field in known.items():
        if field.type is Upload:
            if name not in files:
                raise msgspec.ValidationError(f"Object missing required field `{name}`")
            plain[name] = files[name]
        elif name in files:
            raise msgspec.ValidationError(f"Expected text, got a file - at `$.{name}`")
    return msgspec.convert(plain, kind, strict=False)
