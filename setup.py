"""The compiled modules, their flags, and the guide; everything else about the project stands in pyproject.toml."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Command, Extension, setup
from setuptools.command.build import build

DEBUG = os.environ.get("CUSHION_DEBUG") == "1"
JOBS = os.cpu_count() or 1

# What the memoryviews of all modules need, compiled once: in each module of its own it was half of the compiler's work.
SHARED = "core._cyutility"

# The checks of bounds are each kernel's own contract in a release; CUSHION_DEBUG=1 turns the compiler's on as well.
DIRECTIVES = {
    "language_level": "3",
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": False,
}

# No -ffast-math: NaN means blank, and a sum must not depend on the vector width. Nor may it on whether the processor
# can add to a product without rounding it, which gcc would do.
# Without -g0 the interpreter's own -g holds, which takes the compiler a third of its time.
FLAGS = ["-O0", "-g"] if DEBUG else ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math"]
FLAGS += ["-ffp-contract=off"]
FLAGS += ["-Wno-psabi"]  # gcc's note on vectors as parameters, which no call across modules has


def extension(source: Path) -> Extension:
    return Extension(
        name=".".join(source.with_suffix("").parts),
        sources=[str(source)],
        depends=[str(header) for header in source.parent.glob("*.h")],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=FLAGS,
    )


compiled = cythonize(
    [
        Extension(name=SHARED, sources=[SHARED.replace(".", "/") + ".c"], extra_compile_args=FLAGS),
        *(extension(source) for source in sorted(Path("core").rglob("*.pyx"))),
    ],
    compiler_directives=DIRECTIVES,
    shared_utility_qualified_name=SHARED,
    nthreads=JOBS,
)
# The largest first, so that no processor is left with one of them at the end.
compiled.sort(key=lambda module: os.path.getsize(module.sources[0]), reverse=True)

# Of the package that was built and of `docs` beside this file, in this order: the sources have no compiled modules.
GUIDE = (
    "import runpy, sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; runpy.run_module('docs', run_name='__main__')"
)


class BuildGuide(Command):
    """The guide, made by the package that was just built, into it: a wheel has it, or is not made."""

    user_options = []  # noqa: RUF012 - as setuptools declares them
    editable_mode = False
    """An editable project, for which setuptools sets this, has its guide from `make setup` or `make docs`."""

    def initialize_options(self):
        self.build_lib = None

    def finalize_options(self):
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    def run(self):
        if self.editable_mode:
            return
        out = Path(self.build_lib, "service", "guide.zip")
        command = [sys.executable, "-P", "-c", GUIDE, os.path.abspath(self.build_lib), os.getcwd(), "--out", str(out)]
        if subprocess.run(command).returncode:  # noqa: S603 - this interpreter with arguments of our own
            raise SystemExit(
                "The guide could not be built, and a wheel is not made without it; the reason stands above. Without "
                "build isolation: pip install -e '.[service,docs]' has what it is made with."
            )


class Build(build):
    sub_commands = [*build.sub_commands, ("build_guide", None)]  # noqa: RUF012


setup(
    ext_modules=compiled,
    options={"build_ext": {"parallel": JOBS}},
    cmdclass={"build": Build, "build_guide": BuildGuide},
)
