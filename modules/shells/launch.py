"""Commands that start a shell: one in the sandbox, and the person's own outside."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import NamedTuple

_COLORS = "TERM=xterm-256color COLORTERM=truecolor"


class Size(NamedTuple):
    """The size of a terminal, in characters."""

    lines: int
    columns: int


def sandboxed_shell(size: Size) -> str:
    """Return the command of a shell in the sandbox, whose prompt says where it is."""
    return f"{_resized(size)}; export {_COLORS} PS1='[sandbox] \\w\\$ '; exec bash -i"


def own_shell(size: Size, environment: Mapping[str, str]) -> str:
    """Return the command of the person's login shell, with the editor of *environment*.

    A program with a terminal is given another editor than they have; see `terminal_variables`.
    """
    editor = environment.get("EDITOR")
    with_editor = f"export EDITOR={quote(editor)}" if editor else "unset EDITOR"
    shell = quote(_login_shell(environment))
    return f"{_resized(size)}; export {_COLORS}; {with_editor}; exec -l {shell}"


def _resized(size: Size) -> str:
    return f"stty rows {size.lines} cols {size.columns}"


def _login_shell(environment: Mapping[str, str]) -> str:
    shell = environment.get("SHELL", "")
    if Path(shell).is_absolute() and os.access(shell, os.X_OK):
        return shell
    try:
        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except KeyError:  # a number without a user
        return "/bin/sh"
