"""What tests of programs share with those of the commands."""

from tests.service.conftest import cushion, refused, started

__all__ = ["cushion", "refused", "started"]
