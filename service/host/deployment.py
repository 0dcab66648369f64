"""A deployment as its operator's commands find it.

Its database and its files, whether it runs or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from service.host.data_folder import EmbeddedError, default_data_dir
from service.host.embedded import DATABASE, Embedded, InUse, database_url, postgres_answers
from service.platform.config import Settings
from service.platform.data.database import as_service


class Deployment(NamedTuple):
    """Where a deployment's records and files are."""

    settings: Settings
    """With the data folder and the database that are used."""
    owner_url: str | None
    """The database as its owner; of an external one CUSHION_MIGRATION_URL, where it is set."""
    is_embedded: bool


@contextmanager
def deployment(settings: Settings) -> Iterator[Deployment]:
    """The deployment of these settings.

    Embedded servers that do not run are started for the time being.

    Beside a running service its servers are used. Start it from the main thread, as `Embedded`.

    Raises:
        EmbeddedError: there is no data in the data folder, or its servers cannot run.
    """
    if settings.database_url is not None:
        yield Deployment(settings, settings.migration_url, is_embedded=False)
        return
    data_dir = Path(os.path.realpath(settings.data_dir or default_data_dir()))
    if not (data_dir / "postgres").is_dir():
        raise EmbeddedError(f"{data_dir} has no data of the service; set CUSHION_DATA_DIR or CUSHION_DATABASE_URL")
    try:
        servers = Embedded(data_dir)
        servers.start()
    except InUse:
        yield _embedded(settings, data_dir, _running(data_dir))
        return
    try:
        yield _embedded(settings, data_dir, servers.database_url)
    finally:
        servers.stop()


def _running(data_dir: Path) -> str:
    if not postgres_answers(data_dir / "postgres" / "postmaster.pid"):
        raise EmbeddedError(f"the service in {data_dir} is just starting or stopping; try again")
    return database_url(Path(os.path.realpath(data_dir / "run")), DATABASE)


def _embedded(settings: Settings, data_dir: Path, owner_url: str) -> Deployment:
    embedded = msgspec.structs.replace(settings, data_dir=data_dir, database_url=as_service(owner_url), embedded=True)
    return Deployment(embedded, owner_url, is_embedded=True)
