"""Refusals: a status, a code and a message, declared as two-line classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Protocol, Self

from msgspec import Struct

from service.platform.base.caller import KEY_SCOPES, Caller

CODE_BY_STATUS = {
    400: "VALIDATION_ERROR",
    401: "AUTHENTICATION_FAILED",
    403: "PERMISSION_DENIED",
    404: "RESOURCE_NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    409: "CONFLICT",
    410: "EXPORT_EXPIRED",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    416: "RANGE_NOT_SATISFIABLE",
    422: "VALIDATION_ERROR",
    429: "RATE_LIMIT_EXCEEDED",
    500: "INTERNAL_ERROR",
    503: "SERVICE_UNAVAILABLE",
}


RETRY_SECONDS = 2
"""What a 503 says where nobody knows better."""
BEARER: Final = 'Bearer realm="cushion"'
"""What a 401 asks for (RFC 6750, 3)."""
API_KEY: Final = 'ApiKey realm="cushion", header="X-API-Key"'
"""The other credential; no registered scheme stands for it."""
HELP: Final = "/docs/guide/errors/"
"""The page of the documentation with a paragraph for each refusal."""


def anchor_of(detail: str) -> str:
    """Return the anchor of a refusal's message in the guide: workbook_not_found."""
    return re.sub(r"[^a-z0-9]+", "_", detail.lower()).strip("_")


class CountedLimit(Protocol):
    """A limit that a refusal can describe."""

    @property
    def words(self) -> str:
        """Its size, what it counts and for how long."""


class Fault(Struct, frozen=True):
    """One thing that is wrong, and where: `loc` names the part of the request and the path within it."""

    loc: list[str]
    """Part of the request (body, query, path) and the path within it."""
    message: str
    """What is wrong there."""


class ErrorBody(Struct, frozen=True, omit_defaults=True):
    """The body of every answer that is not a success."""

    detail: str
    error_code: str
    request_id: str
    help: str
    """Where the documentation tells of it, on this server."""
    errors: list[Fault] | None = None


class RateLimitBody(Struct, frozen=True, omit_defaults=True):
    """The body of every 429: the rate-limit shape and the general one at once."""

    error: str
    """Always rate_limit_exceeded."""
    message: str
    """The limit that was passed."""
    retry_after: int
    """Seconds after which to try again."""
    detail: str
    error_code: str
    request_id: str
    help: str
    """Where the documentation tells of it, on this server."""
    errors: list[Fault] | None = None


class Problem(Exception):
    """A refusal: its class line has the status, its docstring the callers' message.

    `hint` says what to do about it, where the one who raises it says nothing more exact. `constraint` binds it to
    database constraints: the violation of one of them is raised as this problem.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "INTERNAL_ERROR"
    detail: ClassVar[str] = "Internal server error"
    hint: ClassVar[str] = ""
    by_constraint: ClassVar[dict[str, type[Problem]]] = {}

    def __init_subclass__(
        cls,
        *,
        status: int | None = None,
        code: str | None = None,
        hint: str = "",
        constraint: str | Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__(**kwargs)
        cls.hint = hint or cls.hint
        if status is not None:
            cls.status = status
            cls.code = code or CODE_BY_STATUS[status]
        elif code is not None:
            cls.code = code
        if cls.__doc__:
            cls.detail = cls.__doc__.strip()
        for name in [constraint] if isinstance(constraint, str) else constraint:
            assert name not in Problem.by_constraint, f"two problems claim the constraint {name}"
            Problem.by_constraint[name] = cls

    def __init__(self, *errors: Fault, headers: dict[str, str] | None = None) -> None:
        super().__init__(self.detail)
        self.errors = errors or ((Fault([], self.hint),) if self.hint else ())
        self.headers = headers or self._own_headers()
        self.verdict: Any = None
        """The gate's verdict, for the answer's limit headers."""

    def _own_headers(self) -> dict[str, str]:
        """Return the headers that every refusal of its status has."""
        if self.status == 503:
            return {"Retry-After": str(RETRY_SECONDS)}
        if self.status == 401:
            error = f', error="invalid_token", error_description="{self.detail}"' if "TOKEN" in self.code else ""
            return {"WWW-Authenticate": BEARER + error}
        return {}

    @property
    def all_headers(self) -> list[tuple[str, str]]:
        """Its headers, with the link to the documentation."""
        return [*self.headers.items(), ("Link", f'<{self.help}>; rel="help"')]

    @property
    def help(self) -> str:
        """The page of the documentation about it."""
        return f"{HELP}#{anchor_of(type(self).detail)}"

    @classmethod
    def at(cls, loc: Sequence[str], message: str) -> Problem:
        """Make this problem with one fault: `X.at(["body", "name"], "is empty")`."""
        return cls(Fault(list(loc), message))

    @classmethod
    def for_id(cls, id_: Any) -> Problem:
        """Return this problem for a missing record; a subclass may name it."""
        return cls()

    @classmethod
    def with_size(cls, most_bytes: int, declared_bytes: int | None = None) -> Problem:
        """Make this problem with a body's limit, and its declared size where known."""
        size = f"; this one has {declared_bytes:,}" if declared_bytes is not None else ""
        return cls.at(["body"], f"the limit is {most_bytes:,} bytes{size}")

    @classmethod
    def with_message(cls, detail: str, *, retry_after_seconds: int) -> Problem:
        """Make this problem with a message of an operator, and when to come again."""
        problem = cls(headers={"Retry-After": str(retry_after_seconds)})
        problem.detail = detail  # type: ignore[misc]  # this one's own
        return problem

    def body(self, request_id: str) -> ErrorBody | RateLimitBody:
        """Return the body of the answer."""
        return ErrorBody(self.detail, self.code, request_id, self.help, list(self.errors) or None)


