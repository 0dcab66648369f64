"""Bodies of changes: what is left out of them stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, Union, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType


class Patch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to change of a record."""

    def changes(self) -> dict[str, Any]:
        """Return the fields that the caller sent, by name."""
        fields = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in fields if value is not UNSET}


P = TypeVar("P", bound=Patch)


def patch_of(create: type[Struct], fields: str = "") -> Callable[[type[P]], type[P]]:
    """Give a patch the fields of a record's create struct, each of them optional.

    A field that the patch declares itself stays as it is there. One that may be null in the create struct may be null.

    Args:
        fields: names of the fields in their order; all of the create struct where empty.
    """

    def derive(kind: type[P]) -> type[P]:
        names = fields.split() or list(create.__struct_fields__)
        own, hints = kind.__struct_fields__, get_type_hints(create, include_extras=True)
        types = {name: Union[hints[name], UnsetType] for name in names if name not in own}  # noqa: UP007 - of values
        types |= {name: hint for name, hint in get_type_hints(kind, include_extras=True).items() if name in own}
        return msgspec.defstruct(  # type: ignore[return-value]  # the same struct with more fields
            kind.__name__,
            [(name, types[name], UNSET) for name in names],
            bases=(Patch,),
            module=kind.__module__,
            namespace={"__doc__": kind.__doc__, "described_by": (create, frozenset(names) - set(own))},
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        )

    return derive
