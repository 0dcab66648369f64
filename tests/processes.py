"""What the system says of other processes."""

from __future__ import annotations

from pathlib import Path


def is_there(process: int, states: str = "RSDTt") -> bool:
    """Whether a process is more than an entry that nobody has collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in states
    except OSError:
        return False


def children_of(process: int, program: str = "") -> list[int]:
    """What the threads of a process have started, of a program that its command line names."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    numbers = [int(number) for result in lists for number in result.read_text().split()]
    return [number for number in numbers if _runs(number, program)]


def _runs(process: int, program: str) -> bool:
    try:
        return program.encode() in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has just ended
        return False
