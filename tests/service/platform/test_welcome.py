"""What a stranger is told first: the first line is the one that other programs read, the command is one that works."""

from __future__ import annotations

import re
import shlex

import httpx

from service.platform import welcome
from tests.conftest import Stack

URL = "http://127.0.0.1:8123"


def test_a_terminal_is_told_where_to_look_and_only_on_a_machine_of_ones_own_what_to_type() -> None:
    own, others = welcome.lines(URL, embedded=True), welcome.lines(URL, embedded=False)
    assert own[0] == others[0] == f"Cushion is ready on {URL}"
    told = "\n".join(others)
    assert [path for path in ("/docs", "/redoc", "/health") if f"{URL}{path} " not in told] == []
    assert "register" not in told
    assert welcome.next_command(URL) in "\n".join(own)


def test_the_command_founds_a_tenant(stack: Stack) -> None:
    program, silent, url, *options = shlex.split(welcome.next_command(stack.url))
    assert (program, silent, options[0], options[2]) == ("curl", "-s", "-H", "-d")
    name, value = options[1].split(": ")
    content = options[3].replace("ann@example.com", "ann-of-the-welcome@example.com")
    assert httpx.post(url, headers={name: value}, content=content).status_code == 201


def test_an_address_is_one_that_this_machine_reaches() -> None:
    hosts = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "::1": "[::1]", "192.0.2.1": "192.0.2.1"}
    assert {host: welcome.address(host, 80) for host in hosts} == {
        host: f"http://{near}:80" for host, near in hosts.items()
    }


def test_what_stands_in_the_page_is_text() -> None:
    page = welcome.page('http://"><script>', "1.0.0", embedded=True).decode()
    assert re.findall("<script", page) == []
