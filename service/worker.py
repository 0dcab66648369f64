"""The arq worker: every area's jobs, the hand-over from the outbox, the drain of the event stream."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TypeGuard

import structlog
import uvloop

from service.host.child import become
from service.host.data_folder import HOME, app_account, hand_over_files, open_data_dir
from service.jobs import jobs
from service.platform import config
from service.platform.access.usage import keep_usage
from service.platform.config import Settings
from service.platform.work.cleanup import clean_up_forever
from service.platform.work.expiry import forget_forever
from service.platform.work.jobs import hand_over_forever, queue_of, workers
from service.platform.work.process import resources
from service.platform.work.stream import drain_forever

DRAIN = "worker"
"""Every worker's name at the stream: Redis would keep one of its own long after the worker is gone."""

log = structlog.get_logger()


async def work(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then finish what runs and stop."""
    from service.alerts.jobs import watch_clock_forever

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    async with resources(settings) as shared:
        assert settings.redis_url is not None
        assert settings.database_url is not None
        queue = queue_of(settings.redis_url)
        running = workers(shared, settings.redis_url, jobs())
        tasks = [asyncio.create_task(worker.async_run()) for worker in running]
        beside = [
            asyncio.create_task(hand_over_forever(shared, queue, settings.database_url, stopping)),
            asyncio.create_task(shared.revocations.mend(stopping)),
            asyncio.create_task(keep_usage(shared, stopping)),
            asyncio.create_task(forget_forever(shared, stopping)),
            asyncio.create_task(clean_up_forever(shared, stopping)),
            asyncio.create_task(watch_clock_forever(shared, stopping)),
            asyncio.create_task(drain_forever(shared, DRAIN, stopping)),
        ]
        log.info("worker.started")
        stop = asyncio.create_task(stopping.wait())
        await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        broken = not stopping.is_set()
        stopping.set()
        for worker in running:
            worker.allow_pick_jobs = False
        await asyncio.gather(*(asyncio.gather(*worker.tasks.values(), return_exceptions=True) for worker in running))
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, *beside, return_exceptions=True)
        await queue.aclose()
        if broken:  # a queue's worker ended by itself: the supervisor starts another process
            raise RuntimeError("a queue's worker ended") from next(filter(_is_error, outcomes), None)
        log.info("worker.stopped")


def _is_error(outcome: object) -> TypeGuard[Exception]:
    return isinstance(outcome, Exception)


def main() -> None:
    """Run the worker of the settings in the environment; who is root becomes another user first."""
    settings = config.load()
    account = app_account()
    if account is not None:
        if settings.data_dir is not None:
            open_data_dir(settings.data_dir, account)
            hand_over_files(settings.data_dir, account)
        os.chdir(HOME)
        become(account.uid, account.gid, account.reads_all)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  (no shell is wanted)
    uvloop.run(work(settings))


if __name__ == "__main__":
    main()
