"""The triggers of a deal's classes from the coverage tests that its file prints."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from core.portfolio.model.classes import class_key, covers
from core.portfolio.model.facts import Fact
from core.portfolio.model.portfolio import Tranches


def with_triggers(tranches: Tranches, tests: Iterable[Fact]) -> Tranches:
    """Fill missing OC and IC triggers of notes: class A/B is A and all B.

    A test that is printed twice with other limits gives none.
    """
    keys = [class_key(name) for name in tranches.classes]
    columns = {"oc": tranches.oc_trigger.copy(), "ic": tranches.ic_trigger.copy()}
    by_measure = {measure: bool(np.isfinite(column).any()) for measure, column in columns.items()}
    for test in tests:
        subject = test.subject
        if subject is None or test.is_prior or test.conflict or test.trigger is None:
            continue
        if subject.measure not in columns or by_measure[subject.measure]:
            continue
        for at, note in enumerate(keys):
            if not tranches.is_income[at] and any(covers(note_class, note) for note_class in subject.classes):
                columns[subject.measure][at] = test.trigger
    return replace(tranches, oc_trigger=columns["oc"], ic_trigger=columns["ic"])


def reinvestment_trigger(tests: Iterable[Fact]) -> float | None:
    """Return the reinvestment test's trigger in percent; None without one."""
    return next(
        (
            test.trigger
            for test in tests
            if test.subject is not None
            and test.subject.measure == "reinvestment"
            and not test.is_prior
            and test.trigger is not None
            and not test.conflict
        ),
        None,
    )


_WITH_EXCESS: Final = re.compile(
    r"(?:\bwith|\bincl(?:uding|\.)?|\bplus|\+)[^a-z]*(?:the )?excess\b[a-z ]*\b(?:coupon|wac)\b"
)
"""Words of a spread test that adds the excess coupon of fixed-rate loans."""


def reference_coupon(tests: Iterable[Fact]) -> Fact | None:
    """Return the coupon test whose limit is the reference coupon.

    Only where the spread test says that it adds the excess over it, and such a limit is printed; else None.
    """
    current = [test for test in tests if test.subject is not None and not test.is_prior and not test.conflict]
    adds = any(
        test.subject is not None
        and test.subject.measure == "was"
        and _WITH_EXCESS.search(" ".join(test.label.lower().split()))
        for test in current
    )
    limits = [
        test
        for test in current
        if test.subject is not None
        and test.subject.measure == "wac"
        and test.subject.detail is None
        and test.trigger is not None
    ]
    return limits[0] if adds and len({test.trigger for test in limits}) == 1 else None
