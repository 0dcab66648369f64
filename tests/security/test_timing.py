"""How long a refusal takes tells nothing of how near a key was."""

from __future__ import annotations

import secrets
import time
from statistics import median

import httpx

from tests.conftest import Member, Stack
from tests.security.conftest import SYSTEM_KEY, Deployment

ROUNDS = 60


def _refusals(url: str, guesses: list[list[str]]) -> list[float]:
    """The median seconds of each kind of guess, asked in turn so that a drift of the machine meets all."""
    taken: list[list[float]] = [[] for _ in guesses]
    with httpx.Client(base_url=url, timeout=60) as client:
        for number in range(ROUNDS):
            for kind, keys in enumerate(guesses):
                begun = time.perf_counter()
                answer = client.get("/api/v1/admin/tenant", headers={"X-API-Key": keys[number]})
                taken[kind].append(time.perf_counter() - begun)
                assert answer.status_code == 401
    return [median(times) for times in taken]


def _alike(near: float, far: float) -> bool:
    return 0.6 < near / far < 1 / 0.6


def test_a_key_that_is_nearly_right_takes_as_long_as_one_that_is_not(stack: Stack, owner: Member) -> None:
    key = str(owner.key("workbooks:read").http.headers["X-API-Key"])
    near = [key[:-4] + secrets.token_hex(2) for _ in range(ROUNDS)]
    far = [key[:9] + secrets.token_urlsafe(32) for _ in range(ROUNDS)]
    assert _alike(*_refusals(stack.url, [near, far]))


def test_a_system_key_that_is_nearly_right_takes_as_long_as_one_that_is_not(deployment: Deployment) -> None:
    near = [SYSTEM_KEY[:-4] + secrets.token_hex(2) for _ in range(ROUNDS)]
    far = [secrets.token_hex(len(SYSTEM_KEY) // 2) for _ in range(ROUNDS)]
    assert _alike(*_refusals(deployment.url, [near, far]))
