"""Fixtures of the console: files with figures that are known."""

from __future__ import annotations

from tests.service.compliance.conftest import g1_file, write_book  # noqa: F401 - fixtures
