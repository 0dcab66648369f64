"""The worked pool of the compliance tests."""

from __future__ import annotations

from tests.core.compliance.conftest import g1, g1_columns  # noqa: F401 - fixtures
