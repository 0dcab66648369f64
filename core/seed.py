"""The seed of this process's hash tables.

Drawn once, so that nobody can make a file of texts that collide in them.

No result depends on it.
"""

from __future__ import annotations

import os
from typing import Final

SEED: Final = int.from_bytes(os.urandom(8), "little")
"""Below 2**64."""
