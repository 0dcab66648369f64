"""What a terminal shows first.

The URL in the first line, which other programs read, then the console.
"""

from __future__ import annotations

from service.platform import welcome

URL = "http://127.0.0.1:8123"


def test_a_terminal_shows_the_console_before_all_else() -> None:
    own, others = welcome.lines(URL, embedded=True), welcome.lines(URL, embedded=False)
    assert own[0] == others[0] == f"Cushion is ready on {URL}"
    assert own[1] == others[1]
    assert own[1].split() == [f"{URL}/console/", "the", "console:", "open", "it", "in", "a", "browser"]
    text = "\n".join(others)
    assert [path for path in ("/docs", "/redoc", "/docs/guide/", "/health") if f"{URL}{path} " not in text] == []
    assert "create an account" not in text
    assert "create an account" in own[-1], "it is a step on a machine of one's own"


def test_an_address_is_one_that_this_machine_reaches() -> None:
    hosts = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]", "192.0.2.1": "192.0.2.1"}
    assert {host: welcome.address(host, 80) for host in hosts} == {
        host: f"http://{near}:80" for host, near in hosts.items()
    }
