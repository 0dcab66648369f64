"""What a command refuses, as one line for the person at the terminal."""

from __future__ import annotations

from json import dumps


class Refused(Exception):
    """A command cannot do what was asked; the message is one line that says why. The process ends with code 2."""


def one_line(text: str) -> str:
    """The text on one line and safe for a terminal.

    Whatever is not printable becomes a space or a question mark.
    """
    return "".join(char if char.isprintable() else "?" for char in " ".join(text.split()))


def escaped(document: str) -> str:
    """JSON whose texts cannot steer a terminal.

    Every character that is not printable is escaped.
    """
    if document.isprintable():
        return document
    return "".join(char if char.isprintable() or char == "\n" else dumps(char)[1:-1] for char in document)
