"""What a stranger is told first, by `cushion serve` and at `/`: what this is, where to look, and what to type next."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from typing import Final

WHAT: Final = "Portfolio workbooks and compliance tests for collateralised loan obligations."
LINKS: Final = (
    ("/docs", "try the API in the browser"),
    ("/redoc", "read its reference"),
    ("/docs/guide/", "tutorial and how-tos"),
    ("/health", "health checks"),
)
_STYLE: Final = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b2430;--soft:#586374;--line:#dfe4ea;--mark:#0b5cad;--code:#f4f6f8}
@media(prefers-color-scheme:dark){:root{--paper:#12161c;--ink:#e4e9f0;--soft:#9aa6b5;--line:#2b333e;--mark:#7ab5f5;
--code:#1a2028}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
main{max-width:44rem;margin:0 auto;padding:clamp(1.5rem,6vw,4.5rem) 1.25rem}
h1{margin:0;font-size:2rem;letter-spacing:-.02em}
h1 small{font-size:.9rem;font-weight:400;letter-spacing:0;color:var(--soft);margin-left:.5rem}
h2{font-size:1rem;margin:2.25rem 0 .5rem}
p{margin:.35rem 0;color:var(--soft)}
ul{list-style:none;margin:1.75rem 0 0;padding:0;border-top:1px solid var(--line)}
li{border-bottom:1px solid var(--line)}
li a{display:flex;gap:1rem;padding:.7rem .25rem;color:inherit;text-decoration:none}
li a b{color:var(--mark);font-weight:600;min-width:8rem}
li a:hover b,li a:focus b{text-decoration:underline}
pre{margin:.5rem 0;padding:.9rem 1rem;background:var(--code);border:1px solid var(--line);border-radius:6px;
overflow-x:auto;font:13px/1.5 ui-monospace,monospace;user-select:all;white-space:pre-wrap;overflow-wrap:anywhere}
"""
_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS: Final = [
    (
        "content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
    ),
    ("vary", "accept"),
]
"""Nothing is fetched, run or framed."""


def address(host: str, port: int) -> str:
    """The URL under which this machine reaches a service that listens on a numeric host and a port."""
    near = reachable_host(host)
    return f"http://[{near}]:{port}" if ":" in near else f"http://{near}:{port}"


def reachable_host(host: str) -> str:
    """The host itself, or the loopback address where it means every address."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  (compared, not bound)


def next_command(url: str) -> str:
    """What founds a tenant on a service of one's own; the name and the password are examples."""
    return f"""curl -s {url}/api/v1/auth/register -H 'Content-Type: application/json' -d '{{
  "email": "ann@example.com", "password": "Passw0rd-1",
  "full_name": "Ann Analyst", "organization_name": "Example Capital"}}'"""


def lines(url: str, *, embedded: bool) -> list[str]:
    """What a terminal shows once the service is ready; the first line has the URL."""
    told = [f"Cushion is ready on {url}", *(f"  {url + path:42} {what}" for path, what in LINKS)]
    if embedded:
        told += ["", "Next, in another terminal (the password is an example: choose one):", "", next_command(url), ""]
    return told


@cache
def page(url: str, version: str, *, embedded: bool) -> bytes:
    """The page at `/`; `url` is where this machine reaches the service."""
    links = "".join(f'<li><a href="{path}"><b>{path}</b><span>{what}</span></a></li>' for path, what in LINKS)
    steps = ""
    if embedded:
        steps = (
            "<h2>Next</h2><p>Create an account; the password is an example, choose one.</p>"
            f"<pre>{escape(next_command(url))}</pre>"
            "<p>Or see all of it at once, in a service of its own:</p><pre>cushion demo</pre>"
        )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Cushion</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<style>{_STYLE}</style></head>
<body><main><h1>Cushion<small>{version}</small></h1><p>{WHAT}</p><ul>{links}</ul>{steps}</main></body></html>
""".encode()
