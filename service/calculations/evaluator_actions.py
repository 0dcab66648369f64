"""The child processes that evaluate what could take long.

A formula there can harm neither us nor its neighbours.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from core.confined.wire import ChildLimits
from service.platform.unit.context import Resources
from service.processes.shared import Children

EVALUATING: Final = "service.calculations.child.Evaluating"


class Evaluators(Children):
    """Children that evaluate formulas, and keep the workbooks open that these stand over."""

    def __init__(self, *, processes: int, queue: int, memory_bytes_max: int, workbooks: int, blobs: Path) -> None:
        # An order names its workbook's files, so a child may read those of all, and nothing else that we keep.
        limits = ChildLimits(
            parent=os.getpid(),
            memory_bytes_max=memory_bytes_max,
            reads=(str(blobs.resolve()),),
            settings={"workbooks": workbooks, "memory_bytes_max": memory_bytes_max},
        )
        super().__init__("evaluators", EVALUATING, limits, processes=processes, queue=queue)


def evaluators_of(resources: Resources) -> Evaluators:
    """Return this process's evaluators, started by the first call."""
    return resources.once(_open)


def _open(resources: Resources) -> Evaluators:
    settings = resources.settings
    evaluators = Evaluators(
        processes=settings.evaluators,
        queue=settings.compute_queue,
        memory_bytes_max=settings.evaluation_memory_mb * 1024 * 1024,
        workbooks=settings.calculating_workbooks,
        blobs=resources.blobs.folder,
    )
    resources.closing.callback(evaluators.close)
    return evaluators
