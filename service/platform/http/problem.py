"""Refusals: a status, a code and a message, declared as two-line classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import Struct

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


class Fault(Struct, frozen=True):
    """One thing that is wrong, and where: `loc` names the part of the request and the path within it."""

    loc: list[str]
    message: str


class ErrorBody(Struct, frozen=True, omit_defaults=True):
    """The body of every answer that is not a success."""

    detail: str
    error_code: str
    request_id: str
    errors: list[Fault] | None = None


class RateLimitBody(Struct, frozen=True, omit_defaults=True):
    """The body of every 429: the rate-limit shape and the general one at once."""

    error: str
    message: str
    retry_after: int
    detail: str
    error_code: str
    request_id: str
    errors: list[Fault] | None = None


class Problem(Exception):
    """A refusal. A subclass names its status in the class line; its docstring is the message that the caller reads.

    `constraint` binds it to database constraints: the violation of one of them is raised as this problem.
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = "INTERNAL_ERROR"
    detail: ClassVar[str] = "Internal server error"
    by_constraint: ClassVar[dict[str, type[Problem]]] = {}

    def __init_subclass__(
        cls, *, status: int | None = None, code: str | None = None, constraint: str | Sequence[str] = (), **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
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
        self.errors = errors
        self.headers = headers or {}
        self.verdict: Any = None
        """The gate's verdict, where the answer's limit headers are to tell it."""

    @classmethod
    def at(cls, loc: Sequence[str], message: str) -> Problem:
        """This problem with one fault: `raise InvalidBody.at(["body", "name"], "is empty")`."""
        return cls(Fault(list(loc), message))

    def body(self, request_id: str) -> ErrorBody | RateLimitBody:
        """What goes to the caller."""
        return ErrorBody(self.detail, self.code, request_id, list(self.errors) or None)


class RateLimited(Problem, status=429):
    """Rate limit exceeded"""

    def __init__(self, *errors: Fault, retry_after_seconds: int = 60) -> None:
        super().__init__(*errors, headers={"Retry-After": str(retry_after_seconds)})
        self.retry_after_seconds = retry_after_seconds

    def body(self, request_id: str) -> RateLimitBody:
        return RateLimitBody(
            error="rate_limit_exceeded",
            message=f"{self.detail}. Try again in {self.retry_after_seconds} seconds.",
            retry_after=self.retry_after_seconds,
            detail=self.detail,
            error_code=self.code,
            request_id=request_id,
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


class Unauthenticated(Problem, status=401):
    """Not authenticated"""


class InvalidToken(Problem, status=401, code="INVALID_TOKEN"):
    """Invalid or expired token"""


class TokenRevoked(Problem, status=401, code="TOKEN_REVOKED"):
    """Token has been revoked"""


class InvalidKey(Problem, status=401):
    """Invalid API key"""


class PermissionDenied(Problem, status=403):
    """Insufficient permissions"""


class TenantSuspended(Problem, status=403):
    """Tenant is suspended"""


class AddressNotAllowed(Problem, status=403):
    """IP address not allowed"""


class EnrolmentRequired(Problem, status=403):
    """Two-factor enrolment required"""


class TenantNotFound(Problem, status=404):
    """Tenant not found"""


class ConcurrentModification(Problem, status=409):
    """Concurrent modification"""


class AlreadyProcessed(Problem, status=409):
    """Already processed"""


class KeyUsed(Problem, status=409):
    """Idempotency key was used for another request"""


class StillProcessing(Problem, status=409):
    """Request with this idempotency key is still being processed"""


class Unavailable(Problem, status=503):
    """Service temporarily unavailable"""


class TooManyConnections(Problem, status=503):
    """Too many connections from this address"""


class InternalError(Problem, status=500):
    """Internal server error"""
