"""Ties a program to its parent.

It gets a signal the moment the parent dies, and it may run as another user.

Run as a script with the interpreter's own modules only, so it imports nothing of ours.
"""

import contextlib
import ctypes
import os
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PR_SET_PDEATHSIG = 1  # linux/prctl.h
PR_SET_KEEPCAPS = 8
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
CAP_DAC_READ_SEARCH = 2  # linux/capability.h: read and pass through whatever the modes say
CAPABILITIES_VERSION = 0x20080522


class RunAccount(NamedTuple):
    """The operating system's user that a program runs as."""

    name: str
    uid: int
    gid: int
    reads_all: bool = False
    """It may read, not write, past the modes of files: where the program itself is closed to it."""

    def __str__(self) -> str:
        return f"{self.uid}:{self.gid}:{int(self.reads_all)}"


def bound(argv: Sequence[str], *, death_signal: int, account: RunAccount | None = None) -> list[str]:
    """The argument list that runs `argv` (its first item an absolute path) tied to the calling process.

    The program keeps the process id of the command. It gets `death_signal` when the *thread* that starts it ends,
    so start it from the main thread. `account` is switched to only where it is not already the caller's.

    A small script stands between because subprocess' preexec_fn is unsafe (and warned of from Python 3.12 on) in a
    process with threads; it costs about 10 ms.
    """
    switch = "-" if account is None or account.uid == os.geteuid() else str(account)
    script = os.path.abspath(__file__)
    return [sys.executable, "-I", "-S", script, str(os.getpid()), str(int(death_signal)), switch, *argv]


def die_with_parent(death_signal: int, parent_pid: int) -> None:
    """Ask the kernel for `death_signal` when the parent dies.

    Exit at once where it is already gone.

    Raises OSError where the kernel refuses.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent_pid:
        sys.exit(0)


def become(uid: int, gid: int, reads_all: int) -> None:
    """Be this user for good, in this process (of one thread) and whatever it runs.

    Nobody else reads what it writes.

    Raises OSError where the kernel refuses.
    """
    library = ctypes.CDLL(None, use_errno=True)
    os.umask(0o077)
    os.setgroups([gid])
    os.setgid(gid)
    if reads_all:
        library.prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0)
    os.setuid(uid)
    if reads_all:
        kept = 1 << CAP_DAC_READ_SEARCH
        head = struct.pack("=Ii", CAPABILITIES_VERSION, 0)
        if (
            library.capset(head, struct.pack("=6I", kept, kept, kept, 0, 0, 0)) != 0
            or library.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0) != 0
        ):
            raise OSError(ctypes.get_errno(), "the capability to read past the modes of files is refused")
    library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def processes() -> Iterator[tuple[int, list[bytes]]]:
    """Every process that runs.

    Its number, and what /proc tells of it from its state on (state, parent, group).
    """
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            # It may end while it is looked at.
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                # The name in parentheses may hold anything, so the fields are counted from its end.
                fields = file.read().rpartition(b")")[2].split()
                if fields[0] != b"Z":
                    yield int(entry), fields


def main(arguments: Sequence[str]) -> None:
    """Become the program that `bound` was asked for."""
    parent_pid, death_signal, switch, *argv = arguments
    if switch != "-":
        become(*(int(part) for part in switch.split(":")))
    # A shell starts what it puts into the background with SIGINT ignored; the program is to hear what it is sent.
    for heard in (signal.SIGINT, signal.SIGTERM):
        signal.signal(heard, signal.SIG_DFL)
    # A change of user clears the request, so it comes after.
    die_with_parent(int(death_signal), int(parent_pid))
    try:
        os.execv(argv[0], argv)  # noqa: S606  (no shell is wanted)
    except OSError as error:
        sys.exit(f"cannot run {argv[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
