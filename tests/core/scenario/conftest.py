"""The worked pool of the compliance tests."""

from tests.core.compliance.conftest import g1 as g1
