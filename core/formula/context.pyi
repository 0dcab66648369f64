from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from core.formula.machine.machine import CompiledTree
from core.formula.ranges.environment import Environment
from core.formula.values.locales import Locale

TEXT_LENGTH_MAX: int
SECONDS: float
KEY_LENGTH_MAX: int

class Slots:
    program: Final[CompiledTree]
    def __new__(cls, program: CompiledTree) -> Slots: ...

class ContextEnvironment(Environment):
    behind: Final[Environment | None]
    def __init__(
        self,
        context: Mapping[str, Any] | None = ...,
        behind: Environment | None = ...,
        *,
        sheet: str | None = ...,
        clock: Callable[[], datetime] | None = ...,
        random: Callable[[], float] | None = ...,
        seconds: float = ...,
        date_1904: bool = ...,
        locale: Locale | None = ...,
    ) -> None: ...