class RateLimited(Problem, status=429):
    """Rate limit exceeded"""

    def __init__(self, *errors: Fault, retry_after_seconds: int = 60) -> None:
        super().__init__(*errors, headers={"Retry-After": str(retry_after_seconds)})
        self.retry_after_seconds = retry_after_seconds

    @classmethod
    def with_limit(cls, window: CountedLimit | None, retry_after_seconds: int) -> Self:
        """Make this problem with the limit that was passed, where it is known."""
        faults = [Fault([], f"the limit is {window.words}")] if window is not None else []
        return cls(*faults, retry_after_seconds=retry_after_seconds)

    def body(self, request_id: str) -> RateLimitBody:
        return RateLimitBody(
            error="rate_limit_exceeded",
            message=f"{self.detail}. Try again in {self.retry_after_seconds} seconds.",
            retry_after=self.retry_after_seconds,
            detail=self.detail,
            error_code=self.code,
            request_id=request_id,
            help=self.help,
            errors=list(self.errors) or None,
        )


class ValidationFailed(Problem, status=422):
    """Validation error"""


class HeaderTwice(Problem, status=400):
    """Header given twice"""


class BodyTooSlow(Problem, status=400):
    """Request body too slow"""


class PayloadTooLarge(Problem, status=413):
    """Request body too large"""


class UnsupportedMediaType(Problem, status=415):
    """Unsupported media type"""


class RangeNotSatisfiable(Problem, status=416):
    """Range not satisfiable"""


class NotFound(Problem, status=404):
    """Not found"""


class MethodNotAllowed(Problem, status=405):
    """Method not allowed"""


class Unauthenticated(
    Problem,
    status=401,
    hint="send Authorization: Bearer and an access token, or X-API-Key and a key",
):
    """Not authenticated"""

    def __init__(self, *errors: Fault) -> None:
        super().__init__(*errors, headers={"WWW-Authenticate": f"{BEARER}, {API_KEY}"})


class InvalidToken(Problem, status=401, code="INVALID_TOKEN"):
    """Invalid or expired token"""


class TokenRevoked(Problem, status=401, code="TOKEN_REVOKED", constraint="caller_session"):
    """Token has been revoked"""


class InvalidKey(Problem, status=401, constraint="caller_key"):
    """Invalid API key"""

    def __init__(self, *errors: Fault) -> None:
        super().__init__(*errors, headers={"WWW-Authenticate": f'{API_KEY}, error="invalid_token"'})


class PermissionDenied(
    Problem, status=403, constraint="caller_right", hint="the right to this was lost while the request was under way"
):
    """Insufficient permissions"""

    @classmethod
    def with_access(cls, caller: Caller, access: str) -> Self:
        """Make this problem with what the route asks for and what its caller has."""
        scope = f'{BEARER}, error="insufficient_scope", scope="{access}"'
        is_scope = caller.kind in ("user", "operator") and access in KEY_SCOPES
        fault = Fault([], caller.lacks(access))
        return cls(fault, headers={"WWW-Authenticate": scope} if is_scope else None)


class TenantSuspended(Problem, status=403, constraint="caller_tenant", hint="who runs the deployment lifts it"):
    """Tenant is suspended"""


class AddressNotAllowed(
    Problem,
    status=403,
    hint="the tenant's allowed_ip_ranges leave out the address that the request came from",
):
    """IP address not allowed"""


class EnrolmentRequired(Problem, status=403, hint="begin with POST /api/v1/auth/2fa/enroll"):
    """Two-factor enrolment required"""


class TenantNotFound(Problem, status=404):
    """Tenant not found"""


class ConcurrentModification(
    Problem,
    status=409,
    hint="somebody else changed it meanwhile: read it again, and send the change with the ETag that it has now",
):
    """Concurrent modification"""


class AlreadyProcessed(Problem, status=409):
    """Already processed"""


class KeyUsed(Problem, status=409, hint="another request takes another Idempotency-Key"):
    """Idempotency key was used for another request"""


class StillProcessing(Problem, status=409, hint="send it again later: it gets the first answer"):
    """Request with this idempotency key is still being processed"""


class Unavailable(Problem, status=503):
    """Service temporarily unavailable"""


class Away(Unavailable, status=503):
    """Service temporarily unavailable"""

    def __init__(self, seconds: int) -> None:
        """`seconds`: when what is away is tried again."""
        super().__init__(headers={"Retry-After": str(seconds)})
        self.seconds = seconds


class UnderMaintenance(Problem, status=503):
    """Scheduled maintenance in progress"""


class SwitchedOff(Problem, status=503):
    """Switched off for now"""


class TooManyConnections(Problem, status=503):
    """Too many connections from this address"""


class InternalError(Problem, status=500):
    """Internal server error"""
