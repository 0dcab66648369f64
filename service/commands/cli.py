"""The `cushion` command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from errno import ENOSPC
from typing import Final

from cyclopts import App, CycloptsError

import service.commands.map as map_command
from service.commands import (
    ask,
    audit,
    compliance,
    deal,
    demo,
    export,
    generate,
    recalc,
    reconcile,
    report,
    server,
    simulate,
    verify,
)
from service.commands.refusal import Refused, one_line

EXIT_REFUSED: Final = 2
EXIT_INTERRUPTED: Final = 130


def _version() -> str:
    import core

    return core.__version__


app = App(
    name="cushion",
    version=_version,
    help="CLO compliance on portfolio workbooks. "
    "Exit codes: 0 done, 1 a check found differences, 2 bad usage or a file that cannot be read or written, "
    "130 interrupted.",
)
server.register(app)
demo.register(app)
compliance.register(app)
deal.register(app)
simulate.register(app)
ask.register(app)
map_command.register(app)
generate.register(app)
reconcile.register(app)
report.register(app)
export.register(app)
recalc.register(app)
audit.register(app)
verify.register(app)


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) and give the exit code."""
    try:
        code = app(arguments, result_action="return_value", exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except (Refused, CycloptsError) as refused:
        print(f"cushion: {one_line(str(refused))}", file=sys.stderr)
        return EXIT_REFUSED
    except ModuleNotFoundError as error:
        if (message := _missing(error)) is None:
            raise
        print(f"cushion: {message}", file=sys.stderr)
        return EXIT_REFUSED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _output_ends()
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        print(f"cushion: the output cannot be written: {error.strerror}", file=sys.stderr)
        return _output_ends()
    return code if isinstance(code, int) else 0


def _missing(error: ModuleNotFoundError) -> str | None:
    """What to install for a command whose packages are missing; None where the module is one of ours."""
    name = (error.name or "").partition(".")[0]
    if name in ("", "core", "service"):
        return None
    return f"this command needs the Python package {name}, which is not installed: pip install 'cushion[service]'"


def _output_ends() -> int:
    """The reader of a pipe wants no more (`cushion ... | head`), or the disk is full: nothing is said at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_REFUSED


def main() -> None:
    """The entry point of the `cushion` command."""
    for stream in (sys.stdout, sys.stderr):
        # A file may hold characters that the terminal's encoding lacks: better an escape than a traceback.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
