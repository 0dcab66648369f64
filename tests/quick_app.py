"""The service as most tests run it.

A registration costs a hash, and few tests are about passwords.
"""

from __future__ import annotations

import os
import time
from typing import Any

from argon2 import PasswordHasher
from starlette.applications import Starlette

from service import app
from service.platform.base import secrets

HASH_SECONDS = "TESTS_HASH_SECONDS"
"""How long a hash takes where this is among the environment, as in the product, though nothing is calculated."""


class _QuickHasher(PasswordHasher):
    """By argon2's least figures.

    Microseconds rather than the tenth of a second of the product's own.
    """

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self._seconds = float(os.environ.get(HASH_SECONDS, "0"))

    def hash(self, *arguments: Any, **more: Any) -> str:
        time.sleep(self._seconds)
        return super().hash(*arguments, **more)

    def verify(self, *arguments: Any) -> bool:
        time.sleep(self._seconds)
        return super().verify(*arguments)


def create() -> Starlette:
    """The application, for an ASGI server to run as a factory."""
    secrets._hasher = _QuickHasher()
    secrets._NOBODY = secrets.hash_password("nobody")
    return app.create()
