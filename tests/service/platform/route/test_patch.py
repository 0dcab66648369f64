"""Patches: the fields of a create struct, each of which may be left out."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import pytest
from msgspec import UNSET, Meta, Struct, UnsetType

from service.deals.schema import DealCreate, DealPatch
from service.platform.route.descriptions import _own
from service.platform.route.patch import Patch, patch_of


class Create(Struct, kw_only=True):
    """A record to be."""

    name: Annotated[str, Meta(min_length=1)]
    notes: str | None = None
    size: int = 3


@patch_of(Create)
class Whole(Patch, frozen=True):
    """What to change."""


@patch_of(Create, "size name")
class Part(Patch, frozen=True):
    """What to change of two fields."""

    size: int | UnsetType | None = UNSET


def read(kind: type[Patch], **fields: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(fields), type=kind)


def test_each_field_may_be_left_out() -> None:
    assert read(Whole).changes() == {}
    assert read(Whole, notes=None, size=4).changes() == {"notes": None, "size": 4}
    assert Whole.__struct_fields__ == ("name", "notes", "size")
    assert (Whole.__doc__, Whole.__module__) == ("What to change.", __name__)


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": None}, {"size": "4"}, {"colour": "red"}])
def test_fields_are_as_narrow_as_those_of_the_create_struct(fields: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(Whole, **fields)


def test_a_patch_may_say_its_own_of_a_field() -> None:
    assert Part.__struct_fields__ == ("size", "name")
    assert read(Part, size=None).changes() == {"size": None}
    with pytest.raises(msgspec.ValidationError):
        read(Part, notes="x")


def test_descriptions_are_those_of_the_create_struct() -> None:
    assert _own(DealPatch)["mapping_id"] == _own(DealCreate)["mapping_id"]
    assert (_own(DealCreate)["stream_key"], _own(DealPatch)["stream_key"]) == ("Unset: none.", "Null: none.")
    assert "currency" in _own(DealCreate)
    assert "currency" not in _own(DealPatch)  # declared anew, without words of its own
