"""The document's examples as calls.

`python -m tests.contract.examples` writes what the service answers to them.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import httpx
import pyotp

from service.platform.route.api import Route
from tests.conftest import PASSWORD, Member, Stack, register, run_stack
from tests.records import ALL_ROWS, EXAMPLES, NOBODY, body_of, path_of, quoted, records_of, sent, stand_in
from tests.service.auth.conftest import letters, token_of

AUTH = "/api/v1/auth"
SYSTEM_KEY = "svc_system_of_the_examples_0123456789abcdef"


def answers(stack: Stack, owner: Member, result: dict[str, str]) -> Iterator[tuple[Route, httpx.Response]]:
    """Send each row's example, or its least query, and give what comes.

    `made` are records of the owner's; what would change a caller is asked by somebody new.
    """
    with (
        stack.another_api(CUSHION_SYSTEM_API_KEY=SYSTEM_KEY) as url,
        httpx.Client(base_url=url, headers={"X-API-Key": SYSTEM_KEY}, timeout=60) as http,
    ):
        system = replace(owner, http=http)
        for row in sorted(ALL_ROWS, key=_order):
            if row.method == "DELETE" or row.tag == "docs":
                continue
            caller, own, more = _special(stack, system if row.name == "create_tenant" else owner, row, result)
            body = body_of(row, result) | more if row.body or row.form else None
            if "workbook_id" in (body or {}) or "{workbook_id}" in row.path:
                owner.parsed(result["workbook_id"])
            path = path_of(row, **quoted(result | own))
            yield row, sent(caller, row, path, body)


def _order(row: Route) -> tuple[bool, bool]:
    """First those that look at records, which are as made then.

    Last what gives the workbook or its deal a mapping that finds no loans there.
    """
    return row.method != "GET", row.name in ("update_workbook", "update_deal")


def _special(
    stack: Stack, owner: Member, row: Route, result: dict[str, str]
) -> tuple[Member, dict[str, str], dict[str, Any]]:
    """Who calls, what the path names, and what an example cannot know.

    Tokens, codes, passwords, who is there.
    """
    name = row.name
    if name == "accept_invitation":
        invitation = owner.post("/api/v1/admin/users/invite", json=body_of(NAMED["invite_user"], result)).json()
        return owner, {}, {"token": invitation["invitation_token"]}
    if name == "rotate_api_key":
        key = owner.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]}).json()
        return owner, {"key_id": key["id"]}, {}
    if "{service}" in row.path:
        return owner, {"service": "cache"}, {}
    if name not in OF_SOMEBODY_NEW:
        return owner, {}, {}
    new = register(stack.url)
    match name:
        case "login":
            return new, {}, {"username": new.email}
        case "refresh":
            return new, {}, {"refresh_token": new.tokens["refresh_token"]}
        case "change_password":
            return new, {}, {"current_password": PASSWORD}
        case "reset_password":
            new.post(f"{AUTH}/password/forgot", json={"email": new.email})
            return new, {}, {"token": token_of(letters(stack, new.email, 1)[-1])}
        case "verify_two_factor":
            secret = new.post(f"{AUTH}/2fa/enroll").json()["secret"]
            return new, {}, {"code": pyotp.TOTP(secret).now()}
        case "disable_two_factor":
            secret = new.post(f"{AUTH}/2fa/enroll").json()["secret"]
            codes = new.post(f"{AUTH}/2fa/verify", json={"code": pyotp.TOTP(secret).now()}).json()["recovery_codes"]
            return new, {}, {"code": codes[0]}
        case "transfer_ownership":
            return new, {}, {"user_id": new.invite("admin").user_id}
        case "update_user" | "erase_user":
            viewer = new.invite("viewer")
            return new, {"user_id": viewer.user_id}, {"confirm": viewer.email} if name == "erase_user" else {}
        case _:
            return new, {}, {}


OF_SOMEBODY_NEW = {
    "login", "refresh", "logout", "revoke_all_tokens", "change_password", "reset_password", "enroll_two_factor",
    "verify_two_factor", "disable_two_factor", "transfer_ownership", "update_user", "erase_user", "update_tenant",
}  # fmt: skip
NAMED = {row.name: row for row in ALL_ROWS}


# The file ------------------------------------------------------------------------------------------------------------

SECRETS = {
    "access_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbmEifQ.c2lnbmF0dXJl",
    "refresh_token": "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbmEifQ.c2lnbmF0dXJl",
    "invitation_token": "5mT2cQ8vX0y1kR7n",
    "key": "svc_live_0123456789abcdef",
    "key_prefix": "svc_live_0123",
    "secret": "JBSWY3DPEHPK3PXP",
    "otpauth_uri": "otpauth://totp/Cushion:ana.brandt%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Cushion",
}
"""What stands in the examples in place of what somebody could act with."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
NOW = datetime(2026, 4, 1, 9, 30, tzinfo=UTC)
"""When the examples are told."""
SENT_MOMENTS = set(MOMENT.findall(str({name: example.body for name, example in EXAMPLES.items()})))
WORDS = {
    "Olive Owner": "Ana Brandt",
    "Viewer": "Ines Gray",
    "Admin": "Mia Keller",
    "Org": "Brandt Capital",
    "org": "brandt-capital",
    "tenant": "brandt-capital",
    "Deal": "Brandt CLO 2024-1",
    "key": "Nightly upload",
    "Contract": "Servicer holdings",
    "Mapping": "Servicer holdings",
    "file.xlsx": "loans.xlsx",
}
"""Whole texts of the tests' records, which stand for themselves elsewhere, as people would say them."""
PEOPLE = {"owner": "ana.brandt", "viewer": "ines.gray", "admin": "mia.keller", "body": "ana.brandt"}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[a-z]{3,4}_[0-9a-f]{32}")
ITEMS, LETTERS = 2, 600
"""Of a list and of a text that stand in an example."""


