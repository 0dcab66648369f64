"""The arq worker: every area's jobs, their dispatch, the drain of the event stream."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TypeGuard

import structlog
import uvloop
from redis.exceptions import RedisError

import core
from core.confined.kept import keeping_children
from service.formulas.shared import keep_compiled
from service.host.child import become
from service.host.data_folder import HOME, app_account, hand_over_files, open_data_dir
from service.platform import config
from service.platform.config import Settings
from service.platform.events.stream import drain_forever
from service.platform.tracing import trace_process
from service.platform.work.cleanup import clean_up_forever
from service.platform.work.expiry import expire_forever
from service.platform.work.exposition import expose
from service.platform.work.process import end, resources
from service.platform.work.queues import dispatch_forever, queue_of, wake_forever, workers
from service.platform.work.runner import QUEUES_MARKER
from service.platform.work.sync_fallback import report_alive
from service.platform.work.usage import keep_usage
from service.work import jobs

DRAIN = "worker"
"""Every worker's name at the stream: Redis would keep one of its own long after the worker is gone."""

log = structlog.get_logger()


async def work(settings: Settings) -> None:
    """Work until SIGTERM or SIGINT, then finish what runs, or give it back after a while, and stop."""
    from service.alerts.jobs import watch_clock_forever

    loop = asyncio.get_running_loop()
    async with (
        resources(settings) as shared,
        expose(shared, "worker"),
        trace_process(settings, core.__version__, "worker"),
    ):
        stopping = shared.stopping
        keep_compiled(settings)
        shared.closing.enter_context(keeping_children())
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopping.set)
        assert settings.redis_url is not None
        assert settings.database_url is not None
        queue = queue_of(settings.redis_url)
        running = workers(shared, settings.redis_url, jobs())
        tasks = [asyncio.create_task(worker.async_run()) for worker in running]
        beside = [
            asyncio.create_task(dispatch_forever(shared, queue, settings.database_url, stopping)),
            asyncio.create_task(wake_forever(shared, running, queue, stopping)),
            asyncio.create_task(shared.revocations.mend(stopping)),
            asyncio.create_task(keep_usage(shared, stopping)),
            asyncio.create_task(expire_forever(shared, stopping)),
            asyncio.create_task(clean_up_forever(shared, stopping)),
            asyncio.create_task(watch_clock_forever(shared, stopping)),
            asyncio.create_task(drain_forever(shared, DRAIN, stopping)),
            asyncio.create_task(report_alive(shared, stopping)),
        ]
        log.info("worker.started")
        stop = asyncio.create_task(stopping.wait())
        await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
        broken = not stopping.is_set()
        stopping.set()
        await end(tasks)  # they fetch no more; what they fetched goes on
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        if last := [task for worker in running for task in worker.tasks.values()]:
            _, left = await asyncio.wait(last, timeout=settings.worker_drain_seconds)
            for task in left:  # it gives its job back, while there is a database to give it to
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        await asyncio.gather(*beside, return_exceptions=True)
        with suppress(RedisError):
            await queue.delete(QUEUES_MARKER)  # arq keeps what was fetched and not begun: have that dispatched again
        await queue.aclose()
        if broken:  # a queue's worker ended by itself: the supervisor starts another process
            raise RuntimeError("a queue's worker ended") from next(filter(_is_error, outcomes), None)
        log.info("worker.stopped")


def _is_error(outcome: object) -> TypeGuard[Exception]:
    return isinstance(outcome, Exception)


def main() -> None:
    """Run the worker of the settings in the environment.

    Who is root becomes another user first.
    """
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
