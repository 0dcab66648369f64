"""The service as most tests run it: a registration costs a hash, and few tests are about passwords."""

from __future__ import annotations

from argon2 import PasswordHasher

from service.app import create
from service.platform.access import secrets

__all__ = ["create"]

# argon2's least figures, in microseconds rather than the tenth of a second of the product's own.
secrets._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
secrets._NOBODY = secrets.hash_password("nobody")
