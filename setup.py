"""The compiled modules and their flags; everything else about the project stands in pyproject.toml."""

import os
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("CUSHION_DEBUG") == "1"

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

# No -ffast-math: NaN means blank, and a sum must not depend on the vector width.
FLAGS = ["-O0", "-g"] if DEBUG else ["-O3", "-fno-math-errno", "-fno-trapping-math"]
FLAGS += ["-Wno-psabi"]  # gcc's note on vectors as parameters, which no call across modules has


def extension(source: Path) -> Extension:
    return Extension(
        name=".".join(source.with_suffix("").parts),
        sources=[str(source)],
        depends=[str(part) for part in source.parent.iterdir() if part.suffix in (".h", ".pxi")],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=FLAGS,
    )


setup(
    ext_modules=cythonize(
        [extension(source) for source in sorted(Path("core").rglob("*.pyx"))],
        compiler_directives=DIRECTIVES,
        nthreads=os.cpu_count() or 1,
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
