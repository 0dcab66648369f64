"""The `cushion` command."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from errno import ENOSPC
from typing import Any, Final

from cyclopts import App, CycloptsError, UnknownCommandError

from service.commands.refusal import Refused, one_line

EXIT_REFUSED: Final = 2
EXIT_INTERRUPTED: Final = 130

COMMANDS: Final = {
    "serve": "server:serve",
    "worker": "server:worker",
    "migrate": "server:migrate",
    "demo": "demo:demo",
    "compliance": "compliance:compliance",
    "batch": "batch.command:batch",
    "compare": "compare:compare",
    "deal": "deal:deal",
    "simulate": "simulate:simulate",
    "ask": "ask:ask",
    "map": "map:map_columns",
    "evaluate": "evaluate:evaluate",
    "generate": "generate:generate",
    "reconcile": "reconcile:reconcile",
    "report": "report:report",
    "export": "export:export",
    "recalc": "recalc:recalc",
    "audit": "audit:audit",
    "lookback": "lookback:lookback",
    "backup": "backup:backup",
    "restore": "backup:restore",
    "verify": "verify:verify_file",
    "completion": "completion:completion",
}
"""The commands by name: the module in this package and the function or app in it, imported when it is asked for."""

GROUPS: Final = frozenset(("deal", "lookback"))
"""Commands that have commands."""


def _version() -> str:
    import core

    return core.__version__


app = App(
    name="cushion",
    version=_version,
    help_format="plaintext",  # what reads Markdown takes as long to import as all of the commands together
    help="CLO compliance on portfolio workbooks. "
    "Exit codes: 0 done, 1 a check found differences, 2 bad usage or a file that cannot be read or written, "
    "130 interrupted.",
)
for _name, _place in COMMANDS.items():
    _options: dict[str, Any] = {} if _name in GROUPS else {"help_format": "markdown"}
    app.command(f"service.commands.{_place}", name=_name, **_options)
app.command(
    "service.commands.completion:install",
    name="--install-completion",
    help="Teach the shell that runs this to complete commands, options and choices.",
)


def run(arguments: Sequence[str]) -> int:
    """Run a command line (without the program's name) and return its exit code."""
    try:
        code = _call(arguments)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _output_ends()
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        print(f"cushion: the output cannot be written: {error.strerror}", file=sys.stderr)
        return _output_ends()
    except (CycloptsError, Refused, ModuleNotFoundError) as error:
        if (message := _refusal(error)) is None:
            raise
        print(f"cushion: {message}", file=sys.stderr)
        return EXIT_REFUSED
    return code if isinstance(code, int) else 0


def _call(arguments: Sequence[str]) -> object:
    if arguments[1:] == ["help"] and arguments[0] not in GROUPS and not os.path.exists("help"):
        raise Refused(f'There is no file "help". Did you mean "cushion {arguments[0]} --help"?')
    if not arguments or arguments[0] not in COMMANDS:
        app.resolved_commands()  # help and suggestions need them all
    code = app(arguments, result_action="return_value", exit_on_error=False, print_error=False)
    sys.stdout.flush()
    return code


def _refusal(error: CycloptsError | Refused | ModuleNotFoundError) -> str | None:
    """Return why a command line is refused; None for a missing module of our own."""
    if isinstance(error, CycloptsError):
        return _usage(error)
    return one_line(str(error)) if isinstance(error, Refused) else _missing(error)


def _usage(error: CycloptsError) -> str:
    """What is wrong with a command line, and whose help says what would be right."""
    error.verbose = False
    command = " ".join(["cushion", *(error.command_chain or ())])
    message = _unknown_command(error, command) if isinstance(error, UnknownCommandError) else str(error)
    sentence = one_line(message).removesuffix(".")
    return f"{sentence}{'' if sentence.endswith('?') else '.'} See: {command} --help"


_OPTIONS: Final = {"version": "--version", "v": "--version", "help": "--help", "h": "--help"}
"""Options that people take for commands, or shorten."""


def _unknown_command(error: UnknownCommandError, command: str) -> str:
    """What may have been meant by a command that there is not, options among it, and the commands that there are."""
    from core.words import nearest

    token, *others = error.unused_tokens or [""]
    known = list(COMMANDS) if command == "cushion" else [name for name in error.app or () if not name.startswith("-")]
    near = nearest(token.strip("-"), [*known, *_OPTIONS])
    message = f'Unknown command "{token}".'
    if near == "help" and others and others[0] in known:
        return f'{message} Did you mean "{command} {others[0]} --help"?'
    if near is not None:
        option = _OPTIONS.get(near)
        whole = "cushion --version" if option == "--version" and command != "cushion" else option or near
        return f'{message} Did you mean "{whole}"?'
    return f"{message} There are: {', '.join(known)}"


def _missing(error: ModuleNotFoundError) -> str | None:
    """What to install for a command whose packages are missing.

    None where the module is one of ours.
    """
    name = (error.name or "").partition(".")[0]
    if name in ("", "core", "service"):
        return None
    return f"this command needs the Python package {name}, which is not installed: pip install 'cushion[service]'"


def _output_ends() -> int:
    """The reader of a pipe wants no more (`cushion ... | head`), or the disk is full.

    Nothing is said at the end.
    """
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
