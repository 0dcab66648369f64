"""Forms: streamed to disk, bounded while they arrive, and closed whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, MutableMapping
from datetime import date
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from service.platform.base.problem import Fault, PayloadTooLarge, Problem, UnsupportedMediaType, ValidationFailed
from service.platform.http.multipart import FIELD_BYTES, read_form, to_struct
from service.platform.route.api import FILES_MAX, Upload, Uploads

BOUNDARY = "b0undary"
KINDS: dict[str, Any] = {"name": str, "file": Upload, "a": str}
"""What a form is asked for."""


class Form(Struct):
    """A file with a name."""

    file: Upload
    name: Annotated[str, Meta(max_length=10)] | None = None
    number: int = 0


class Many(Struct):
    """Several files of a day."""

    files: Uploads
    day: date | None = None


def part(name: str, content: bytes, file_name: str | None = None) -> bytes:
    where = f'; filename="{file_name}"' if file_name is not None else ""
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{where}\r\n\r\n'.encode() + content + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()


def read(
    chunks: Iterable[bytes],
    *,
    kind: str = f"multipart/form-data; boundary={BOUNDARY}",
    most: int = 1 << 20,
    length: bytes | None = None,
    **options: Any,
) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        messages = iter(
            [
                *[{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks],
                {"type": "http.request", "body": b""},
            ]
        )

        async def receive() -> MutableMapping[str, Any]:
            return next(messages)

        headers = {b"content-type": kind.encode()} | ({b"content-length": length} if length is not None else {})
        fields, close = await read_form(headers, receive, kinds=KINDS, most_bytes=most, **options)
        by_name = {name: value.file.read() if isinstance(value, Upload) else value for name, value in fields.items()}
        by_name |= {
            f"{name}!": (value.file_name, value.size_bytes)
            for name, value in fields.items()
            if isinstance(value, Upload)
        }
        await close()
        assert all(value.file.closed for value in fields.values() if isinstance(value, Upload))
        return by_name

    return asyncio.run(main())


def test_files_and_fields() -> None:
    body = part("file", b"\x00\xff" * 10, "ä b.xlsx") + part("name", "Ünï".encode()) + END
    assert read([body[:30], body[30:31], body[31:]]) == {
        "file": b"\x00\xff" * 10,
        "file!": ("ä b.xlsx", 20),
        "name": "Ünï",
    }


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    "preamble",
    [
        b"This is a preamble.\r\n",
        b"\r\n",
        b"lines\r\n\r\nof\r\ntext, and --b0undary in one\r\n",
        b"--b0undaryX\r\n--b0undar\r\n",
        b"\n" * 5000,
    ],
)
def test_text_before_the_first_boundary_and_behind_the_last_is_ignored(preamble: bytes, size: int) -> None:
    body = preamble + part("file", b"\x00\xff", "deals/b.xlsx") + part("name", b"x") + END + b"an epilogue\r\n--b0un"
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert read(chunks) == {"file": b"\x00\xff", "file!": ("b.xlsx", 2), "name": "x"}


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_blanks_behind_a_boundary_are_passed_over(size: int) -> None:
    content = b"\r\n--b0undar \r\r\n x --b0undary \r"
    body = part("file", content, "b.xlsx") + part("name", b"x") + END
    body = body.replace(b"--b0undary\r\n", b"--b0undary \t \r\n").replace(b"--b0undary--", b"--b0undary--  ")
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert read(chunks) == {"file": content, "file!": ("b.xlsx", len(content)), "name": "x"}


def test_a_body_without_its_boundary_says_so() -> None:
    for body in (b"noise", part("file", b"x", "b.xlsx").replace(b"b0undary", b"other"), b""):
        with pytest.raises(ValidationFailed) as refused:
            read([body])
        assert refused.value.errors[0].message == "the boundary that Content-Type names is nowhere in the body"


def test_a_file_whose_name_is_given_in_the_extended_form_alone_is_a_file() -> None:
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename*=utf-8''M%C3%A4rz.xlsx\r\n\r\n"
    assert read([head.encode() + b"\x00\x01\r\n" + END]) == {"file": b"\x00\x01", "file!": ("März.xlsx", 2)}


def test_several_files_of_one_name_are_a_list_where_the_form_takes_several() -> None:
    async def main(names: list[str], kinds: dict[str, Any]) -> list[str]:
        body = b"".join(part("files", b"x", name) for name in names) + END

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": body}

        headers = {b"content-type": f"multipart/form-data; boundary={BOUNDARY}".encode()}
        fields, close = await read_form(headers, receive, kinds=kinds, most_bytes=1 << 20)
        await close()
        return [file.file_name for file in to_struct(fields | {"day": ""}, Many).files]

    kinds: dict[str, Any] = {"files": Uploads}
    assert asyncio.run(main(["a", "b", "a"], kinds)) == ["a", "b", "a"]
    assert asyncio.run(main(["a"], kinds)) == ["a"]
    for names in ([], ["a"] * (FILES_MAX + 1)):
        with pytest.raises(ValidationFailed):
            asyncio.run(main(names, kinds))
    with pytest.raises(ValidationFailed) as refused:
        to_struct({"files": [Upload("x", 1, None), "text"], "day": Upload("x", 1, None)}, Many)
    assert refused.value.errors == (
        Fault(["body", "files", "1"], "expected a file, got 'text'"),
        Fault(["body", "day"], "expected a date such as 2026-01-31 or null, got a file"),
    )


def test_an_urlencoded_form() -> None:
    assert read([b"a=1&b=%C3%A4+", b"c&empty="], kind="application/x-www-form-urlencoded; charset=utf-8") == {
        "a": "1",
        "b": "ä c",
        "empty": "",
    }


def test_a_file_is_refused_while_it_arrives() -> None:
    taken = []

    def endless() -> Iterable[bytes]:
        yield part("file", b"", "x")[:-2]
        while len(taken) < 1000:
            taken.append(1)
            yield b"x" * 65536

    class TooMuch(Problem, status=400):
        """Too much"""

    async def main() -> None:
        chunks = iter(endless())

        async def receive() -> MutableMapping[str, Any]:
            return {"type": "http.request", "body": next(chunks), "more_body": True}

        with pytest.raises(TooMuch):
            await read_form(
                {b"content-type": f"multipart/form-data; boundary={BOUNDARY}".encode()},
                receive,
                kinds=KINDS,
                most_bytes=1 << 20,
                too_large=TooMuch,
            )

    asyncio.run(main())
    assert len(taken) < 20


def test_a_declared_length_is_refused_before_anything_is_read() -> None:
    with pytest.raises(PayloadTooLarge):
        read(iter(()), length=b"99999999999999")


@pytest.mark.parametrize("length", [b"", b"-5", b"abc", b"1_0"])
def test_a_strange_length_does_no_harm(length: bytes) -> None:
    assert read([part("name", b"x") + END], length=length) == {"name": "x"}


@pytest.mark.parametrize(
    ("chunks", "kind"),
    [
        ([b"noise"], f"multipart/form-data; boundary={BOUNDARY}"),
        ([b"x"], "multipart/form-data"),
        ([b"x"], "multipart/form-data; boundary="),
        ([part("name", b"x" * (FIELD_BYTES + 1)) + END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([part(f"n{n}", b"x") for n in range(40)] + [END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([part(f"n{n}", b"x", "f") for n in range(6)] + [END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([part("name", b"a\x00b") + END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([part("file", b"x", "a\x00b.xlsx") + END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([part("file", b"x", "x") + part("file", b"y", "y") + END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([part("name", b"x") + part("name", b"x") + END], f"multipart/form-data; boundary={BOUNDARY}"),
        ([b"a=1&b=2&a=1"], "application/x-www-form-urlencoded"),
        ([b"a=%00"], "application/x-www-form-urlencoded"),
        ([b"&".join(b"a%d=1" % n for n in range(40))], "application/x-www-form-urlencoded"),
    ],
)
def test_a_malformed_form_is_refused(chunks: list[bytes], kind: str) -> None:
    with pytest.raises(ValidationFailed):
        read(chunks, kind=kind)


def test_what_nobody_reads_may_be_there_twice() -> None:
    assert read([b"q=1&a=1&q=2"], kind="application/x-www-form-urlencoded") == {"q": "2", "a": "1"}


@pytest.mark.parametrize("kind", ["", "text/plain", "application/json", "multipart/mixed; boundary=x"])
def test_another_content_is_no_form(kind: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        read([b""], kind=kind)


def test_a_form_that_breaks_off_is_refused() -> None:
    async def main() -> None:
        messages = iter(
            [
                {"type": "http.request", "body": part("file", b"x", "x")[:-5], "more_body": True},
                {"type": "http.disconnect"},
            ]
        )

        async def receive() -> MutableMapping[str, Any]:
            return next(messages)

        headers = {b"content-type": f"multipart/form-data; boundary={BOUNDARY}".encode()}
        with pytest.raises(ValidationFailed):
            await read_form(headers, receive, kinds=KINDS, most_bytes=1 << 20)

    asyncio.run(main())


def test_fields_become_their_types() -> None:
    upload = Upload("x", 1, None)
    assert to_struct({"file": upload, "name": "n", "number": "7", "other": "x"}, Form) == Form(upload, "n", 7)


@pytest.mark.parametrize(
    ("fields", "expected_text"),
    [
        ({}, "is required"),
        ({"file": "text"}, "expected a file, got 'text'"),
        ({"file": Upload("x", 1, None), "name": Upload("x", 1, None)}, "expected text or null, got a file"),
        ({"file": Upload("x", 1, None), "name": "x" * 11}, "expected at most 10 characters, got 11"),
        ({"file": Upload("x", 1, None), "number": "x"}, "expected a whole number, got 'x'"),
    ],
)
def test_fields_that_do_not_fit(fields: dict[str, Any], expected_text: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        to_struct(fields, Form)
    assert [fault.message for fault in refused.value.errors] == [expected_text]