class Recorder:
    """Makes an answer an example.

    What differs from one time to the next is always the same there.
    """

    def __init__(self, result: dict[str, str]) -> None:
        self._known = {value: stand_in(name) for name, value in result.items() if len(value) > 30}
        self._texts = {result["user_email"]: stand_in("user_email"), NOBODY: "https://hooks.example.com/cushion"}

    def example(self, value: Any, name: str = "") -> Any:
        """The example of a value under this name."""
        if isinstance(value, dict):
            kept = list(value.items())
            if len(kept) > 40 or (kept and all(UUID.fullmatch(key) for key, _ in kept)):
                kept = kept[:ITEMS]
            return {self._text(key): self.example(inner, key) for key, inner in kept}
        if isinstance(value, list):
            return (
                ["2IYS-MF2M-R27P-IALT"] if name == "recovery_codes" else [self.example(item) for item in value[:ITEMS]]
            )
        if isinstance(value, str):
            text = self._text(value)
            return SECRETS.get(name) or (text if "type" in name else WORDS.get(text, text))
        if isinstance(value, int) and name == "execution_time_ms":
            return 3
        if isinstance(value, float) and re.search(r"_(ms|seconds)$|^age", name):
            return 1.5
        return value

    def _text(self, text: str) -> str:
        for own, example in self._texts.items():
            text = text.replace(own, example)
        text = re.sub(r"/[\w/.-]+/(?=service/|site-packages/|lib/python)", "/app/", text)
        text = MOMENT.sub(lambda result: _moment(result[0]), text)
        text = UUID.sub(lambda result: self._known.setdefault(result[0], self._stand_in(result[0])), text)
        text = re.sub(r"\b[0-9a-f]{64}\b", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", text)
        text = re.sub(r"(\w+)-[0-9a-f]{12}@", lambda result: f"{PEOPLE[result[1]]}@", text)
        text = re.sub(r"deal:internal:[0-9a-f]{12,}", "deal:internal:brandt-2024-1", text)
        text = re.sub(r"(?<![0-9a-f]{4})[ -][0-9a-f]{12}\b", "", text)
        return re.sub(r"^[0-9a-f]{12}$", "0123456789ab", text)[:LETTERS]

    def _stand_in(self, identifier: str) -> str:
        """What stands for a record that the others do not name."""
        second = uuid5(NAMESPACE_OID, f"other {len(self._known)}")
        prefix, _, _ = identifier.rpartition("_")
        return f"{prefix}_{second.hex}" if prefix else str(second)


def _moment(answer: str) -> str:
    """A moment as it would be told at `NOW`, to the hour; one that was sent stays."""
    if answer in SENT_MOMENTS:
        return answer
    hours = round((datetime.fromisoformat(answer) - datetime.now(UTC)).total_seconds() / 3600)
    return (NOW + timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


def record() -> None:
    """Write the answers of a new service into the files of examples."""
    with run_stack() as stack:
        owner = register(stack.url)
        records = records_of(owner)
        recorder = Recorder(records)
        lines = {}
        for row, answer in answers(stack, owner, records):
            assert answer.status_code == row.status, (row.name, answer.text)
            if answer.headers.get("content-type", "").startswith("application/json") and answer.content:
                lines[row.name] = recorder.example(answer.json())
    for path, names in files().items():
        kept = json.loads(path.read_bytes()) if path.exists() else {}
        for name in names:
            body = {"body": kept[name]["body"]} if "body" in kept.get(name, {}) else {}
            kept[name] = body | ({"answer": lines[name]} if name in lines else {})
        text = json.dumps({name: kept[name] for name in names if kept[name]}, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {path}")


def files() -> dict[Path, list[str]]:
    """The files of examples with the names of the rows that have some there."""
    result: dict[Path, list[str]] = {}
    for row in ALL_ROWS:
        if row.tag != "docs":
            result.setdefault(Path(inspect.getfile(row.handler)).with_name("examples.json"), []).append(row.name)
    return result


if __name__ == "__main__":
    record()
