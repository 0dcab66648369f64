"""The pool that is worked by hand, for what is read of its workbook."""

from __future__ import annotations

from tests.service.compliance.conftest import g1, g1_file, own_g1, write_book  # noqa: F401 - fixtures
