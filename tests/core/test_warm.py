"""Warming: the kernels of this build load and calculate.

One that does not is told of, not served with.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from core import warm
from core.compliance import run
from core.formula import suggest

ROOT = Path(__file__).parents[2]


def test_warm_runs_the_kernels() -> None:
    warm.warm()
    assert warm.is_warm()


def test_the_first_misspelt_function_waits_for_no_index() -> None:
    warm.warm()
    assert suggest._by_part.cache_info().currsize == 1
    built = suggest._by_part.cache_info().misses
    assert suggest.did_you_mean("VLOOKUPP")
    assert suggest._by_part.cache_info().misses == built


def test_a_wrong_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "_warm", False)
    monkeypatch.setattr(run, "run_suite", lambda portfolio, suite: [])
    with pytest.raises(warm.KernelError, match="miscalculate"):
        warm.warm()
    assert not warm.is_warm()


def test_long_calculations_are_loaded() -> None:
    """In a process of its own.

    A run, a question or a search for trades loads nothing of ours late.
    """
    program = (
        "import sys; from core.warm import warm_calculations; warm_calculations();"
        "print(all(name in sys.modules for name in"
        " ('core.deals.movements', 'core.questions.ask', 'core.scenario.optimize', 'core.definition.formulas')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stdout == "True\n", done.stderr
