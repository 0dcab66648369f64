"""Passwords, API keys, opaque tokens, JSON web tokens: never stored in the clear."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import jwt
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec import Struct, ValidationError, convert

KEY_PREFIXES = {"live": "svc_live_", "test": "svc_test_"}
SHOWN_KEY_CHARACTERS = 4  # of the random part, so that people can tell their keys apart
ALGORITHM = "HS256"
SECRET_CHARACTERS = 32
CLOCKS_APART_SECONDS = 30
ID_BYTES = 16
IDS_TOGETHER = 256  # identifiers of one question to the system for randomness
"""What the clocks of two hosts may differ by: a token that the other has just signed seems to come from the future."""
BELIEVED_MOST = 10_000
"""Verified tokens that a process remembers; checking one costs a quarter of a small request."""

_hasher = PasswordHasher()  # argon2id, the library's present parameters


def _nobodys_hash() -> str:
    """Return a hash of no password: as much work to verify as any other.

    None is made, which would delay every start.
    """
    salt, digest_text = (base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (16, 32))
    costs = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    return f"$argon2id$v={ARGON2_VERSION}${costs}${salt}${digest_text}"


_NOBODY = _nobodys_hash()


def hash_password(password: str) -> str:
    """Return the argon2id hash to store."""
    return _hasher.hash(password)


def verify_password(password: str, stored: str | None) -> bool:
    """Return whether the password fits; as slow for an unknown user (None)."""
    try:
        return _hasher.verify(stored or _NOBODY, password) and stored is not None
    except (VerificationError, InvalidHashError):
        return False


def new_api_key(environment: Literal["live", "test"]) -> tuple[str, str, bytes]:
    """Make a key of 256 random bits: the secret, its visible part, the hash to store."""
    prefix = KEY_PREFIXES[environment]
    key = prefix + secrets.token_urlsafe(32)
    return key, key[: len(prefix) + SHOWN_KEY_CHARACTERS], digest(key)


def new_token() -> tuple[str, bytes]:
    """Make an opaque token (an invitation's) and the hash to store."""
    token = secrets.token_urlsafe(32)
    return token, digest(token)


def digest(secret: str) -> bytes:
    """Return the SHA-256. Enough for 256 random bits; passwords take `hash_password`."""
    return hashlib.sha256(secret.encode()).digest()


class Vault:
    """Seals texts with keys made of the deployment's secret.

    For what must be read back, or compared, out of the database's sight.

    Each use has a key of its own, so that what was sealed for one purpose opens for no other. A new secret key of the
    deployment makes what was sealed unreadable.
    """

    def __init__(self, secret_key: str) -> None:
        self._secret = secret_key.encode()
        self._boxes: dict[str, Fernet] = {}
        self._keys: dict[str, bytes] = {}

    def seal(self, purpose: str, plain: bytes) -> str:
        """Return the sealed form, as text."""
        return self._box(purpose).encrypt(plain).decode("ascii")

    def open(self, purpose: str, sealed: str) -> bytes:
        """Return a text that was sealed for this purpose.

        Raises:
            BadSeal: it was sealed with another secret, for another purpose, or altered.
        """
        try:
            return self._box(purpose).decrypt(sealed.encode())
        except InvalidToken as error:
            raise BadSeal from error

    def fingerprint(self, purpose: str, text: str) -> bytes:
        """Return 32 bytes that differ for different texts and do not reveal a short one."""
        return self.sign(purpose, text.encode())

    def sign(self, purpose: str, content: bytes) -> bytes:
        """Return 32 bytes that only the deployment's secret makes of this content.

        Keyed BLAKE2b (RFC 7693). OpenSSL's HMAC lets go of the interpreter's lock and waits for it: 19 us for 1 us.
        """
        return hashlib.blake2b(content, key=self._key(purpose), digest_size=32).digest()

    def _box(self, purpose: str) -> Fernet:
        box = self._boxes.get(purpose)
        if box is None:
            box = self._boxes[purpose] = Fernet(base64.urlsafe_b64encode(self._key(purpose)))
        return box

    def _key(self, purpose: str) -> bytes:
        key = self._keys.get(purpose)
        if key is None:
            info = f"cushion {purpose}".encode()
            key = self._keys[purpose] = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(self._secret)
        return key


class BadSeal(Exception):
    """A text cannot be opened with this deployment's secret."""


class Claims(Struct, frozen=True, kw_only=True):
    """The claims of a token: `sid` the session, `gen` the generation of tokens."""

    sub: UUID
    tenant_id: UUID
    type: Literal["access", "refresh"]
    jti: UUID
    iat: int
    exp: int
    sid: UUID
    gen: int
    role: Literal["owner", "admin", "analyst", "viewer"] | None = None


class BadToken(Exception):
    """The token is malformed, expired, of the wrong type, or not signed by us."""


class Tokens:
    """Signs and reads HS256 tokens with the deployment's secret."""

    def __init__(self, secret_key: str) -> None:
        self._key = secret_key.encode()
        self._believed: OrderedDict[str, Claims] = OrderedDict()

    def sign(self, claims: Claims) -> str:
        """Return the compact form."""
        payload: dict[str, Any] = {
            "sub": str(claims.sub),
            "tenant_id": str(claims.tenant_id),
            "type": claims.type,
            "jti": str(claims.jti),
            "iat": claims.iat,
            "exp": claims.exp,
            "sid": str(claims.sid),
            "gen": claims.gen,
        }
        if claims.role is not None:
            payload["role"] = claims.role
        return jwt.encode(payload, self._key, algorithm=ALGORITHM)

    def read(self, token: str, *, expected: Literal["access", "refresh"]) -> Claims:
        """Return the claims of a token of that type.

        One whose signature was checked is believed again until it expires.

        Raises:
            BadToken: it cannot be believed.
        """
        claims = self._believed.get(token)
        if claims is None:
            claims = self._verify(token)
            self._believed[token] = claims
            if len(self._believed) > BELIEVED_MOST:
                self._believed.popitem(last=False)
        elif claims.exp <= time.time():
            del self._believed[token]
            raise BadToken
        if claims.type != expected:
            raise BadToken
        return claims

    def _verify(self, token: str) -> Claims:
        try:
            payload = jwt.decode(
                token,
                self._key,
                algorithms=[ALGORITHM],
                options={"require": ["exp", "iat", "sub", "jti"], "verify_iat": False},
            )
            claims = convert(payload, Claims)
        except (jwt.PyJWTError, ValidationError, UnicodeError, ValueError) as error:
            raise BadToken from error
        if claims.iat > time.time() + CLOCKS_APART_SECONDS:
            raise BadToken
        return claims


def read_or_make_secret_key(path: Path) -> str:
    """Return the secret of a one-machine deployment: made once, read from its file.

    Raises:
        ValueError: the file holds less than a secret; signing with it would let anybody forge tokens.
    """
    secret = read_or_make_file(path, lambda: secrets.token_urlsafe(48).encode()).decode("ascii").strip()
    if len(secret) < SECRET_CHARACTERS:
        raise ValueError(
            f"{path} holds less than {SECRET_CHARACTERS} characters: "
            "remove it to have a new one made (everybody logs in again)"
        )
    return secret


def read_or_make_file(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return a file's content (mode 0600), made at the first call.

    Processes may start at once, and one may die halfway: the file appears whole or not at all, and the first counts.
    """
    if not path.exists():
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".secret")  # made with mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            os.unlink(temporary)
    return path.read_bytes()


_random_bytes: list[bytes] = []
os.register_at_fork(after_in_child=_random_bytes.clear)  # else parent and child would make the same identifiers


def new_id() -> UUID:
    """Make a random identifier (UUID version 4).

    The system is asked for many at once: each call releases the interpreter's lock and waits for it.
    """
    try:
        return UUID(bytes=_random_bytes.pop(), version=4)
    except IndexError:
        fresh = os.urandom(ID_BYTES * IDS_TOGETHER)
        _random_bytes.extend(fresh[at : at + ID_BYTES] for at in range(0, len(fresh), ID_BYTES))
        return new_id()
