"""Python that runs the model's code, and the parts of it that have to be exposed.

A virtual environment in the project is written by programs in the sandbox: what it says about its
base installation is only a claim. Nothing is shown to a program because of it but a folder that
is a Python installation and holds nothing else of the person's.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from modules.sandbox.filesystem.folders import is_within, real_path
from utils.i18n import Phrase, phrase

_PYTHON_NAME = re.compile(r"python3?(\.\d+t?)?")
_ENVIRONMENTS = (".venv", "venv")
_SYSTEM_PYTHONS = ("/usr/local/bin/python3", "/usr/bin/python3", "/bin/python3")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """*prefix* is the installation to show, None where /usr or the project hold it; *aliases* are
    names beside it that are links to it. *note* says why the project's environment is not used.
    """

    python: Path
    prefix: Path | None = None
    aliases: tuple[Path, ...] = ()
    environment: Path | None = None
    note: Phrase | None = None


def find_interpreter(project: Path, home: Path, hidden: tuple[Path, ...]) -> Interpreter | None:
    """Return the project's Python, else the system's, else our own; None if there is none."""
    system = _system_interpreter(project, home, hidden)
    for name in _ENVIRONMENTS:
        environment = project / name
        # Not by pathlib, which raises where a program has locked a folder.
        if os.path.islink(environment) or not os.path.isfile(environment / "pyvenv.cfg"):  # noqa: PTH113, PTH114
            continue
        for python in (environment / "bin/python3", environment / "bin/python"):
            if os.path.lexists(python):
                found = _of_environment(environment, python, project, home, hidden)
                return found or _system_with_note(system, name)
    return system


def _of_environment(
    environment: Path, python: Path, project: Path, home: Path, hidden: tuple[Path, ...]
) -> Interpreter | None:
    """Return the environment's interpreter if all that it needs may be shown."""
    try:
        real = python.resolve(strict=True)
    except (OSError, RuntimeError):  # leads nowhere, into what we may not see, or in a circle
        return None
    if is_within(real, project) or is_within(real, Path("/usr")):
        return Interpreter(python, environment=environment)
    prefix = _installation(real, project, home, hidden)
    if prefix is None:
        return None
    return Interpreter(python, prefix, _aliases(prefix), environment)


def _system_with_note(system: Interpreter | None, name: str) -> Interpreter | None:
    if system is None:
        return None
    note = phrase(
        "The Python of {environment} was not used: it lies outside the project, in what is not a "
        "plain Python installation.",
        environment=name,
    )
    return Interpreter(system.python, system.prefix, system.aliases, note=note)


def _system_interpreter(project: Path, home: Path, hidden: tuple[Path, ...]) -> Interpreter | None:
    for name in _SYSTEM_PYTHONS:
        real = Path(name).resolve()
        if real.is_file() and is_within(real, Path("/usr")):
            return Interpreter(Path(name))
    own_python = Path(sys.base_exec_prefix) / "bin" / "python3"
    prefix = _installation(own_python.resolve(), project, home, hidden)
    return Interpreter(own_python, prefix, _aliases(prefix)) if prefix else None


def _installation(real: Path, project: Path, home: Path, hidden: tuple[Path, ...]) -> Path | None:
    """Return the folder of the Python installation that *real* belongs to, if it may be shown."""
    prefix = real.parent.parent
    if not _PYTHON_NAME.fullmatch(real.name) or real.parent.name != "bin" or not real.is_file():
        return None
    if any(
        is_within(never_exposed, prefix) for never_exposed in (home.resolve(), project, *hidden)
    ):
        return None
    landmarks = [path for path in prefix.glob("lib/python3.*/os.py") if not path.is_symlink()]
    return prefix if any(path.is_file() for path in landmarks) else None


def _aliases(prefix: Path) -> tuple[Path, ...]:
    """Return the links beside *prefix* that lead to it (uv and pyenv name versions so)."""
    try:
        beside = sorted(prefix.parent.iterdir())
    except OSError:
        return ()
    return tuple(path for path in beside if path.is_symlink() and real_path(path) == prefix)[:8]
