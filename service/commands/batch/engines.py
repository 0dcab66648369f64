"""Where tasks run: in threads here, or on a cluster of dask or ray that exists.

A task is a function of a module and an argument that can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from time import monotonic
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import urlsplit

from service.commands.refusal import Refused

T = TypeVar("T")
R = TypeVar("R")

AHEAD: Final = 2
"""Tasks that wait beside each that runs, so that no place is idle and no scheduler holds all of them."""
RETRIES: Final = 3
"""How often a task is run again whose worker was lost."""
CONNECT_SECONDS: Final = 15
LOOK_SECONDS: Final = 2.0
"""How often the workers of a cluster are counted."""
JOBS_MAX: Final = 256

OnFailure = Callable[[T, Exception], R]
"""Makes the result of a task that an engine gave up."""


class Engine(Protocol):
    """What runs tasks."""

    def results(
        self, work: Callable[[T], R], tasks: Sequence[T], on_failure: OnFailure[T, R] | None = None
    ) -> Iterator[tuple[int, R]]:
        """Yield the place of each task and its result, as they complete.

        Raises:
            Exception: what a task raised, where nothing is given for failures.
            Refused: the cluster is lost.
        """

    def on_each_host(self, work: Callable[[], R]) -> dict[str, R]:
        """Return the result of a function on each worker elsewhere, by its address."""

    def close(self) -> None:
        """Run nothing more."""


def open_engine(address: str | None, jobs: int, stop: Callable[[], None] = lambda: None) -> Engine:
    """Return the engine of an address, else one of this machine.

    Args:
        stop: ends what tasks are doing here, from another thread.

    Raises:
        Refused: nothing answers there, or what it needs is not installed.
    """
    if address is None:
        return LocalEngine(jobs, stop)
    parts = urlsplit(address)
    try:
        is_address = bool(parts.hostname and parts.port)
    except ValueError:
        is_address = False
    if parts.scheme not in _CLUSTERS or not is_address:
        raise Refused(f"--engine is dask://HOST:PORT or ray://HOST:PORT, not {address!r}")
    return _CLUSTERS[parts.scheme](f"{parts.hostname}:{parts.port}")


class LocalEngine:
    """Threads of this process; each task waits for a child of its own."""

    def __init__(self, jobs: int, stop: Callable[[], None] = lambda: None) -> None:
        """Take so many tasks at a time."""
        self._jobs, self._stop = jobs, stop
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="batch")

    def results(
        self, work: Callable[[T], R], tasks: Sequence[T], on_failure: OnFailure[T, R] | None = None
    ) -> Iterator[tuple[int, R]]:
        """As `Engine.results`."""
        waiting = iter(enumerate(tasks))
        running: dict[Future[R], int] = {}

        def fill() -> None:
            while len(running) < self._jobs * AHEAD and (following := next(waiting, None)) is not None:
                running[self._threads.submit(work, following[1])] = following[0]

        fill()
        while running:
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                place = running.pop(future)
                yield place, _result(future, tasks[place], on_failure)
            fill()

    def on_each_host(self, work: Callable[[], R]) -> dict[str, R]:
        """Return nothing: there is no other host."""
        return {}

    def close(self) -> None:
        """Run nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._stop()
        self._threads.shutdown(wait=True)


def _result(future: Any, task: T, on_failure: OnFailure[T, R] | None) -> R:
    try:
        result: R = future.result()
    except Exception as error:
        if on_failure is None:
            raise
        return on_failure(task, error)
    return result


