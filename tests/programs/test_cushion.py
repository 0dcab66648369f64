"""`import cushion` and the command where a program has a `core` of its own.

Both work, in either order.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "import sys; del sys.path[0]; from service.commands.cli import main; main()"]
"""The installed command: its script stands in a folder of programs, so the working directory is not looked through."""

SCRIPT = """
import multiprocessing
import {first}
import {second}
import cushion

def passed(portfolio):
    return [result.test_name for result in cushion.run_suite(portfolio, "enhanced")]

if __name__ == "__main__":
    columns = {{"borrower_name": ["A", "B"], "par_value": [1e6, 2e6], "spread": [300, 400]}}
    portfolio = cushion.Portfolio.from_columns(columns)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(passed, [portfolio]) == [passed(portfolio)] != [[]]
    assert cushion.evaluate("=SUM(A1:A2)", {{"A1": 1, "A2": 2}}).value == 3
    assert isinstance(cushion.read({book!r}), cushion.Book)
    {theirs}
"""

THEIRS = {
    "a package": (
        {"core/__init__.py": "import cushion\nanswer = cushion.evaluate('=6*7').value\nexport = 5", "core/mine.py": ""},
        "import core.mine; assert (core.answer, core.export, core.mine.__name__) == (42, 5, 'core.mine')",
    ),
    "a module": ({"core.py": "portfolio = 5"}, "import core; assert core.portfolio == 5"),
    "a folder": ({"core/mine.py": "x = 5"}, "from core.mine import x; assert x == 5"),
    "none": ({}, "import core; assert core.read is cushion.read"),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("book") / "book.csv"
    path.write_text("Borrower,CUSIP,Par Amount\nAcme,12345ABC9,1000000\n")
    return path


def _program(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize("theirs", THEIRS)
@pytest.mark.parametrize("modules", [("core", "cushion"), ("cushion", "core")])
def test_the_library_beside_another_core(theirs: str, modules: tuple[str, str], tmp_path: Path, book: Path) -> None:
    files, asserted = THEIRS[theirs]
    script = SCRIPT.format(first=modules[0], second=modules[1], book=str(book), theirs=asserted)
    _program(tmp_path, {**files, "main.py": script})
    done = subprocess.run([sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("files", [{"core/__init__.py": "", "core/files.py": ""}, {"core/files/mine.py": ""}])
def test_a_module_of_the_same_full_name_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    done = subprocess.run([sys.executable, "-c", "import cushion"], cwd=tmp_path, capture_output=True, text=True)
    line = done.stderr.splitlines()[-1]
    assert re.fullmatch(r"ImportError: cushion has a module core\.files, and so has this program \(.*\): .*", line)


def test_threads_may_load_different_names_first() -> None:
    script = """
import threading, cushion
failed, together = [], threading.Barrier(8)
def load(names):
    together.wait()
    try:
        [getattr(cushion, name) for name in names]
    except BaseException as error:
        failed.append(error)
names = cushion.__all__
threads = [threading.Thread(target=load, args=(names[at:] + names[:at],)) for at in range(0, 24, 3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(failed)
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout == "[]\n", done


def test_an_import_loads_nothing() -> None:
    loaded = "import sys, cushion; print([name for name in sys.modules if name.startswith(('core.', 'numpy'))])"
    assert subprocess.check_output([sys.executable, "-P", "-c", loaded], cwd=ROOT, text=True) == "[]\n"


@pytest.mark.parametrize("path", ["", "their folder"])
def test_the_command_and_its_children_from_such_a_folder(path: str, tmp_path: Path, book: Path) -> None:
    data = tempfile.TemporaryDirectory()
    os.chmod(data.name, 0o755)  # under root PostgreSQL runs as another user
    wrong = "raise SystemExit('taken for ours')"
    _program(
        tmp_path,
        {"core/__init__.py": wrong, "core/files.py": wrong, "service.py": wrong} if not path else {"core.py": wrong},
    )
    search = os.pathsep.join(filter(None, (str(tmp_path) if path else "", str(ROOT))))
    environment = os.environ | {"PYTHONPATH": search, "CUSHION_DATA_DIR": f"{data.name}/data"}
    checked = subprocess.run([*COMMAND, "map", book], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = next(match[0] for line in process.stdout if (match := re.search(r"http://[\d.:]+", line)))
        with urllib.request.urlopen(f"{url}/health/ready", timeout=10) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        data.cleanup()
