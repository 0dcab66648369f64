"""A database's URL with several servers: which of them is tried first."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from service.platform.data.servers import LOST_SECONDS, SERVER_OPTIONS, Servers
from tests.conftest import Stack
from tests.rows import every


def order(servers: Servers) -> list[tuple[str, str]]:
    parts = conninfo_to_dict(servers.conninfo())
    return list(zip(str(parts["host"]).split(","), str(parts["port"]).split(","), strict=True))


@every("place, number", [("", 1), ("a", 1), ("a:5433", 1), ("a,b", 2), ("a:1,b:2,c:3", 3)])
def test_the_servers_of_a_url_are_counted(place: str, number: int) -> None:
    servers = Servers(f"postgresql://user:word@{place}/cushion?target_session_attrs=read-write")
    assert len(servers) == number
    parts = conninfo_to_dict(servers.conninfo())
    assert (parts["user"], parts["password"], parts["dbname"]) == ("user", "word", "cushion")
    assert parts["target_session_attrs"] == "read-write"


def test_the_server_that_answered_is_tried_first(stack: Stack) -> None:
    """The others follow in their order; a second look changes nothing."""
    parts = conninfo_to_dict(stack.database_url)
    place, port = str(parts["host"]), str(parts.get("port", 5432))
    servers = Servers(f"host=/nowhere,{place},/elsewhere port=1,{port},3 dbname={parts['dbname']} user={parts['user']}")
    with psycopg.connect(servers.conninfo()) as connection:
        assert servers.note(connection)
        assert not servers.note(connection)
    assert order(servers) == [(place, port), ("/nowhere", "1"), ("/elsewhere", "3")]


def test_one_port_is_that_of_all(stack: Stack) -> None:
    parts = conninfo_to_dict(stack.database_url)
    place, port = str(parts["host"]), str(parts.get("port", 5432))
    servers = Servers(f"host=/nowhere,{place} port={port} dbname={parts['dbname']} user={parts['user']}")
    with psycopg.connect(servers.conninfo()) as connection:
        assert servers.note(connection)
    assert order(servers) == [(place, port), ("/nowhere", port)]


def test_a_server_takes_the_options_of_its_end(stack: Stack) -> None:
    with psycopg.connect(stack.database_url, options=SERVER_OPTIONS.strip()) as connection:
        (value,) = connection.execute(
            "SELECT boot_val IS NOT NULL FROM pg_settings WHERE name = 'tcp_user_timeout' AND source = 'client'"
        ).fetchone() or (None,)
    assert value
    assert LOST_SECONDS == 14
