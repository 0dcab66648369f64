"""What the XML parts of an .xlsx file have in common."""

from typing import Final

XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"

_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_ATTRIBUTE_ESCAPES: Final = _ESCAPES | str.maketrans({'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def escape(text: str) -> str:
    """Return text between tags.

    The standard library's own costs each process 30 ms: it loads urllib and email.
    """
    return text.translate(_ESCAPES)


def quoteattr(text: str) -> str:
    """Return text as an attribute's value, with its quotes."""
    return f'"{text.translate(_ATTRIBUTE_ESCAPES)}"'
