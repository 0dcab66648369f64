"""The backup and restore commands: a deployment to a folder and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from service.commands.output import counted
from service.commands.refusal import Refused, one_line
from service.commands.server import settings_or_refusal

if TYPE_CHECKING:
    from service.platform.config import Settings

WITHOUT_SECRETS = (
    "without the secret key: keep it apart (secret_key and keys/ of the data folder, or CUSHION_SECRET_KEY), or back "
    "up with --with-secrets; else second factors, webhooks' secrets and waiting letters cannot be read after a "
    "restore, everybody logs in again, and earlier exports do not verify"
)
HELD = (
    "webhooks and alerts wait, and letters that were to go out are dropped, since the deployment that was backed up "
    "may still run; switch the flags `webhooks` and `alerts` on when it no longer does"
)

LEFT_OUT = "what is read from them is refused (503) until the same files are uploaded again"


def backup(
    target: Path,
    /,
    *,
    with_secrets: Annotated[bool, Parameter(negative=())] = False,
    keep: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
) -> int:
    """Back up the deployment of the environment's settings, whether it runs or not.

    The backup is of one moment: a snapshot of the database, and every file that it names. Files are kept once for all
    backups of the folder, by their SHA-256, so a further backup copies what is new. A backup has its name when all of
    it is on the disk. What Redis alone holds (events of the last seconds, rate limits) is not in it.

    Of an external database CUSHION_MIGRATION_URL must be a role that row security does not bind (a superuser, or one
    with BYPASSRLS).

    The exit code is 0 where everything is in the backup, and 2 where there is no backup. It is 1 where damaged files
    were left out; each is named.

    Parameters
    ----------
    target:
        The folder of backups.
    with_secrets:
        Take the secret key and the keys of signatures of the data folder along. Whoever has the backup can then read
        every sealed secret: guard it like the service itself.
    keep:
        Remove all but so many of the newest backups of the folder, this one among them, and files that none names.
    """
    from service.host.backup import back_up
    from service.host.deployment import deployment

    with _refusing(), deployment(settings_or_refusal()) as installation:
        result = back_up(installation, target.resolve(), with_secrets=with_secrets, keep=keep)
    manifest = result.manifest
    print(
        f"{result.folder}: {counted(manifest.blob_count, 'file')}, {manifest.blob_bytes / 1e6:,.1f} MB "
        f"({result.copied:,} copied), "
        f"database {next(file.size_bytes for file in manifest.files if file.path == 'database.dump') / 1e6:,.1f} MB"
    )
    for name in result.removed:
        print(f"{name}: removed")
    if manifest.damaged:
        print(f"{_files(manifest.damaged)} left out, since their bytes are damaged:", *manifest.damaged, sep="\n  ")
        print(LEFT_OUT)
    if not with_secrets:
        print(WITHOUT_SECRETS)
    return 1 if manifest.damaged else 0


def restore(
    source: Path,
    /,
    *,
    name: str | None = None,
    takes_over: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Restore a backup into the deployment of the environment's settings, which must be empty.

    On the embedded default that is a data folder (CUSHION_DATA_DIR) that is empty or not there. Else it is an empty
    database (CUSHION_MIGRATION_URL, its owner) and an empty blob store. Every file is verified before anything is
    written, and the audit chains after it. A backup of an older version is migrated; one of a newer version is refused.
    A dump holds statements that the database's owner runs: restore only what you trust.

    The restored deployment is one of its own. The old one may go on beside it.

    The exit code is 0 where all is restored, and 2 where nothing is. It is 1 where the backup lacked files, or an audit
    chain is broken.

    Parameters
    ----------
    source:
        The folder of backups.
    name:
        Which backup, by its folder; without it the newest.
    takes_over:
        The deployment that was backed up does not run any more: webhooks, alerts and letters go out from here.
    """
    from service.host.backup import SECRETS
    from service.host.backup import restore as restored

    broken: list[str] = []
    settings = settings_or_refusal()
    with _refusing():
        manifest = restored(
            source.resolve(), settings, name=name, takes_over=takes_over, look=lambda now: broken.extend(_breaks(now))
        )
    print(f"restored as of {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC: {counted(manifest.blob_count, 'file')}")
    for line in broken:
        print(one_line(line))
    if not broken:
        print(counted(len(manifest.heads), "audit chain", "is/are") + " whole")
    if not any(file.path.startswith(SECRETS) for file in manifest.files):
        print("the backup has no secret key: put yours in place before the service starts, or a new one is made")
    if not takes_over:
        print(HELD)
    if manifest.damaged:
        print(f"{_files(manifest.damaged)} missing, left out of the backup as damaged:", *manifest.damaged, sep="\n  ")
        print(LEFT_OUT)
    return 1 if broken or manifest.damaged else 0


def _files(keys: list[str]) -> str:
    return f"{counted(len(keys), 'file', 'is/are')}"


def _breaks(settings: Settings) -> list[str]:
    import asyncio

    from service.commands.lookback import chain_breaks

    return asyncio.run(chain_breaks(settings))


@contextmanager
def _refusing() -> Iterator[None]:
    import psycopg

    from service.host.backup import BackupError
    from service.host.data_folder import EmbeddedError
    from service.platform import log
    from service.platform.base.problem import Problem
    from service.platform.config import ConfigError
    from service.platform.data.migrations import MigrationError

    log.configure("error")
    try:
        yield
    except (BackupError, EmbeddedError, ConfigError, MigrationError, Problem) as error:
        raise Refused(str(error)) from error
    except psycopg.Error as error:
        raise Refused(f"the database cannot be used: {error}") from error
    except OSError as error:
        raise Refused(f"{error.filename or 'a file'}: {error.strerror or error}") from error
