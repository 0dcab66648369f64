"""OLE compound files, for tests of what is wrapped in them."""

from __future__ import annotations

import struct

FREE, LAST, TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(streams: dict[str, bytes], *, small: bool = False) -> bytes:
    """A compound file of 512-byte sectors.

    Table, directory, then the streams, in the root's small sectors or not.
    """
    sectors: list[bytes] = [b"", b""]
    table = [TABLE, LAST]
    entries = []

    def add(data: bytes) -> int:
        first = len(sectors)
        pieces = [data[at : at + 512].ljust(512, b"\0") for at in range(0, len(data), 512)] or [bytes(512)]
        for at, piece in enumerate(pieces):
            sectors.append(piece)
            table.append(first + at + 1 if at + 1 < len(pieces) else LAST)
        return first

    root = LAST
    if small:
        root = add(bytes(64) + b"".join(data for data in streams.values()))
    for name, data in streams.items():
        start = 1 if small else add(data.ljust(4096, b"\0"))
        entries.append((name, 2, start, len(data) if small else max(4096, len(data))))
    directory = b""
    for at, (name, kind, start, size) in enumerate([("Root Entry", 5, root, 64), *entries]):
        raw = (name + "\0").encode("utf-16-le")
        # A degenerate tree: the first stream is the root's child, each other one the right neighbour of the one before.
        right, child = (FREE, 1) if at == 0 else (at + 1 if at < len(entries) else FREE, FREE)
        directory += (
            raw.ljust(64, b"\0")
            + struct.pack("<HBB3I", len(raw), kind, 1, FREE, right, child)
            + bytes(36)
            + struct.pack("<IQ", start, size)
        )
    sectors[1] = directory.ljust(512, b"\0")
    sectors[0] = struct.pack(f"<{len(table)}I", *table).ljust(512, b"\xff")
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<9I", 0, 1, 1, 0, 4096, LAST, 0, LAST, 0) + struct.pack("<I", 0).ljust(436, b"\xff")
    return head + b"".join(sectors)
