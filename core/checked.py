"""Arguments held against the types that a public function states.

What is wrong is refused in one sentence.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, wraps
from inspect import Parameter, Signature, signature
from types import NoneType, UnionType
from typing import Any, Final, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np

_P = ParamSpec("_P")
_R = TypeVar("_R")

_WORDS: Final[dict[Any, str]] = {
    str: "a text", float: "a number", int: "a whole number", bool: "True or False", NoneType: "None",
    Mapping: "a dict", dict: "a dict", Sequence: "a list", Iterable: "a list", list: "a list", tuple: "a tuple",
    Callable: "a function", np.ndarray: "an array", bytes: "bytes",
}  # fmt: skip
_TAKEN: Final[dict[Any, tuple[type, ...]]] = {
    float: (int, float, np.integer, np.floating), int: (int, np.integer), bool: (bool, np.bool_),
}  # fmt: skip
"""What stands for a type beside its own instances."""
_LISTS: Final = (Sequence, Iterable)
_LOOKED_AT: Final = 1_000
"""Items of a list whose types are looked at."""
_MADE_BY: Final = {"Portfolio": "; Portfolio.from_workbook makes one of a workbook, Portfolio.from_columns of a table"}


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return the function, which refuses arguments of other types than it states before it does anything.

    For functions that work for longer than the microseconds that this takes. The call raises a TypeError that names the
    argument and what it may be, or for an unknown one the nearest that there is.
    """

    least = 1 if "." in function.__qualname__ else 0  # a method's own object; book.recalculate() takes microseconds

    @wraps(function)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if (kwargs or len(args) != least) and not _are_plain(function, args, kwargs):
            refuse(function, args, kwargs)
        return function(*args, **kwargs)

    return wrapper


@lru_cache(maxsize=256)
def _stated(function: Callable[..., Any]) -> tuple[Signature, dict[str, Any]]:
    """Return the signature and the type of each parameter that has one which is known when the program runs."""
    own_signature, names = signature(function), vars(sys.modules[function.__module__])
    types: dict[str, Any] = {}
    for name, parameter in own_signature.parameters.items():
        if parameter.annotation is not Parameter.empty and parameter.kind not in (
            Parameter.VAR_POSITIONAL,
            Parameter.VAR_KEYWORD,
        ):
            try:
                types[name] = eval(parameter.annotation, names) if isinstance(parameter.annotation, str) else Any  # noqa: S307 - our own source
            except NameError:  # imported for type checkers alone
                continue
    return own_signature, types


@lru_cache(maxsize=256)
def _plain(function: Callable[..., Any]) -> tuple[tuple[tuple[type, ...], ...], dict[str, tuple[type, ...]], int]:
    """Return the classes that each parameter given by its place states, those that may be given by name, and how many
    must be given."""
    own_signature, types = _stated(function)
    known = [(parameter, _classes(types.get(parameter.name))) for parameter in own_signature.parameters.values()]
    by_place = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    placed = [(each, kinds) for each, kinds in known if each.kind in by_place]
    by_name = {each.name: kinds for each, kinds in known if each.kind is Parameter.KEYWORD_ONLY}
    named_only = any(each.kind is Parameter.KEYWORD_ONLY and each.default is Parameter.empty for each, _ in known)
    needed = sum(each.default is Parameter.empty for each, _ in placed)
    return tuple(kinds for _, kinds in placed), by_name, len(known) + 1 if named_only else needed


def _classes(kind: Any) -> tuple[type, ...]:
    """Return the classes of which a value is right without a look at what it holds, of those that a type names."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return tuple(each for argument in get_args(kind) for each in _classes(argument))
    if origin is tuple and Ellipsis in get_args(kind):
        return (tuple,)
    return (kind,) if kind in (str, bool, NoneType) or _is_ours(kind) else ()


def _is_ours(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__module__.startswith("core.")


def _are_plain(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether all arguments are right at first sight.

    To bind them to the signature takes 7 us.
    """
    placed, by_name, needed = _plain(function)
    if not needed <= len(args) <= len(placed):
        return False
    for value, kinds in zip(args, placed, strict=False):
        if getattr(type(value), "stands_for", type(value)) not in kinds:
            return False
    return all(type(value) in by_name.get(name, ()) for name, value in kwargs.items())


def refuse(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise a TypeError where an argument is of another type than the function states, or none that it has.

    For a function of a microsecond, once something has failed.
    """
    own_signature, types = _stated(function)
    called = function.__qualname__.removesuffix(".__init__")
    try:
        arguments = own_signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        unknown = next((name for name in kwargs if name not in own_signature.parameters), "")
        near = get_close_matches(unknown, own_signature.parameters, n=1)
        near_name = f"; near: {near[0]}" if near else ""
        raise TypeError(f"{called}() {error}{near_name}") from None
    for name, value in arguments.items():
        if name in types and not _fits(value, types[name]):
            wanted = list(dict.fromkeys(_words(types[name])))
            near_name = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if wanted[1:] else wanted)
            shown = repr(value)[:60] if isinstance(value, str) else type(value).__name__
            shown += f" of {type(value[0]).__name__}" if isinstance(value, list | tuple) and value else ""
            hint = next((text for kind, text in _MADE_BY.items() if f"a {kind}" in wanted), "")
            raise TypeError(f"{called}(): {name} is {near_name}, not {shown}{hint}") from None


def _fits(value: Any, kind: Any) -> bool:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, arg) for arg in get_args(kind))
    if origin is Literal:
        return any(type(value) is type(arg) and value == arg for arg in get_args(kind))
    if kind is None:
        return value is None
    kind, inside = origin or kind, get_args(kind)
    if kind is Any or not isinstance(kind, type):
        return True
    if kind in _LISTS:
        if isinstance(value, list | tuple):
            return inside == (Any,) or all(_fits(each, inner) for inner in inside for each in value[:_LOOKED_AT])
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            return False
        return isinstance(value, Sequence) or not hasattr(value, "__arrow_c_stream__")  # a frame's items are its names
    if kind is tuple and inside and Ellipsis not in inside:
        return isinstance(value, tuple) and len(value) == len(inside) and all(map(_fits, value, inside))
    if getattr(type(value), "stands_for", None) is kind:
        return True
    return isinstance(value, _TAKEN.get(kind, kind))


def _words(kind: Any) -> list[str]:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return [word for arg in get_args(kind) for word in _words(arg)]
    if origin is Literal:
        return [repr(arg) for arg in get_args(kind)]
    inside = get_args(kind) if origin in (*_LISTS, tuple) else ()
    named = ["lists" if get_origin(argument) in _LISTS else getattr(argument, "__name__", "") for argument in inside]
    inner = ", ".join(filter(None, named))
    kind = NoneType if kind is None else origin or kind
    name = getattr(kind, "__name__", str(kind))
    word = _WORDS.get(kind, f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}")
    return [f"{word} of {inner}" if inner else word]
