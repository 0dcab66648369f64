from core import *  # noqa: F403 - in a stub these are offered on
from core import __all__ as __all__
from core import __version__ as __version__
