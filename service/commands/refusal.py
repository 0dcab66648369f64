"""What a command refuses, as one line for the person at the terminal."""

from __future__ import annotations


class Refused(Exception):
    """A command cannot do what was asked; the message is one line that says why. The process ends with code 2."""


def one_line(text: str) -> str:
    """The text on one line and safe for a terminal: whatever is not printable becomes a space or a question mark."""
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))