class DaskEngine:
    """A cluster of dask.distributed; it reschedules the tasks of lost workers."""

    def __init__(self, address: str) -> None:
        """Connect to a scheduler.

        Raises:
            Refused: dask is not installed, no scheduler answers there, or it has no workers.
        """
        try:
            import distributed
        except ModuleNotFoundError:
            raise Refused("--engine dask:// needs dask: pip install 'cushion[batch]'") from None
        self._address = address
        try:
            self._distributed: Any = distributed
            self._client = self._distributed.Client(f"tcp://{address}", timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise Refused(f"no dask scheduler answers at {address}: {error}") from error
        self._looked_at, self._known_places = monotonic(), self._count_places()
        if not self._known_places:
            self._client.close()
            raise Refused(f"the dask scheduler at {address} has no workers: start some with dask worker {address}")

    def _places(self) -> int:
        """Return how many tasks the workers run at a time; some may come or go."""
        if monotonic() - self._looked_at > LOOK_SECONDS:
            self._looked_at, self._known_places = monotonic(), self._count_places()
        return self._known_places

    def _count_places(self) -> int:
        return sum(worker["nthreads"] for worker in self._client.scheduler_info(n_workers=-1)["workers"].values())

    def results(
        self, work: Callable[[T], R], tasks: Sequence[T], on_failure: OnFailure[T, R] | None = None
    ) -> Iterator[tuple[int, R]]:
        """As `Engine.results`."""
        waiting = iter(enumerate(tasks))
        places: dict[str, int] = {}
        completed = self._distributed.as_completed(loop=self._client.loop)

        def fill() -> None:
            most = max(1, self._places()) * AHEAD
            while len(places) < most and (following := next(waiting, None)) is not None:
                place, task = following
                future = self._client.submit(work, task, pure=False, retries=RETRIES)
                places[future.key] = place
                completed.add(future)

        fill()
        for future in completed:
            place = places.pop(future.key)
            if future.status == "cancelled" or self._client.status not in ("running", "connecting"):
                raise Refused(f"the dask scheduler at {self._address} was lost; the same command goes on from here")
            yield place, _result(future, tasks[place], on_failure)
            future.release()
            fill()

    def on_each_host(self, work: Callable[[], R]) -> dict[str, R]:
        """Return the result of a function on each worker, by its address."""
        answers: dict[str, R] = self._client.run(work)
        return answers

    def close(self) -> None:
        """Leave the cluster; what waited for us is dropped."""
        self._client.close()


class RayEngine:
    """A cluster of ray; it runs the tasks of lost workers again."""

    def __init__(self, address: str) -> None:
        """Connect to a head node.

        Raises:
            Refused: ray is not installed, or nothing answers there.
        """
        try:
            import ray  # type: ignore[import-not-found]
        except ModuleNotFoundError:
            raise Refused("--engine ray:// needs ray: pip install ray") from None
        self._ray: Any = ray
        try:
            ray.init(address=f"ray://{address}")
        except (OSError, ConnectionError, TimeoutError) as error:
            raise Refused(f"no ray cluster answers at {address}: {error}") from error

    def results(
        self, work: Callable[[T], R], tasks: Sequence[T], on_failure: OnFailure[T, R] | None = None
    ) -> Iterator[tuple[int, R]]:
        """As `Engine.results`."""
        remote = self._ray.remote(work).options(max_retries=RETRIES)
        most = max(1, int(self._ray.cluster_resources().get("CPU", 1))) * AHEAD
        waiting = iter(enumerate(tasks))
        places: dict[Any, int] = {}
        while True:
            while len(places) < most and (following := next(waiting, None)) is not None:
                places[remote.remote(following[1])] = following[0]
            if not places:
                return
            (reference, *_), _ = self._ray.wait(list(places), num_returns=1)
            place = places.pop(reference)
            yield place, _result(_Fetched(self._ray, reference), tasks[place], on_failure)

    def on_each_host(self, work: Callable[[], R]) -> dict[str, R]:
        """Return the result of a function on some worker: ray does not say where it runs."""
        return {"a worker of ray": self._ray.get(self._ray.remote(work).remote())}

    def close(self) -> None:
        """Leave the cluster."""
        self._ray.shutdown()


class _Fetched:
    """A result of ray, with the face of a future."""

    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray, self._reference = ray, reference

    def result(self) -> Any:
        """Return it, or raise what its task raised."""
        return self._ray.get(self._reference)


_CLUSTERS: Final[dict[str, Callable[[str], Engine]]] = {"dask": DaskEngine, "ray": RayEngine}
