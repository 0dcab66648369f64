"""Walls around a child that reads what a stranger wrote.

Which files it may see, no network, no other process.

Should a file take such a child over, it finds neither a secret nor another's data, and nobody to talk to. Landlock
permits files by folder; a seccomp filter refuses system calls. Each is done as far as the kernel knows it: what is
missing leaves the limits of memory and time, as on systems other than Linux.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_PR_SET_NO_NEW_PRIVS: Final = 38
_CAP_DAC_READ_SEARCH: Final = 2
"""Alone kept, by who has it: where the interpreter is closed to the service's user, imports go by it. Landlock binds
it like everything else."""
_CAPABILITIES_VERSION: Final = 0x20080522

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # on every architecture
_LANDLOCK_VERSION: Final = 1
_PATH_BENEATH: Final = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_OF_FILES: Final = 1 << 0 | 1 << 1 | _READ_FILE | 1 << 14 | 1 << 15
"""Rights that a rule for a single file may have: execute, write, read, truncate, device control."""
_EXECUTE_AND_DEVICES: Final = 1 << 0 | 1 << 15
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights a version of Landlock knows; the later ones know as many."""
_CONNECT_AND_BIND: Final = 1 << 0 | 1 << 1
_SOCKETS_AND_SIGNALS: Final = 1 << 0 | 1 << 1

_ALWAYS_READ: Final = (
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/usr/share/zoneinfo",
    "/etc/localtime",
    "/etc/ld.so.cache",
    "/sys/devices/system/cpu",
    "/proc/self",
    "/dev/null",
    "/dev/urandom",
)

# Numbers on x86_64 and aarch64; the newer ones are the same on both.
_REFUSED: Final = {
    "network": (41, 42, 43, 44, 46, 49, 50, 53, 288, 425),
    "processes": (57, 58, 59, 62, 101, 129, 200, 297, 310, 311, 312, 322, 424, 434, 438),
    "owners and modes": (90, 91, 92, 93, 94, 188, 189, 190, 197, 198, 199, 260, 268, 452),
    "shared memory": (29, 30, 31),
    "the system": (
        *(133, 135, 155, 161, 165, 166, 175, 246, 248, 249, 250, 259, 272, 298, 303, 304, 308, 313, 321, 323),
        *(428, 429, 430, 442),
    ),
}
_REFUSED_ON_AARCH64: Final = {
    "network": (198, 199, 200, 201, 202, 203, 206, 211, 242, 425),
    "processes": (117, 129, 130, 138, 221, 240, 270, 271, 272, 281, 424, 434, 438),
    "owners and modes": (5, 6, 7, 14, 15, 16, 52, 53, 54, 55, 452),
    "shared memory": (194, 195, 196),
    "the system": (
        *(33, 39, 40, 41, 51, 92, 97, 104, 105, 217, 218, 219, 241, 264, 265, 268, 273, 280, 282),
        *(428, 429, 430, 442),
    ),
}
_CLONE3: Final = 435
_CLONE_THREAD: Final = 0x10000
_X32: Final = 0x40000000
"""System calls of x86_64's other numbering begin here."""
_MACHINES: Final = {
    # The architecture's mark, seccomp, clone, tgkill, prlimit64.
    "x86_64": (0xC000003E, 317, 56, 234, 302, _REFUSED),
    "aarch64": (0xC00000B7, 277, 220, 131, 261, _REFUSED_ON_AARCH64),
}
_LOAD, _EQUAL, _AT_LEAST, _HAS_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in what the filter looks at
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_SET_FILTER, _ALL_THREADS = 1, 1


def enter(reads: Iterable[str], writes: Iterable[str]) -> None:
    """Put this process behind the walls for good.

    It reads its program and `reads`, and writes below `writes`.
    """
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _permit_files(library, {*_ALWAYS_READ, *_program(), *reads}, set(writes))
    _drop_capabilities(library)
    _filter_calls(library)


def lacking() -> list[str]:
    """Return what this kernel does not know of the walls."""
    if sys.platform != "linux":
        return ["landlock", "seccomp"]
    version = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    known = {"landlock": version >= 1, "seccomp": platform.machine() in _MACHINES}
    return [name for name, there in known.items() if not there]


def _program() -> Iterator[str]:
    """Yield where the interpreter and its libraries are.

    Of the folder that we stand in only packages that are loaded, since it may be a working copy with anything beside
    them.
    """
    home = str(Path(__file__).resolve().parents[2])
    yield from (sys.prefix, sys.base_prefix, *(part for part in sys.path if os.path.realpath(part) != home))
    for name, module in list(sys.modules.items()):
        if "." not in name:
            yield from (part for part in getattr(module, "__path__", ()) if os.path.dirname(part) == home)


def _permit_files(library: ctypes.CDLL, reads: set[str], writes: set[str]) -> None:
    version = library.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    if version < 1:
        return
    every = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    fields = [every, *([_CONNECT_AND_BIND] if version >= 4 else []), *([_SOCKETS_AND_SIGNALS] if version >= 6 else [])]
    attributes = struct.pack(f"={len(fields)}Q", *fields)
    rules = library.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return
    try:
        for rights, paths in ((_READ_FILE | _READ_DIR, reads), (every & ~_EXECUTE_AND_DEVICES, writes)):
            for path in paths:
                _permit(library, rules, path, rights)
        library.syscall(_LANDLOCK_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _permit(library: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be read
    try:
        permitted = rights if os.path.isdir(path) else rights & _OF_FILES
        library.syscall(_LANDLOCK_ADD, rules, _PATH_BENEATH, struct.pack("=Qi", permitted, place), 0)
    finally:
        os.close(place)


def _drop_capabilities(library: ctypes.CDLL) -> None:
    head = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    state = ctypes.create_string_buffer(24)
    if library.capget(head, state) == 0:
        kept = struct.unpack("=6I", state.raw)[0] & 1 << _CAP_DAC_READ_SEARCH
        library.capset(head, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _filter_calls(library: ctypes.CDLL) -> None:
    if platform.machine() not in _MACHINES:
        return
    mark, seccomp, clone, tgkill, prlimit, refused = _MACHINES[platform.machine()]
    steps = [
        *((_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, mark), (_RETURN, 0, 0, _KILL)),
        *((_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _X32), (_RETURN, 0, 0, _REFUSE | errno.EPERM)),
        *((_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _REFUSE | errno.ENOSYS)),  # the library then takes clone
    ]
    for number in sorted(number for numbers in refused.values() for number in numbers):
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE | errno.EPERM)]
    for number, test, value in (
        (clone, _HAS_BIT, _CLONE_THREAD),  # a thread, no process
        (tgkill, _EQUAL, os.getpid()),  # itself, as abort does
        (prlimit, _EQUAL, 0),  # likewise
    ):
        steps += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, _FIRST_ARGUMENT), (test, 0, 1, value)]
        steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE | errno.EPERM)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    program = struct.pack("@HP", len(steps), ctypes.addressof(code))
    library.syscall(seccomp, _SET_FILTER, _ALL_THREADS, program)
