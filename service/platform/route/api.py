"""A route is a row: method, path, access, refusals and a typed function.

Everything else is derived from it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, get_args, get_type_hints
from uuid import UUID

import msgspec
from msgspec import Meta, Struct
from msgspec import inspect as inspect_types

from service.platform.access.caller_status import Meter, Window
from service.platform.base.caller import Access
from service.platform.base.flags import FLAGS
from service.platform.base.problem import NotFound, Problem, RateLimited
from service.platform.config import Settings

T = TypeVar("T")

PageNumber = Annotated[int, Meta(ge=1, le=1_000_000, description="Which page, from 1")]
PageSize = Annotated[int, Meta(ge=1, le=100, description="Most items of an answer")]
Offset = Annotated[int, Meta(ge=0, le=100_000_000, description="Items to pass over")]


Secret = Annotated[str, Meta(extra={"secret": True}, description="Shown in this answer only")]
"""A secret in an answer: its reader could act with it, so the answer is never stored."""


class PageQuery(Struct, kw_only=True, frozen=True):
    """The query of a page-style list."""

    page: PageNumber = 1
    page_size: PageSize = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.page_size


class Page(Struct, Generic[T], frozen=True):
    """A page of a list."""

    items: list[T]
    total: int
    page: int
    page_size: int
    total_pages: int


def page_of(items: list[T], total: int, query: Any) -> Page[T]:
    """Return the page that `query` (page, page_size) asked for."""
    return Page(items, total, query.page, query.page_size, -(-total // query.page_size))


class SliceQuery(Struct, kw_only=True, frozen=True):
    """The query of a list that is read by skipping."""

    skip: Offset = 0
    limit: PageSize = 50


class Slice(Struct, Generic[T], frozen=True):
    """A part of a list, read by skipping."""

    items: list[T]
    total: int
    skip: int
    limit: int


class Listing(Struct, Generic[T], frozen=True):
    """A whole list with its length."""

    items: list[T]
    total: int


WAIT_SECONDS_MAX = 30
"""For which a status read may wait."""
LOOK_SECONDS = 5.0
"""After which a read that waits looks by itself: an announcement may be lost, as behind a pooler of connections."""


WaitSeconds = Annotated[
    int,
    Meta(ge=0, le=WAIT_SECONDS_MAX, description="Seconds to wait for a change of the state; 0 answers at once"),
]


class WaitQuery(Struct, kw_only=True, frozen=True):
    """How long a status read may wait."""

    wait: WaitSeconds = 0


@dataclass(frozen=True, slots=True)
class Waits:
    """What a status read with `?wait=` waits for."""

    record: str
    """The path parameter that names the record."""
    moving: frozenset[str]
    """States that will be followed by others."""
    states: Callable[[Any], tuple[Any, ...]]
    """Of an answer: a difference is a change."""
    key: Callable[[str], str] = str
    """The identifier by which a change of the record is announced."""
    look_seconds: float = LOOK_SECONDS

    def is_moving(self, answer: Any) -> bool:
        """Return whether another state will follow."""
        return not self.moving.isdisjoint(self.states(answer))


class Upload(Struct, frozen=True):
    """A file of a multipart form: on disk past a megabyte, gone with the request."""

    file_name: str
    size_bytes: int
    file: Any
    """A binary file object at its beginning."""


FILES_MAX = 32
"""Files of one form."""
Uploads = Annotated[list[Upload], Meta(min_length=1, max_length=FILES_MAX, description="One or several files")]


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is not JSON."""

    content: bytes
    media_type: str
    headers: Sequence[tuple[str, str]] = ()
    status: int | None = None
    """In place of the route's."""
    constant: bool = False
    """The same bytes for everybody, so that they are compressed once."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer that is made while it is sent, after the commit.

    An error on the way breaks it off.
    """

    chunks: AsyncGenerator[bytes, None]
    media_type: str
    headers: Sequence[tuple[str, str]] = ()
    status: int | None = None
    """In place of the route's."""


REPEATED = {"repeated": True}
"""`Meta(extra=REPEATED)` on a list of a query: each value stands in a parameter of its own, and may have commas."""


def repeated_fields(kind: type[Struct] | None) -> frozenset[str]:
    """Return the fields of a query that stand once a value: `?filter=a&filter=b`."""
    if kind is None:
        return frozenset()
    fields = ((field.encode_name, inspect_types.type_info(field.type)) for field in msgspec.structs.fields(kind))
    return frozenset(name for name, shape in fields if (getattr(shape, "extra", None) or {}).get("repeated"))


Handler = Callable[..., Awaitable[Any]]
Windows = Callable[[Settings, str, str], Sequence[Window]]
"""From the settings, the caller's address (of IPv6 its /64) and user id (empty when public) to a route's limits."""
Metered = tuple[Callable[[Settings], Meter], type[RateLimited]]
"""What a call uses of the tenant's month, from the settings, and the refusal once that is used up."""


