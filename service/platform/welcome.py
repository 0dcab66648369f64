"""The first page for a newcomer, from `cushion serve` and at `/`."""

from __future__ import annotations

from typing import Final

NAME: Final = "Cushion"
WHAT: Final = "Portfolio workbooks and compliance tests for collateralised loan obligations."
CONSOLE: Final = "/console/"
LINKS: Final = (
    (CONSOLE, "the console: open it in a browser"),
    ("/docs", "try the API in the browser"),
    ("/redoc", "read its reference"),
    ("/docs/guide/", "tutorial and how-tos"),
    ("/health", "health checks"),
)
NEXT: Final = "Next: open the console and create an account. `cushion demo` shows it with three deals."


def address(host: str, port: int) -> str:
    """Return the URL under which this machine reaches a service on a host and port."""
    near = reachable_host(host)
    return f"http://[{near}]:{port}" if ":" in near else f"http://{near}:{port}"


def reachable_host(host: str) -> str:
    """Return the host itself, or the loopback address where it means every address."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (compared, not bound)


def lines(url: str, *, embedded: bool) -> list[str]:
    """Return what a terminal shows once the service is ready: first the URL."""
    links = [f"  {url + path:42} {what}" for path, what in LINKS]
    return [f"Cushion is ready on {url}", *links, *(["", NEXT] if embedded else [])]
