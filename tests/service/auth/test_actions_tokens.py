"""Forged tokens: other algorithms, other keys, changed claims, other times.

Each is 401 INVALID_TOKEN.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import Any
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.conftest import Member, Stack
from tests.service.auth.conftest import me, refresh, refused

INVALID = (401, "Invalid or expired token", "INVALID_TOKEN")
INVALID_REFRESH = (401, "Invalid refresh token", "INVALID_TOKEN")

ABSENT: Any = object()
"""Of a claim that is left out."""


@pytest.fixture(scope="module")
def secret(stack: Stack) -> str:
    """What the deployment signs with: nobody forges better than who has it."""
    return (stack.data_dir / "secret_key").read_text().strip()


@pytest.fixture(scope="module")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def access(shared_owner: Member) -> str:
    return shared_owner.tokens["access_token"]


def claims_of(token: str) -> dict[str, Any]:
    read: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return read


def encoded(part: Any) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(head: dict[str, Any], claims: Any, key: bytes, function: str = "sha256") -> str:
    """A token as anybody can put it together, with no library to refuse."""
    content = f"{encoded(head)}.{encoded(claims)}"
    return f"{content}.{encoded(hmac.digest(key, content.encode(), getattr(hashlib, function)))}"


def test_what_the_deployment_signs_is_believed(stack: Stack, access: str, secret: str) -> None:
    """Without this each refusal below could have another reason."""
    head = {"alg": "HS256", "typ": "JWT"}
    assert me(stack, signed(head, claims_of(access) | {"jti": str(uuid4())}, secret.encode())).status_code == 200


# Algorithms and keys --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", "HS256 ", "hs256"])
@pytest.mark.parametrize("signature", ["", "kept"])
def test_no_algorithm(stack: Stack, access: str, algorithm: str, signature: str) -> None:
    _, payload, kept = access.split(".")
    head = encoded({"alg": algorithm, "typ": "JWT"})
    assert refused(me(stack, f"{head}.{payload}.{kept if signature else ''}")) == INVALID


@pytest.mark.parametrize("head", [{}, {"alg": None}, {"alg": ["HS256"]}, {"alg": 256}, {"typ": "JWT"}, [], "HS256"])
def test_a_head_that_names_no_algorithm(stack: Stack, access: str, secret: str, head: Any) -> None:
    assert refused(me(stack, signed(head, claims_of(access), secret.encode()))) == INVALID


@pytest.mark.parametrize("bits", ["384", "512"])
def test_another_algorithm_with_the_right_key(stack: Stack, access: str, secret: str, bits: str) -> None:
    forged = signed({"alg": f"HS{bits}", "typ": "JWT"}, claims_of(access), secret.encode(), f"sha{bits}")
    assert refused(me(stack, forged)) == INVALID


def test_a_public_key_is_no_secret(stack: Stack, access: str, rsa_key: rsa.RSAPrivateKey) -> None:
    """RS/HS confusion: signed with what everybody may know of an RSA key, and with the RSA key itself."""
    claims, public = claims_of(access), rsa_key.public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    for encoding in (serialization.Encoding.PEM, serialization.Encoding.DER):
        known = public.public_bytes(encoding, form)
        assert refused(me(stack, signed({"alg": "HS256", "typ": "JWT"}, claims, known))) == INVALID
    for algorithm in ("RS256", "PS256"):
        assert refused(me(stack, jwt.encode(claims, rsa_key, algorithm))) == INVALID


@pytest.mark.parametrize("key", [b"", b"\x00", b"secret", b"k" * 32, b"cushion"])
def test_another_key(stack: Stack, access: str, key: bytes) -> None:
    assert refused(me(stack, signed({"alg": "HS256", "typ": "JWT"}, claims_of(access), key))) == INVALID


@pytest.mark.parametrize(
    "more",
    [
        {"jwk": {"kty": "oct", "k": encoded(b"k" * 32), "alg": "HS256"}},
        {"kid": "../../../../dev/null"},
        {"kid": "' UNION SELECT 'k' --"},
        {"jku": "http://127.0.0.1:1/keys"},
        {"x5u": "http://127.0.0.1:1/certificate"},
        {"x5c": ["MII"]},
    ],
    ids=lambda more: next(iter(more)),
)
def test_a_head_that_brings_its_own_key(stack: Stack, access: str, more: dict[str, Any]) -> None:
    head = {"alg": "HS256", "typ": "JWT", **more}
    for key in (b"k" * 32, b""):
        assert refused(me(stack, signed(head, claims_of(access), key))) == INVALID


# Claims ---------------------------------------------------------------------------------------------------------------


def test_changed_claims_under_the_old_signature(stack: Stack, access: str, stranger: Member) -> None:
    head, _, signature = access.split(".")
    for changed in (
        {"sub": stranger.user_id},
        {"tenant_id": stranger.tenant_id},
        {"role": "owner"},
        {"exp": int(time.time()) + 10**9},
        {"gen": 10**6},
    ):
        forged = f"{head}.{encoded({**claims_of(access), **changed, 'jti': str(uuid4())})}.{signature}"
        assert refused(me(stack, forged)) == INVALID


def test_one_bit_of_the_signature(stack: Stack, access: str) -> None:
    content, _, signature = access.rpartition(".")
    raw = bytearray(base64.urlsafe_b64decode(signature + "="))
    for place in (0, 15, 31):
        second = bytearray(raw)
        second[place] ^= 1
        assert refused(me(stack, f"{content}.{encoded(bytes(second))}")) == INVALID
    assert refused(me(stack, f"{content}.{encoded(bytes(raw[:16]))}")) == INVALID
    assert refused(me(stack, f"{content}.")) == INVALID


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("exp", -60),
        ("exp", 0),
        ("exp", ABSENT),
        ("exp", None),
        ("exp", "9999999999"),
        ("exp", 1e400),
        ("iat", 3600),
        ("iat", ABSENT),
        ("iat", "now"),
        ("nbf", 3600),
        ("nbf", "tomorrow"),
        ("type", "refresh"),
        ("type", "other"),
        ("type", ABSENT),
        ("sub", ABSENT),
        ("sub", "olive"),
        ("sub", 7),
        ("tenant_id", ABSENT),
        ("tenant_id", "*"),
        ("jti", ABSENT),
        ("sid", ABSENT),
        ("gen", ABSENT),
        ("gen", "0"),
        ("gen", 0.5),
        ("role", ABSENT),
        ("role", "root"),
        ("role", ["owner"]),
    ],
    ids=lambda value: "absent" if value is ABSENT else str(value),
)
def test_claims_that_do_not_fit_whoever_signed_them(
    stack: Stack, access: str, secret: str, claim: str, value: Any
) -> None:
    """Times of whole numbers are seconds from now."""
    if claim in ("exp", "iat", "nbf") and isinstance(value, int):
        value = int(time.time()) + value
    claims = {**claims_of(access), "jti": str(uuid4()), claim: value}
    if value is ABSENT:
        del claims[claim]
    assert refused(me(stack, signed({"alg": "HS256", "typ": "JWT"}, claims, secret.encode()))) == INVALID


@pytest.mark.parametrize("payload", [[], "claims", 7, None, b"", b"\xff\xfe", b'{"sub": '])
def test_claims_that_are_none(stack: Stack, secret: str, payload: Any) -> None:
    assert refused(me(stack, signed({"alg": "HS256", "typ": "JWT"}, payload, secret.encode()))) == INVALID


# Spellings ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelt", ["{0}.", ".{0}", "{0}.{0}", "{0}, {0}", "{0} {0}", '"{0}"', "x{0}", "null", "undefined", "Bearer"]
)
def test_a_token_in_another_spelling(stack: Stack, access: str, spelt: str) -> None:
    assert refused(me(stack, spelt.format(access))) == INVALID


def test_refresh_takes_refresh_tokens_alone(stack: Stack, access: str, owner: Member, secret: str) -> None:
    claims = claims_of(owner.tokens["refresh_token"])
    head = {"alg": "HS256", "typ": "JWT"}
    _, payload, kept = owner.tokens["refresh_token"].split(".")
    forged = [
        access,
        f"{encoded({'alg': 'none'})}.{payload}.",
        f"{encoded({'alg': 'none'})}.{payload}.{kept}",
        signed(head, claims, b"k" * 32),
        signed(head, claims | {"type": "access"}, secret.encode()),
        signed(head, claims | {"exp": int(time.time()) - 1}, secret.encode()),
        signed(head, claims | {"iat": int(time.time()) + 3600}, secret.encode()),
        signed(head, claims | {"nbf": int(time.time()) + 3600}, secret.encode()),
        signed(head, claims | {"sid": str(uuid4())}, secret.encode()),
        signed({"alg": "HS512"}, claims, secret.encode(), "sha512"),
    ]
    for token in forged:
        assert refused(refresh(stack, token)) == INVALID_REFRESH
    assert refresh(stack, owner.tokens["refresh_token"]).status_code == 200, "and none of them ended the session"
