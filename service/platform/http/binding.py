"""A request's path, query, form or body as its row's types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from service.platform.base import problem as problems
from service.platform.http.bodies import BodyReader, Unread
from service.platform.http.faults import read, unknown_parameters
from service.platform.http.intake import Receive, Scope
from service.platform.http.multipart import read_form, to_struct
from service.platform.route.api import Route, parse_parameter, repeated_fields
from service.platform.unit.context import Context

API = "/api/v1/"
"""Where a query may have no parameter but the route's own. Pages and health views have visitors who add some: against
caches, or to tell a probe from another."""
QUERY_FIELDS = 64
"""Parameters of a query."""
LARGE_BYTES = 256 * 1024
"""Bodies above this are read in a thread, one of a tenant at a time: nothing else runs while one is read, but the event
loop has its turn between two of them."""

NO_CODINGS = frozenset({b"", b"identity", b"utf-8"})
"""What the header Content-Encoding may say: nothing, or a charset, which some clients put there."""


class Binding:
    """Binds the requests of one route."""

    def __init__(self, route: Route, records: Sequence[Any] = ()) -> None:
        """`records`: types of the record that the route makes or changes, as it is read."""
        self._route = route
        self._records = records
        empty = b"{}" if route.body_may_lack else b""
        self._bind_body = BodyReader(route.body, records, empty) if route.body else None
        self._query_lists = _list_fields(route.query)
        self._query_repeated = repeated_fields(route.query)
        self._query_order = [field.encode_name for field in msgspec.structs.fields(route.query or Struct)]
        self._query_names = frozenset(self._query_order)
        self._refuses_unknown = route.path.startswith(API)
        self._form_kinds = {field.encode_name: field.type for field in msgspec.structs.fields(route.form or Struct)}
        self._query_texts = _text_fields(route.query)

    async def arguments(
        self, ctx: Context, scope: Scope, receive: Receive, arrived: Callable[[], Awaitable[None]]
    ) -> tuple[dict[str, Any], bytes | dict[str, Any], Callable[[], Awaitable[None]] | None]:
        """Return the handler's arguments, their source, and what closes its files.

        The source is the body or the form's fields. `arrived` is called when the body is there, before anything is
        refused of it.

        Raises:
            Problem: what it says is not of the row's types, too large, or of another content type.
        """
        route = self._route
        arguments: dict[str, Any] = {}
        content: bytes | dict[str, Any] = b""
        closing = None
        _check_coding(ctx.headers)
        for name, kind in route.parameters.items():
            try:
                arguments[name] = parse_parameter(scope["path_params"][name], kind)
            except (ValueError, msgspec.ValidationError):
                raise route.missing from None
        if route.query is not None:
            arguments["query"] = self._bind_query(scope["query_string"], route.query)
        elif self._refuses_unknown and scope["query_string"]:
            self._parameters(scope["query_string"])
        if route.form is not None:
            most = route.body_bytes(ctx.settings) if route.body_bytes else ctx.settings.max_upload_mb * 1024 * 1024
            too_large = next(
                (error for error in route.errors if error.detail == "File too large"), problems.PayloadTooLarge
            )
            content, closing = await read_form(
                ctx.headers, receive, kinds=self._form_kinds, most_bytes=most, too_large=too_large
            )
            try:
                await arrived()
                arguments["form"] = to_struct(content, route.form, self._records)
            except BaseException:
                await closing()
                raise
        elif self._bind_body is not None:
            content = await self._read_body(ctx, receive)
            await arrived()
            if len(content) > LARGE_BYTES and route.deferred:
                arguments["body"] = Unread(content)
            elif len(content) <= LARGE_BYTES:
                arguments["body"] = self._bind_body(content)
            else:
                arguments["body"] = await ctx.resources.bodies(ctx.tenant_key, self._bind_body, content)
        return arguments, content, closing

    def _parameters(self, raw: bytes) -> list[tuple[str, str]]:
        """Return the names and values of a query; some pages take unknown names.

        Raises:
            ValidationFailed: it is malformed, or has a parameter that the route does not have.
        """
        if raw.count(b"&") >= QUERY_FIELDS:
            raise problems.ValidationFailed.at(["query"], f"more than {QUERY_FIELDS} parameters")
        try:
            pairs = parse_qsl(
                raw.decode("ascii"),
                keep_blank_values=True,
                max_num_fields=QUERY_FIELDS,
                encoding="utf-8",
                errors="strict",
            )
        except (UnicodeError, ValueError):
            raise problems.ValidationFailed.at(["query"], "malformed query string") from None
        if self._refuses_unknown and not self._query_names.issuperset(name for name, _ in pairs):
            faults = unknown_parameters((name for name, _ in pairs), self._query_order)
            raise problems.ValidationFailed(*faults)
        return pairs

    def _bind_query(self, raw: bytes, kind: type) -> Any:
        pairs = self._parameters(raw)
        values: dict[str, Any] = {}
        for name, value in pairs:
            if "\x00" in value:
                raise problems.ValidationFailed.at(["query", name], "null character")
            if name in self._query_repeated:
                values.setdefault(name, []).append(value)
            elif name in self._query_lists:
                values.setdefault(name, []).extend(part.strip() for part in value.split(",") if part.strip())
            elif name in values and name in self._query_names:
                # Something in front of the service may have read the other one.
                raise problems.ValidationFailed.at(["query", name], "given twice")
            elif value.lower() == "null" and name in self._query_names - self._query_texts:
                # msgspec would take it for None
                raise problems.ValidationFailed.at(["query", name], "null is no value")
            else:
                values[name] = value
        try:
            return msgspec.convert(values, kind, strict=False)
        except msgspec.ValidationError:
            return read(values, kind, ["query"], strict=False)

    async def _read_body(self, ctx: Context, receive: Receive) -> bytes:
        kind = ctx.headers.get(b"content-type", b"application/json").partition(b";")[0].strip().lower()
        if kind != b"application/json" and not kind.endswith(b"+json"):
            raise problems.UnsupportedMediaType.at(["header", "content-type"], "expected application/json")
        most = self._route.body_bytes(ctx.settings) if self._route.body_bytes else ctx.settings.max_body_bytes
        return await _read(ctx.headers, receive, most)


def _check_coding(headers: Mapping[bytes, bytes]) -> None:
    """Refuse a compressed body: its unpacked size could not be bounded.

    Raises:
        UnsupportedMediaType: it is coded.
    """
    stated = headers.get(b"content-encoding")
    if stated is None or (headers.get(b"content-length", b"0") == b"0" and b"transfer-encoding" not in headers):
        return
    codings = {coding.strip().lower() for coding in stated.split(b",")}
    if not codings <= NO_CODINGS:
        message = (
            f"{stated[:40].decode('latin-1')!r} is not supported: send the body as it is, without Content-Encoding"
        )
        raise problems.UnsupportedMediaType(
            problems.Fault(["header", "content-encoding"], message), headers={"Accept-Encoding": "identity"}
        )


async def _read(headers: Mapping[bytes, bytes], receive: Receive, most_bytes: int) -> bytes:
    declared = headers.get(b"content-length", b"0")
    if declared.isdigit() and int(declared) > most_bytes:
        raise problems.PayloadTooLarge.with_size(most_bytes, int(declared))
    chunks = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise problems.ValidationFailed.at(["body"], "the request broke off")
        chunks += message.get("body", b"")
        if len(chunks) > most_bytes:
            raise problems.PayloadTooLarge.with_size(most_bytes)
        if not message.get("more_body"):
            return bytes(chunks)


def _list_fields(kind: type | None) -> frozenset[str]:
    if kind is None or not issubclass(kind, Struct):
        return frozenset()
    return frozenset(field.encode_name for field in msgspec.structs.fields(kind) if "list[" in str(field.type))


def _text_fields(kind: type | None) -> frozenset[str]:
    """Return the fields that take any text."""
    if kind is None:
        return frozenset()
    names = set()
    for field in msgspec.structs.fields(kind):
        shape = msgspec.inspect.type_info(field.type)
        for part in getattr(shape, "types", (shape,)):
            while isinstance(part, msgspec.inspect.Metadata):
                part = part.type
            if isinstance(part, msgspec.inspect.StrType):
                names.add(field.encode_name)
    return frozenset(names)
