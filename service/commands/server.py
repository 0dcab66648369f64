"""Commands that run the service."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from service.commands.refusal import Refused

if TYPE_CHECKING:
    from service.platform.config import Settings


def serve(*, host: str | None = None, port: int | None = None) -> int:
    """Run the service until Ctrl-C or SIGTERM.

    The API, and with the embedded databases the workers too.

    Parameters
    ----------
    host:
        Address to listen on, in place of CUSHION_HOST.
    port:
        Port to listen on, in place of CUSHION_PORT; 0 takes a free one.
    """
    from service.host.data_folder import default_data_dir
    from service.host.supervisor import Plan
    from service.host.supervisor import serve as supervise
    from service.platform.config import ConfigError
    from service.platform.work import process

    settings = settings_or_refusal()
    try:
        process.check(settings)
    except ConfigError as error:
        raise Refused(str(error)) from error
    return supervise(
        Plan(
            data_dir=settings.data_dir or default_data_dir(),
            host=host or settings.host,
            port=settings.port if port is None else port,
            settings=settings,
            database_url=settings.database_url,
            redis_url=settings.redis_url,
        )
    )


def worker() -> None:
    """Run one worker until Ctrl-C or SIGTERM.

    It needs CUSHION_DATABASE_URL and CUSHION_REDIS_URL.
    """
    settings = settings_or_refusal()
    import psycopg

    from service.platform.config import ConfigError
    from service.platform.data import migrations
    from service.worker import main

    try:
        if settings.database_url is not None:
            migrations.verify(settings.database_url)
        main()
    except (ConfigError, psycopg.Error, migrations.MigrationError) as error:
        raise Refused(str(error)) from error


def migrate() -> None:
    """Bring the database of CUSHION_MIGRATION_URL up to date, as its owner.

    Print what was applied.

    The role of CUSHION_DATABASE_URL, which the service logs in as, is given the password that stands there.
    """
    settings = settings_or_refusal()
    url = settings.migration_url
    if url is None:
        raise Refused("CUSHION_MIGRATION_URL is not set; the embedded database is migrated by `cushion serve` itself")
    import psycopg

    from service.platform.data import database, migrations

    try:
        applied = migrations.migrate(url, report=print)
        if settings.database_url is not None:
            database.give_password(url, settings.database_url)
    except (psycopg.Error, migrations.MigrationError) as error:
        raise Refused(f"the database cannot be brought up to date: {error}") from error
    print(f"{applied} applied" if applied else "up to date")


def settings_or_refusal() -> Settings:
    """The settings of the environment; a name that is none is told.

    Raises:
        Refused: one cannot be used.
    """
    from service.platform import config

    for name in config.unknown():
        print(f"cushion: {name} is not a setting and has no effect", file=sys.stderr)
    try:
        return config.load()
    except config.ConfigError as error:
        raise Refused(str(error)) from error
