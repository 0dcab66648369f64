"""The page of refusals: for each code its messages, with cause and remedy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from docs.generated.markdown import code, page, plain, table
from docs.generated.messages import HELP, Help
from service.app import routes
from service.platform.base.flags import FLAGS
from service.platform.base.problem import Problem, anchor_of
from service.platform.http.application import ANYWHERE
from service.platform.route.api import Route

MEANINGS: Final = {
    "AUTHENTICATION_FAILED": (
        "The request does not say who calls, or what it says is not so.",
        "Log in (`POST /api/v1/auth/login`) and send `Authorization: Bearer ...`, or `X-API-Key: ...`. A user who was deactivated asks an admin.",
    ),
    "INVALID_TOKEN": (
        "The token cannot be read, is not ours, or has ended.",
        "Get another by `POST /api/v1/auth/refresh`, else log in anew. Access tokens live for `CUSHION_ACCESS_TOKEN_SECONDS`.",
    ),
    "TOKEN_REVOKED": (
        "The token was good and was ended: by a logout, a new role or password, an admin, or since its refresh token was used twice.",
        "Log in anew. Use each refresh token once, and keep the one that the answer brings.",
    ),
    "PERMISSION_DENIED": (
        "It is known who calls, and they may not do this; or the tenant has used up what its tier permits.",
        "Have an admin give the API key the scope, or the user the role, that the endpoint's page names. For a limit of the tier, remove "
        "something or ask who runs the deployment for another tier.",
    ),
    "RESOURCE_NOT_FOUND": (
        "There is no such record, or it belongs to another tenant, which is not told apart.",
        "List what there is, and take the identifier from there. It may have been deleted since.",
    ),
    "METHOD_NOT_ALLOWED": ("The path is there, and has no such method.", "Read `Allow` in the answer, or the endpoint's page."),
    "CONFLICT": (
        "The request does not fit the record as it stands. The record has another state or version, is in use, or its name is taken.",
        "Read the record again. A state that passes (`processing`, `recalculating`) is waited for; a version that is old is read anew and the change made again.",
    ),
    "EXPORT_EXPIRED": ("The file of the export or report was kept for its time and is gone.", "Make another one; the record of the old one stays."),
    "PAYLOAD_TOO_LARGE": ("The body is longer than its limit.", "Send less, or in parts. The [limits](reference/limits.md) are [settings](reference/settings.md)."),
    "UNSUPPORTED_MEDIA_TYPE": ("The body is of a kind that the endpoint does not read.", "Send `Content-Type: application/json`, or a form with a file where the endpoint's page says so."),
    "RANGE_NOT_SATISFIABLE": ("The bytes that were asked for are past the end of the file.", "Ask without `Range`; `Content-Range` tells the length."),
    "VALIDATION_ERROR": (
        "Something in the request is not as it must be. `errors` lists every fault with its place.",
        "Mend what `errors` names. The fields of each body are on the endpoint's page.",
    ),
    "FILE_PARSE_ERROR": ("The file's bytes cannot be read as what they seem to be.", "Open and save it in a spreadsheet program, and send that; what is read is told in [files](reference/files.md)."),
    "CALCULATION_ERROR": ("A formula has no value that could be given, or passed a limit of calculating.", "Read `errors`, try the formula with `POST /api/v1/calculations/validate`; the [limits](reference/limits.md#limits-on-formulas) name figures."),
    "RATE_LIMIT_EXCEEDED": ("More was asked than a minute, a day or a month permits.", "Wait for as many seconds as `Retry-After` says. Figures are [settings](reference/settings.md) by tier."),
    "SERVICE_UNAVAILABLE": (
        "What the request needs is away, switched off, full or in maintenance.",
        "Try again after `Retry-After` seconds. `GET /health/degradation/full` says what is away; who runs the deployment finds more under [when something is wrong](operations/trouble.md).",
    ),
    "INTERNAL_ERROR": ("A fault of ours.", "Tell who runs the deployment the `request_id`: the log has the reason under it."),
}  # fmt: skip
"""What each code means, and what to do."""

OPENING: Final = """# Errors

Every refusal is one JSON object:

- `detail` says what is wrong in words.
- `error_code` is one of the codes below.
- `request_id` finds the request in the service's log.
- `help` leads to the message's paragraph on this page, as the header `Link` does, with `rel="help"`.
- `errors` lists single faults with their place where there are some (at most 100).

A refusal for a rate limit has `error`, `message` and `retry_after` beside them.

Programs decide by the status and `error_code`; the words may become clearer from version to version."""


def problems() -> dict[type[Problem], list[Route]]:
    """Map each refusal to the routes that list it; none where any route may give it."""
    routes_by_problem: dict[type[Problem], list[Route]] = {problem: [] for problem in ANYWHERE}
    for route in routes():
        for problem in route.errors if route.tag != "docs" else ():
            routes_by_problem.setdefault(problem, []).append(route)
    return routes_by_problem


def pages() -> dict[str, str]:
    """Make the page, by its path."""
    by_code: dict[str, dict[tuple[int, str], list[Route]]] = defaultdict(dict)
    for problem, givers in problems().items():
        by_code[problem.code].setdefault((problem.status, problem.detail), []).extend(givers)
    for flag in FLAGS.values():
        if flag.refusal:
            by_code["SERVICE_UNAVAILABLE"].setdefault((503, flag.refusal), [])
    unsaid = set(by_code) ^ set(MEANINGS)
    assert not unsaid, f"codes without a meaning, or the other way round: {unsaid}"
    used: set[str] = set(map(str.lower, by_code))
    summary = [
        (f"[{code(name)}](#{name.lower()})", ", ".join(sorted({str(status) for status, _ in by_code[name]})), MEANINGS[name][0])
        for name in sorted(by_code)
    ]  # fmt: skip
    parts = [OPENING, table(("code", "status", "what it means"), summary)]
    for name in sorted(by_code):
        general = Help(*MEANINGS[name])
        parts += [f"## {name} {{#{name.lower()}}}", _sentences(general)]
        for (status, detail), givers in sorted(by_code[name].items()):
            links = _shortened(list(dict.fromkeys(_links(givers)))) or "any endpoint"
            paragraph = f"{_sentences(HELP.get(detail, general))} Status {status}, given by {links}."
            parts += [f"### {plain(detail)}{_address(detail, used)}", paragraph]
    return {"errors.md": page(*parts)}


def _sentences(entry: Help) -> str:
    return f"{entry.cause} **What to do:** {entry.remedy}"


LINKS_MAX: Final = 6


def _shortened(links: list[str]) -> str:
    others = len(links) - LINKS_MAX
    return ", ".join(links[:LINKS_MAX]) + (f" and {others} more" if others > 0 else "")


def _address(detail: str, used: set[str]) -> str:
    name = anchor_of(detail)
    if name in used:
        return ""
    used.add(name)
    return f" {{#{name}}}"


def _links(givers: list[Route]) -> Iterator[str]:
    for route in givers:
        yield f"[{code(f'{route.method} {route.path}')}](reference/api/{anchor_of(route.tag)}.md#{route.name})"
