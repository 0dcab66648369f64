"""Warming: the kernels of this build load and calculate; one that does not is told of, not served with."""

import pytest

from core import warm
from core.compliance import run


def test_warm_runs_the_kernels() -> None:
    warm.warm()
    assert warm.is_warm()


def test_a_wrong_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "_warm", False)
    monkeypatch.setattr(run, "run_suite", lambda portfolio, suite: [])
    with pytest.raises(warm.KernelError, match="miscalculate"):
        warm.warm()
    assert not warm.is_warm()
