"""A program that sends a tenant's requests from several threads for some seconds, as busily as it is answered.

`python -m tests.crowd` reads an order (`Crowd`) from standard input as JSON, says "ready" once the first answers came,
and writes how many answers of each status there were. It is a process of its own, and less urgent than the service:
what it costs itself is no part of what is measured.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

NICE: Final = 15
SECONDS_MAX: Final = 60.0
FIRST_SECONDS: Final = 1.0
"""After which the others are asked, whatever has been answered: some answers take ten seconds."""


@dataclass
class Request:
    """One request; its body is text."""

    method: str
    path: str
    body: str | None = None
    content_type: str = "application/json"


@dataclass
class Order:
    """Whom to ask what. Each thread begins with another request and goes on in turn."""

    port: int
    headers: dict[str, str]
    threads: int
    requests: list[Request]


@contextmanager
def crowd(url: str, headers: dict[str, str], threads: int, requests: Sequence[Request]) -> Iterator[Counter[str]]:
    """Requests go on within. Afterwards there is how many answers of each status came."""
    order = Order(int(url.rpartition(":")[2]), headers, threads, list(requests))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crowd"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        text=True,
    )
    answers: Counter[str] = Counter()
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(asdict(order)) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n"
            yield answers
            process.stdin.write("end\n")
            process.stdin.flush()
            answers.update(json.loads(process.stdout.readline()))
        finally:
            process.kill()


def _ask(order: Order, first: int, answers: Counter[str], stop: threading.Event) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", order.port, timeout=SECONDS_MAX)
    at = first
    while not stop.is_set():
        request = order.requests[at % len(order.requests)]
        at += 1
        headers = order.headers | ({"Content-Type": request.content_type} if request.body is not None else {})
        body = None if request.body is None else request.body.encode("latin-1")
        try:
            connection.request(request.method, request.path, body, headers)
            answer = connection.getresponse()
            answer.read()
            answers[str(answer.status)] += 1
        except OSError as error:
            answers[type(error).__name__] += 1
            connection.close()


def _main() -> None:
    os.nice(NICE)
    value: dict[str, Any] = json.loads(sys.stdin.readline())
    order = Order(**value | {"requests": [Request(**request) for request in value["requests"]]})
    answers: Counter[str] = Counter()
    stop = threading.Event()
    threads = [
        threading.Thread(target=_ask, args=(order, at, answers, stop), daemon=True) for at in range(order.threads)
    ]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    while not answers and time.monotonic() < began + FIRST_SECONDS:
        time.sleep(0.02)
    print("ready", flush=True)
    sys.stdin.readline()
    stop.set()
    for thread in threads:  # what was asked is answered before anything else is measured
        thread.join(SECONDS_MAX)
    print(json.dumps(answers), flush=True)
    os._exit(0)


if __name__ == "__main__":
    _main()
