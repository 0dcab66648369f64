"""The servers that a database's URL names, and how soon a silent one is given up.

`postgresql://...@a:5432,b:5432/cushion?target_session_attrs=read-write` names a primary and its replica: whichever of
them takes writes is used. The one that answered last is tried first, so that a dead one costs a wait once.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import structlog
from psycopg import BaseConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

CONNECT_SECONDS: Final = 2
"""In which a server that is there takes a new connection; where a URL names several, each has so long."""

KEEPALIVE_SECONDS: Final = (5, 3, 3)
"""After the first a silent connection's other end is asked, then after each second; the third is how often."""

LOST_SECONDS: Final = KEEPALIVE_SECONDS[0] + KEEPALIVE_SECONDS[1] * KEEPALIVE_SECONDS[2]
"""After which a host without power, or behind a cut link, is noticed: the kernel of one that works answers for it."""

_IDLE, _BETWEEN, _COUNT = KEEPALIVE_SECONDS

CLIENT_OPTIONS: Final[dict[str, Any]] = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": _IDLE,
    "keepalives_interval": _BETWEEN,
    "keepalives_count": _COUNT,
    "tcp_user_timeout": LOST_SECONDS * 1000,
}
"""Of each connection, this end's."""

SERVER_OPTIONS: Final = (
    f" -c tcp_keepalives_idle={_IDLE} -c tcp_keepalives_interval={_BETWEEN} -c tcp_keepalives_count={_COUNT}"
    f" -c tcp_user_timeout={LOST_SECONDS}s"
)
"""The other end's: it drops the locks of a client whose host is gone."""

log = structlog.get_logger()


class Servers:
    """The servers of one URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        parts = conninfo_to_dict(url)
        columns = {name: str(parts[name]).split(",") for name in ("host", "hostaddr", "port") if parts.get(name)}
        self._count = max((len(values) for name, values in columns.items() if name != "port"), default=1)
        self._columns = {name: values * (self._count if len(values) == 1 else 1) for name, values in columns.items()}
        self._first = 0

    def __len__(self) -> int:
        return self._count

    def conninfo(self) -> str:
        """Return the URL's connection string, the server that answered last in front."""
        if self._count == 1:
            return self._url
        order = [self._first, *(number for number in range(self._count) if number != self._first)]
        parts = {name: ",".join(values[number] for number in order) for name, values in self._columns.items()}
        return make_conninfo(self._url, **parts)

    def note(self, connection: BaseConnection[Any]) -> bool:
        """Note who answered; return whether it is another server than before."""
        info = connection.info
        for number in range(self._count if self._count > 1 else 0):
            place = {name: values[number] for name, values in self._columns.items()}
            if (place.get("host", info.host), place.get("port", str(info.port))) == (info.host, str(info.port)):
                changed, self._first = number != self._first, number
                if changed:
                    log.warning("database.moved", host=info.host, port=info.port)
                return changed
        return False


@cache
def servers_of(url: str) -> Servers:
    """Return the servers of a URL, one object for all connections of the process."""
    return Servers(url)