def limit_by_address(kind: str, most: Callable[[Settings], int], seconds: int = 60) -> Windows:
    """Return a limit of the calls from one address."""
    return lambda settings, address, _: [Window(f"{kind}:{address}", most(settings), seconds)]


def limit_by_user(kind: str, most: Callable[[Settings], int], seconds: int = 60) -> Windows:
    """Return a limit of the calls of one user."""
    return lambda settings, _, user: [Window(f"{kind}:{user}", most(settings), seconds)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One endpoint: its row and its handler's signature."""

    method: str
    path: str
    handler: Handler
    access: Access
    status: int
    errors: tuple[type[Problem], ...]
    also: dict[int, Any] = field(default_factory=dict)
    """Answers besides the success that are no refusals: their types by status."""
    event: str | None = None
    streamed: bool = False
    """The event goes through the stream that a worker drains, not into the request's transaction."""
    counted: bool = False
    """The event is counted with others of its kind: see `events/calls.py`."""
    windows: Windows | None = None
    metered: Metered | None = None
    body_bytes: Callable[[Settings], int] | None = None
    """Most bytes of a request body, from the settings; None: the figure of every other route."""
    tag: str
    summary: str = ""
    """Two to four words for the operation; empty: the words of its handler's name."""
    media_type: str = "application/json"
    """Of a successful answer."""
    also_media: tuple[str, ...] = ()
    """Other media types that a query may ask it in."""
    ranged: bool = False
    """A part of the answer may be asked for by its bytes."""
    ahead: Callable[[Any, Any], Any] | None = None
    """Answers a small body, from the context and the body, before the gate is asked, and waits for nothing; None: not
    small. Of a POST with a counted event, whose answer and event depend on nothing but its body and caller."""
    heavy: bool = False
    """Its work can pass 20 ms of a processor: done in a child or a thread, in fair shares, and driven by
    `tests/security/test_fairness.py`."""
    deferred: bool = False
    """A large body is handed over unread (`bodies.Unread`), for a child to read it."""
    limited: bool = True
    """False for the views that no limit concerns."""
    essential: bool
    """Answered while memory is short, too."""
    in_maintenance: bool = False
    """Answered during maintenance, too."""
    flag: str | None = None
    """The feature flag that it needs."""
    browser: bool = False
    """With `X-Session: cookie` its answer sets or removes the cookie of a browser's session."""
    compressed: bool = True
    """False: the answer is sent as it is, however long."""
    enrolling: bool = False
    """Open to a user who has yet to enrol in the two-factor login that the tenant requires."""
    everywhere: bool = False
    """It reaches into every tenant: for who runs the deployment, who need not name one."""
    lags: bool = False
    """Read from a replica where there is one: it decides nothing, and its handler writes nothing."""
    waits: Waits | None = None
    """What its query's `wait` waits for."""
    versioned: bool = False
    """The answer has the record's version as its ETag, and a change checks If-Match."""
    parameters: dict[str, type]
    """Path parameters by name."""
    query: type | None
    body: type | None
    form: type | None
    answer: Any

    @property
    def body_may_lack(self) -> bool:
        """Whether a request without a body is one with all defaults."""
        return self.body is not None and not any(field.required for field in msgspec.structs.fields(self.body))

    @property
    def tells_secrets(self) -> bool:
        """Whether the answer has a secret that its reader could act with."""
        return _tells_secrets(self.answer)

    @property
    def name(self) -> str:
        """The operation's name: the handler's."""
        return self.handler.__name__

    @property
    def title(self) -> str:
        """The operation's summary, such as "List deals"."""
        return self.summary or re.sub(r"\bapi\b", "API", self.name.replace("_", " ").capitalize())

    @property
    def missing(self) -> type[Problem]:
        """The 404 of this route: also what a malformed identifier gives."""
        return next((error for error in self.errors if error.status == 404), NotFound)


@dataclass(slots=True)
class Area:
    """The routes under one prefix, with `scope:read` for GET and else `scope:write`."""

    prefix: str
    tag: str
    scope: str | None = None
    essential: bool = False
    """Its requests are answered while memory is short, too."""
    in_maintenance: bool = False
    """Its requests are answered during maintenance, too."""
    compressed: bool = True
    """False: none of its answers is compressed."""
    routes: list[Route] = field(default_factory=list)

    def get(self, path: str = "", **row: Any) -> Callable[[Handler], Handler]:
        return self._row("GET", path, **row)

    def post(self, path: str = "", **row: Any) -> Callable[[Handler], Handler]:
        return self._row("POST", path, **row)

    def put(self, path: str = "", **row: Any) -> Callable[[Handler], Handler]:
        return self._row("PUT", path, **row)

    def patch(self, path: str = "", **row: Any) -> Callable[[Handler], Handler]:
        return self._row("PATCH", path, **row)

    def delete(self, path: str = "", **row: Any) -> Callable[[Handler], Handler]:
        return self._row("DELETE", path, **row)

    def _row(
        self,
        method: str,
        path: str,
        *,
        access: Access | None = None,
        status: int | None = None,
        errors: Sequence[type[Problem]] = (),
        **row: Any,
    ) -> Callable[[Handler], Handler]:
        """Declare a row; other arguments are columns of `Route` under the same names."""

        def declare(handler: Handler) -> Handler:
            where = f"{method} {self.prefix}{path}"
            assert handler.__doc__, f"{where} has no description"
            hints = get_type_hints(handler, include_extras=True)
            answer = hints.pop("return", None)
            signature = inspect.signature(handler).parameters
            named = set(re.findall(r"{(\w+)(?::path)?}", path))  # `:path` takes slashes, too
            parameters = {name: hints[name] for name in signature if name in named}
            assert set(parameters) == named, f"{where}: the path names {named}, the handler {set(parameters)}"
            extra = set(signature) - named - {"ctx", "query", "body", "form"}
            assert not extra, f"{where}: nothing gives {extra}"
            assert access or self.scope, f"{where} says nothing of its access"
            success = status or (204 if answer in (None, type(None)) else 200)
            metered: Metered | None = row.get("metered")
            assert "flag" not in row or FLAGS[row["flag"]].refusal, f"{where}: the flag has no words for a refusal"
            route = Route(
                method=method,
                path=self.prefix + path,
                handler=handler,
                access=access or f"{self.scope}:{'read' if method == 'GET' else 'write'}",
                status=success,
                errors=(*errors, metered[1]) if metered else tuple(errors),
                tag=self.tag,
                essential=self.essential or not row.get("limited", True),
                parameters=parameters,
                in_maintenance=row.pop("in_maintenance", self.in_maintenance),
                compressed=self.compressed,
                query=hints.get("query"),
                body=hints.get("body"),
                form=hints.get("form"),
                answer=_described_type(answer),
                **row,
            )
            assert not route.lags or (method == "GET" and route.access != "public" and not route.event), where
            assert success not in route.also, f"{where}: {success} is the success"
            assert not route.waits or not (route.lags or route.event or route.method != "GET"), where
            assert not route.waits or hasattr(route.query, "wait"), f"{where}: its query has no `wait`"
            self.routes.append(route)
            return handler

        return declare


def records_of(route: Route, routes: Iterable[Route]) -> list[Any]:
    """Return the types of the record that a route makes (201) or changes.

    As its answer and the GET of the record have it. A client may send back what it read. Other routes have none: a
    misspelt option of an act must not pass for a field.
    """
    if route.method == "POST" and route.status != 201:
        return []
    own = re.escape(route.path) + (r"/{\w+}" if route.method == "POST" else "")
    answers = [row.answer for row in routes if row.method == "GET" and re.fullmatch(own, row.path)]
    return [route.answer, *answers]


def _described_type(answer: Any) -> Any:
    """Return the described type of an answer that may be raw: `SheetData | Raw`."""
    kinds = [kind for kind in get_args(answer) if kind is not Raw]
    return kinds[0] if isinstance(answer, UnionType) and len(kinds) == 1 else answer


@cache
def _tells_secrets(answer: Any) -> bool:
    if answer in (None, Any, Raw, Streamed):
        return False
    return any(
        isinstance(part, inspect_types.Metadata) and (part.extra or {}).get("secret") for part in parts_of(answer)
    )


def parts_of(*kinds: Any, into_structs: bool = True) -> Iterator[inspect_types.Type]:
    """Yield the types that make up these, themselves included; a struct once."""
    known = [kind for kind in kinds if isinstance(kind, inspect_types.Type)]
    waiting = known or list(inspect_types.multi_type_info(kinds))
    seen = set()
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect_types.StructType | inspect_types.DataclassType):
            if kind.cls not in seen:
                seen.add(kind.cls)
                yield kind
                waiting += [field.type for field in kind.fields] if into_structs else []
        else:
            yield kind
            single = (getattr(kind, name, None) for name in ("type", "item_type", "key_type", "value_type"))
            waiting += [*getattr(kind, "types", ()), *getattr(kind, "item_types", ()), *filter(None, single)]


def parse_parameter(raw: str, kind: type) -> Any:
    """Parse a path parameter as its type.

    Raises:
        ValueError: it is malformed.
    """
    if "\x00" in raw:
        raise ValueError("null character")
    if kind is UUID:
        parsed = UUID(raw)
        if str(parsed) != raw.lower():  # braces, urn: and other spellings that UUID() takes
            raise ValueError(raw)
        return parsed
    return raw if kind is str else msgspec.convert(raw, kind, strict=False)
