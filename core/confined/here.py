"""What a process knows of itself."""

from __future__ import annotations

confined: bool = False
"""Whether it is a confined child: it may not load programs, and ends with its piece of work."""
