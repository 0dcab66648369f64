"""The completion command: what a shell needs to complete `cushion`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from service.commands.refusal import Refused

Shell = Literal["bash", "zsh", "fish"]
SHELLS: Final = ("bash", "zsh", "fish")


def completion(shell: Shell | None = None, /) -> None:
    """Print the script with which a shell completes commands, options and choices of cushion.

    `cushion completion bash > /etc/bash_completion.d/cushion` serves everybody on a machine; `cushion
    --install-completion` serves you.

    Parameters
    ----------
    shell:
        bash, zsh or fish; the one that SHELL names if not given.
    """
    from service.commands.cli import app

    sys.stdout.write(app.generate_completion(shell=shell or _shell()))


def install(
    *,
    shell: Shell | None = None,
    output: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
) -> None:
    """Teach a shell to complete commands, options and choices of cushion, from its next start on.

    The script is written where the shell looks for such, and a line that reads it is added to ~/.bashrc or ~/.zshrc
    unless it is there. Do it again after an update.

    Parameters
    ----------
    shell:
        bash, zsh or fish; the one that SHELL names if not given.
    output:
        Write the script to this file, and change nothing else.
    """
    from service.commands.cli import app

    chosen = shell or _shell()
    try:
        written = app.install_completion(shell=chosen, output=output, add_to_startup=output is None)
    except OSError as error:
        raise Refused(f"{error.filename or output}: {error.strerror or error}") from error
    print(f"{written}: completes from the next start of {chosen} on")


def _shell() -> Shell:
    """The shell of the user's session.

    Raises:
        Refused: it is none that can be taught.
    """
    name = Path(os.environ.get("SHELL", "")).name
    for shell in SHELLS:
        if shell == name:
            return shell
    raise Refused(f"which shell: {', '.join(SHELLS)}? SHELL says {name or 'nothing'}")
