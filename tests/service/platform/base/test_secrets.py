"""Secrets: hashes that fit, tokens that cannot be forged, a deployment's key that is whole or not there."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import argon2
import jwt
import pytest

from service.platform.base import secrets
from service.platform.base.secrets import (
    BadSeal,
    BadToken,
    Claims,
    Tokens,
    Vault,
    digest,
    hash_password,
    new_api_key,
    new_token,
    read_or_make_secret_key,
    verify_password,
)
from service.platform.config import ConfigError, Settings
from service.platform.work.process import scratch_folder, secret_key

KEY = "k" * 40


def claims(**changed: Any) -> dict[str, Any]:
    now = int(time.time())
    return {
        "sub": str(uuid4()),
        "tenant_id": str(uuid4()),
        "type": "access",
        "jti": str(uuid4()),
        "iat": now,
        "exp": now + 60,
        "sid": str(uuid4()),
        "gen": 0,
        "role": "owner",
        **changed,
    }


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in claims().items() if key != name}


def part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def signed(header: dict[str, Any], payload: dict[str, Any], key: str = KEY, algorithm: str = "sha256") -> str:
    text = f"{part(header)}.{part(payload)}"
    mark = hmac.new(key.encode(), text.encode(), algorithm).digest()
    return f"{text}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"


def test_a_token_comes_back_as_it_was_signed() -> None:
    value = Tokens(KEY).read(signed({"alg": "HS256", "typ": "JWT"}, claims()), expected="access")
    assert Tokens(KEY).read(Tokens(KEY).sign(value), expected="access") == value
    assert isinstance(value, Claims)


FORGED = {
    "no algorithm": f"{part({'alg': 'none'})}.{part(claims())}.",
    "no algorithm, in capitals": f"{part({'alg': 'NONE'})}.{part(claims())}.",
    "no algorithm, with a mark": signed({"alg": "none"}, claims()),
    "HS512 in place of HS256": signed({"alg": "HS512"}, claims(), algorithm="sha512"),
    "RS256 named, HS256 marked": signed({"alg": "RS256"}, claims()),
    "another key": signed({"alg": "HS256"}, claims(), key="x" * 40),
    "an empty key": signed({"alg": "HS256"}, claims(), key=""),
    "a key in the header": signed({"alg": "HS256", "jwk": {"kty": "oct", "k": "eA"}}, claims(), key="x"),
    "changed claims": ".".join(
        [
            *(signed({"alg": "HS256"}, claims()).split(".")[:1]),
            part(claims(role="owner")),
            signed({"alg": "HS256"}, claims()).split(".")[2],
        ]
    ),
    "expired": signed({"alg": "HS256"}, claims(exp=int(time.time()) - 1)),
    "no end": signed({"alg": "HS256"}, without("exp")),
    "no identifier": signed({"alg": "HS256"}, without("jti")),
    "no subject": signed({"alg": "HS256"}, without("sub")),
    "no tenant": signed({"alg": "HS256"}, without("tenant_id")),
    "no session": signed({"alg": "HS256"}, without("sid")),
    "a refresh token": signed({"alg": "HS256"}, claims(type="refresh")),
    "another type": signed({"alg": "HS256"}, claims(type="admin")),
    "an unknown role": signed({"alg": "HS256"}, claims(role="root")),
    "a subject that is none": signed({"alg": "HS256"}, claims(sub="1 OR 1=1")),
    "a tenant that is none": signed({"alg": "HS256"}, claims(tenant_id="'; --")),
    "a generation that is none": signed({"alg": "HS256"}, claims(gen="0")),
    "an end that is none": signed({"alg": "HS256"}, claims(exp="soon")),
    "an endless end": signed({"alg": "HS256"}, claims(exp=1e400)),
    "a list": signed({"alg": "HS256"}, [1]),  # type: ignore[arg-type]
    "nothing": "",
    "dots": "..",
    "noise": "\xff\xfe.\x00.ü",
    "half": signed({"alg": "HS256"}, claims()).rpartition(".")[0],
}


@pytest.mark.parametrize("name", FORGED)
def test_no_other_token_is_believed(name: str) -> None:
    with pytest.raises(BadToken):
        Tokens(KEY).read(FORGED[name], expected="access")


def test_an_access_token_is_no_refresh_token() -> None:
    with pytest.raises(BadToken):
        Tokens(KEY).read(signed({"alg": "HS256"}, claims()), expected="refresh")


def test_a_token_that_was_believed_is_not_once_it_has_expired() -> None:
    """Nor as another type.

    What a process remembers of it is checked like what it reads.
    """
    tokens = Tokens(KEY)
    token = signed({"alg": "HS256"}, claims(exp=int(time.time()) + 2))
    assert tokens.read(token, expected="access") == tokens.read(token, expected="access")
    with pytest.raises(BadToken):
        tokens.read(token, expected="refresh")
    time.sleep(2.1)
    with pytest.raises(BadToken):
        tokens.read(token, expected="access")
    with pytest.raises(BadToken):
        tokens.read(token, expected="access")


def test_what_a_process_remembers_of_tokens_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "BELIEVED_MOST", 3)
    tokens = Tokens(KEY)
    for _ in range(5):
        tokens.read(signed({"alg": "HS256"}, claims(jti=str(uuid4()))), expected="access")
    assert len(tokens._believed) == 3


def test_the_algorithm_is_hs256() -> None:
    token = Tokens(KEY).sign(Tokens(KEY).read(signed({"alg": "HS256"}, claims()), expected="access"))
    assert jwt.get_unverified_header(token)["alg"] == "HS256"


def test_passwords_are_kept_as_argon2id_and_salted() -> None:
    item, two = hash_password("Correct-Horse-7"), hash_password("Correct-Horse-7")
    assert item.startswith("$argon2id$")
    assert item != two
    assert verify_password("Correct-Horse-7", item)
    assert not verify_password("correct-horse-7", item)
    assert not verify_password("Correct-Horse-7", None)
    assert not verify_password("Correct-Horse-7", "not a hash")


def test_who_does_not_exist_takes_as_long_as_a_wrong_password() -> None:
    stored = hash_password("Correct-Horse-7")
    assert argon2.extract_parameters(secrets._NOBODY) == argon2.extract_parameters(stored)

    def seconds(against: str | None) -> float:
        started = time.perf_counter()
        verify_password("x", against)
        return time.perf_counter() - started

    wrong = min(seconds(stored) for _ in range(3))
    nobody = min(seconds(None) for _ in range(3))
    assert nobody > wrong / 3


@pytest.mark.parametrize(("environment", "prefix"), [("live", "svc_live_"), ("test", "svc_test_")])
def test_keys_hold_256_random_bits_and_show_little(environment: Any, prefix: str) -> None:
    key, shown, key_hash = new_api_key(environment)
    assert re.fullmatch(prefix + r"[A-Za-z0-9_-]{43}", key)
    assert key.startswith(shown)
    assert len(shown) == len(prefix) + 4
    assert key_hash == hashlib.sha256(key.encode()).digest() == digest(key)
    assert len({new_api_key(environment)[0] for _ in range(100)}) == 100
    token, token_hash = new_token()
    assert (len(token), token_hash) == (43, digest(token))


# The deployment's key -----------------------------------------------------------------------------------------------


def test_the_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"
    or_make_secret_key = read_or_make_secret_key(path)
    assert len(or_make_secret_key) >= 32
    assert read_or_make_secret_key(path) == or_make_secret_key
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret_key"]


def test_processes_that_start_at_once_agree_on_it(tmp_path: Path) -> None:
    for attempt in range(20):
        path = tmp_path / f"secret_key_{attempt}"
        with ThreadPoolExecutor(8) as pool:
            result = set(pool.map(read_or_make_secret_key, [path] * 8))
        assert len(result) == 1
        assert len(result.pop()) >= 32


@pytest.mark.parametrize("left", ["", "short\n"])
def test_a_key_that_was_cut_short_is_refused(tmp_path: Path, left: str) -> None:
    """Signing with an empty key would let anybody forge a token."""
    (tmp_path / "secret_key").write_text(left)
    with pytest.raises(ConfigError, match="less than 32"):
        secret_key(Settings(embedded=True, data_dir=tmp_path))


def test_a_database_of_ones_own_needs_a_key_of_ones_own(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="CUSHION_SECRET_KEY"):
        secret_key(Settings(data_dir=tmp_path))
    assert secret_key(Settings(secret_key=KEY)) == KEY


def test_a_scratch_folder_that_somebody_else_made_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scratch_folder(Settings(data_dir=tmp_path)) == tmp_path / "scratch"
    monkeypatch.setattr("os.geteuid", lambda: 987_654)
    with pytest.raises(ConfigError, match="another user"):
        scratch_folder(Settings(data_dir=tmp_path))


# The vault ----------------------------------------------------------------------------------------------------------


def test_what_is_sealed_opens_for_its_purpose_alone() -> None:
    vault = Vault("s" * 32)
    sealed = vault.seal("one", b"plain")
    assert "plain" not in sealed
    assert Vault("s" * 32).open("one", sealed) == b"plain"
    for second, purpose in ((vault, "two"), (Vault("t" * 32), "one")):
        with pytest.raises(BadSeal):
            second.open(purpose, sealed)


@pytest.mark.parametrize("place", [0, 10, 40, -1])
def test_an_altered_seal_does_not_open(place: int) -> None:
    vault = Vault("s" * 32)
    sealed = list(vault.seal("one", b"plain"))
    sealed[place] = "A" if sealed[place] != "A" else "B"
    with pytest.raises(BadSeal):
        vault.open("one", "".join(sealed))


@pytest.mark.parametrize("sealed", ["", "x", "ä", "gAAAA"])
def test_what_was_never_sealed_does_not_open(sealed: str) -> None:
    with pytest.raises(BadSeal):
        Vault("s" * 32).open("one", sealed)


def test_two_seals_of_one_text_differ_and_two_fingerprints_do_not() -> None:
    vault = Vault("s" * 32)
    assert vault.seal("one", b"plain") != vault.seal("one", b"plain")
    assert vault.fingerprint("one", "text") == Vault("s" * 32).fingerprint("one", "text")
    assert len(vault.fingerprint("one", "text")) == 32
    others = [("two", "text", "s"), ("one", "texts", "s"), ("one", "text", "t")]
    result = {Vault(secret * 32).fingerprint(purpose, text) for purpose, text, secret in others}
    assert vault.fingerprint("one", "text") not in result
    assert len(result) == 3


@pytest.mark.parametrize(("ahead_seconds", "believed"), [(0, True), (25, True), (60, False)])
def test_another_hosts_clock_may_be_a_little_ahead(ahead_seconds: int, believed: bool) -> None:
    now = int(time.time())
    claims = Claims(
        sub=uuid4(),
        tenant_id=uuid4(),
        type="access",
        jti=uuid4(),
        iat=now + ahead_seconds,
        exp=now + 900,
        sid=uuid4(),
        gen=0,
        role="owner",
    )
    tokens = Tokens(KEY)
    token = tokens.sign(claims)
    if believed:
        assert tokens.read(token, expected="access") == claims
    else:
        with pytest.raises(BadToken):
            tokens.read(token, expected="access")


def test_a_child_makes_other_identifiers_than_its_parent() -> None:
    program = """
import os
from service.platform.base.secrets import new_id
new_id()
reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, str(new_id()).encode())
    os._exit(0)
theirs = os.read(reading, 36).decode()
ours = new_id()
assert ours.version == 4 and str(ours) != theirs, (ours, theirs)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
