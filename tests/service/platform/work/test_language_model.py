"""A language model is asked once, within bounds, and left alone while it fails.

A text comes of it, or no reply.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from service.platform.base.breaker import Breaker
from service.platform.base.breakers import TABLE
from service.platform.config import Settings
from service.platform.work import language_model
from service.platform.work.language_model import REFUSED_SECONDS, LanguageModel, Message, NoReply
from tests.model_server import ModelServer, model_server
from tests.rows import every

DOCUMENT = {"question": "?", "facts": [{"fact": "the ratio is 125.3 % – “good”"}]}
LIMITS = TABLE["language_model"].limits
MESSAGES = [Message("system", "Be brief."), Message("user", json.dumps(DOCUMENT))]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


def settings(url: str, **changed: Any) -> Settings:
    value: dict[str, Any] = {"llm_url": url, "llm_model": "small", "llm_seconds": 5.0} | changed
    return msgspec.structs.replace(Settings(), **value)


def model_at(url: str, **changed: Any) -> LanguageModel:
    return LanguageModel(settings(url, **changed), Breaker("language_model", LIMITS))


def timed(model: LanguageModel, now: list[float]) -> None:
    model.breaker = Breaker("language_model", LIMITS, now=lambda: now[0])


def reply(model: LanguageModel) -> str:
    return asyncio.run(model.reply("tenant", MESSAGES))


def test_an_honest_model_is_heard(server: ModelServer) -> None:
    for url in (server.url(), server.url("whole"), server.url() + "/", server.url() + "/chat/completions"):
        model = model_at(url, llm_api_key="sk-test")
        assert reply(model) == "In short: the ratio is 125.3 % – “good”"
        assert server.asked[-1] == {"model": "small", "stream": True,
                                    "messages": [{"role": "system", "content": "Be brief."},
                                                 {"role": "user", "content": MESSAGES[1].content}]}  # fmt: skip
        assert server.headers[-1]["authorization"] == "Bearer sk-test"
        assert model.breaker.state == "closed"
    reply(model_at(server.url()))
    assert "authorization" not in server.headers[-1]


SERVICE = {
    "500": "status 500", "503": "status 503", "302": "status 302", "slow": "TimeoutError", "drip": "TimeoutError",
    "endless": "too long", "silent": "without an end", "line": "without an end", "broken": "broke off",
    "error": "an error", "types": "not of the protocol", "list": "not of the protocol", "deep": "not of the protocol",
    "text": "not of the protocol", "bytes": "not of the protocol", "nothing": "no answer",
}  # fmt: skip
REQUEST = {"400": "status 400", "413": "status 413", "422": "status 422", "length": "by 'length'", "empty": "empty"}
FAULTS = [(*row, True) for row in SERVICE.items()] + [(*row, False) for row in REQUEST.items()]


@every("manner, words, counts", FAULTS)
def test_whatever_else_it_does_is_no_reply(server: ModelServer, manner: str, words: str, counts: bool) -> None:
    """Each is asked once; what is the service's fault opens the breaker after three."""
    model = model_at(server.url(manner), llm_seconds=0.5 if "Timeout" in words else 5.0)
    asked = len(server.asked)
    times = 1 if "Timeout" in words else LIMITS.failures_max
    for _ in range(times):
        with pytest.raises(NoReply, match=words):
            reply(model)
    assert len(server.asked) == asked + times
    assert model.breaker.state == ("open" if counts and times == LIMITS.failures_max else "closed")


def test_nobody_there_is_no_reply() -> None:
    model = model_at("http://127.0.0.1:1/v1")
    with pytest.raises(NoReply, match="ConnectError"):
        reply(model)


@pytest.mark.parametrize(("manner", "seconds"), [("401", REFUSED_SECONDS), ("404", REFUSED_SECONDS), ("429", 77.0)])
def test_a_refusal_that_will_stay_opens_the_breaker_at_once(server: ModelServer, manner: str, seconds: float) -> None:
    now = [0.0]
    model = model_at(server.url(manner))
    timed(model, now)
    asked = len(server.asked)
    for _ in range(3):
        with pytest.raises(NoReply):
            reply(model)
    assert len(server.asked) == asked + 1
    now[0] = seconds - 0.1
    assert model.breaker.state == "open"
    now[0] = seconds
    assert model.breaker.state == "half_open"


def test_a_model_that_recovers_is_heard_again(server: ModelServer) -> None:
    now = [0.0]
    model = model_at(server.url("switch"))
    timed(model, now)
    server.working = False
    for pause in (LIMITS.open_seconds, 2 * LIMITS.open_seconds):
        for _ in range(LIMITS.failures_max):
            with pytest.raises(NoReply):
                reply(model)
        assert model.breaker.state == "open"
        now[0] += pause
        assert model.breaker.state == "half_open"
    server.working = True
    assert reply(model).startswith("In short")
    assert model.breaker.state == "closed"


def test_who_goes_leaves_the_place_and_the_trial_to_the_next(server: ModelServer) -> None:
    async def go() -> str:
        model = model_at(server.url("slow"), llm_requests=1)
        model.breaker.fail(model.breaker.enter(), "NoReply", pause_seconds=0.01)
        await asyncio.sleep(0.02)
        gone = asyncio.create_task(model.reply("a", MESSAGES))
        await asyncio.sleep(0.1)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        model._url = server.url() + "/chat/completions"
        return await model.reply("b", MESSAGES)

    assert asyncio.run(go()).startswith("In short")


def test_a_tenant_has_half_of_the_places(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_model, "PLACE_SECONDS", 0.1)

    async def go() -> list[str | BaseException]:
        model = model_at(server.url("drip"), llm_requests=2, llm_seconds=0.6)
        return await asyncio.gather(*(model.reply(whose, MESSAGES) for whose in "aab"), return_exceptions=True)

    assert [str(item) for item in asyncio.run(go())] == [
        "no answer: TimeoutError", "no place is free", "no answer: TimeoutError",
    ]  # fmt: skip
