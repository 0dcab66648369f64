"""The triggers of a deal's classes from the coverage tests that its file prints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from core.portfolio.model.classes import class_key, covers
from core.portfolio.model.facts import Fact
from core.portfolio.model.portfolio import Tranches


def with_triggers(tranches: Tranches, tests: Iterable[Fact]) -> Tranches:
    """The notes with the printed OC and IC triggers where their own table has none: class A/B is A and all B.

    A test that is printed twice with other limits gives none.
    """
    keys = [class_key(name) for name in tranches.classes]
    columns = {"oc": tranches.oc_trigger.copy(), "ic": tranches.ic_trigger.copy()}
    given = {measure: bool(np.isfinite(column).any()) for measure, column in columns.items()}
    for test in tests:
        subject = test.subject
        if subject is None or test.is_prior or test.conflict or test.trigger is None:
            continue
        if subject.measure not in columns or given[subject.measure]:
            continue
        for at, note in enumerate(keys):
            if not tranches.is_income[at] and any(covers(one, note) for one in subject.classes):
                columns[subject.measure][at] = test.trigger
    return replace(tranches, oc_trigger=columns["oc"], ic_trigger=columns["ic"])


def reinvestment_trigger(tests: Iterable[Fact]) -> float | None:
    """What the reinvestment or interest diversion test is held to, in percent; None where no test says it."""
    return next(
        (
            test.trigger
            for test in tests
            if test.subject is not None and test.subject.measure == "reinvestment" and not test.is_prior
            and test.trigger is not None and not test.conflict
        ),
        None,
    )  # fmt: skip
