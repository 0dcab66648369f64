"""What a stranger reads first, from `cushion serve` and at `/`: what this is and where to look."""

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
    """The URL under which this machine reaches a service that listens on a numeric host and a port."""
    near = reachable_host(host)
    return f"http://[{near}]:{port}" if ":" in near else f"http://{near}:{port}"


def reachable_host(host: str) -> str:
    """The host itself, or the loopback address where it means every address."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (compared, not bound)


def lines(url: str, *, embedded: bool) -> list[str]:
    """What a terminal shows once the service is ready: the URL, then the console, then all else."""
    links = [f"  {url + path:42} {what}" for path, what in LINKS]
    return [f"Cushion is ready on {url}", *links, *(["", NEXT] if embedded else [])]
