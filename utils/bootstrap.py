"""The environment of our own: made beside `main.py` when the packages are missing.

This runs in whatever Python the person has, before any package is there: standard library only,
and little of it, because each start pays for it.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from utils.i18n import Phrase, UserError, phrase

STARTED_BY = "ONEFOLD_STARTED_BY"
"""The variable that says what the Python loads that made way for this one."""

_PIP = ("--disable-pip-version-check", "--progress-bar", "off")
Say = Callable[[Phrase], None]


def ensure(root: str, *, packages: Sequence[str], requirements: str, folder: str, say: Say) -> None:
    """Return when this interpreter can import *packages*; else go on in one that can.

    That one is *root*/*folder*, made or brought up to date from the pinned file *requirements*
    first, and this process becomes it. ``ONEFOLD_BOOTSTRAP=0`` turns this off. Raises `UserError`
    that says what to install when it cannot be made.
    """
    if os.environ.get("ONEFOLD_BOOTSTRAP") == "0":
        return
    home = os.path.join(root, folder)  # noqa: PTH118 - pathlib costs start-up time
    python = os.path.join(home, "Scripts" if os.name == "nt" else "bin", "python")  # noqa: PTH118
    wanted = _read(os.path.join(root, requirements))  # noqa: PTH118
    is_inside = os.path.realpath(sys.prefix) == os.path.realpath(home)
    if not is_inside and all(find_spec(name) for name in packages):
        return
    stamp = os.path.join(home, "onefold-requirements.txt")  # noqa: PTH118
    if _read(stamp) != wanted or not os.path.exists(python):  # noqa: PTH110
        _check_place(root, requirements)
        say(phrase("Making the environment in {folder}, once; it takes a minute.", folder=home))
        if not (os.path.exists(stamp) and os.path.exists(python)):  # noqa: PTH110
            _make(home, python)
        _fill(python, os.path.join(root, requirements), say)  # noqa: PTH118
        with open(stamp, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(wanted)
    elif is_inside:
        return
    sys.stdout.flush()
    os.environ[STARTED_BY] = os.pathsep.join((os.environ.get(STARTED_BY, ""), *_loaded()))
    os.execv(python, [python, *sys.orig_argv[1:]])  # noqa: S606 - our own interpreter


def _loaded() -> list[str]:
    """Return from where this interpreter loads, as far as it can be told by a few paths."""
    folders = (sys.prefix, sys.base_prefix, site.USER_SITE, sys.pycache_prefix, *sys.path)
    return [os.path.abspath(path) for path in (sys.executable, *folders) if path]  # noqa: PTH100


def _read(path: str) -> str:
    """Return the file with all that it includes by `-r` and `-c`, so that any change is seen."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
    except FileNotFoundError:
        return ""
    folder = os.path.dirname(path)  # noqa: PTH120
    included = [line[3:].strip() for line in text.splitlines() if line.startswith(("-r ", "-c "))]
    return text + "".join(_read(os.path.join(folder, name)) for name in included)  # noqa: PTH118


def _check_place(root: str, requirements: str) -> None:
    """Raise `UserError` where nothing can be made in *root*."""
    if not os.access(root, os.W_OK):
        what = phrase(
            "Nothing can be written to {folder}. Copy it to a place of your own and start it "
            "there, or install its {requirements} yourself and set ONEFOLD_BOOTSTRAP=0.",
            folder=root,
            requirements=requirements,
        )
        raise UserError(what)


def _install(command: list[str]) -> str:
    """Run pip, showing what it is at in one line; return the end of what it said if it failed."""
    import subprocess
    from collections import deque

    is_shown = sys.stderr.isatty()
    last: deque[str] = deque(maxlen=20)
    with subprocess.Popen(  # noqa: S603 - pip of our own environment
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        for line in process.stdout:
            last.append(line)
            if is_shown:
                sys.stderr.write(f"\r\x1b[K{line.strip()[:70]}")
                sys.stderr.flush()
    if is_shown:
        sys.stderr.write("\r\x1b[K")
    return "".join(last) if process.returncode else ""


def _make(home: str, python: str) -> None:
    """Make the environment, or what is missing of one that was begun or whose Python is gone."""
    import shutil
    import subprocess

    afresh = [] if os.path.exists(python) else ["--clear"]  # noqa: PTH110
    made = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "venv", *afresh, home], stdout=sys.stderr, check=False
    )
    if made.returncode:
        shutil.rmtree(home, ignore_errors=True)
        raise UserError(
            phrase(
                "Python cannot make environments here. Install python3-venv (Debian, Ubuntu: "
                "apt install python3-venv) and start again."
            )
        )


def _fill(python: str, requirements: str, say: Say) -> None:
    said = _install([python, "-m", "pip", "install", *_PIP, "-r", requirements])
    if said:
        sys.stderr.write(said)
        raise UserError(
            phrase(
                "The packages could not be installed (see above). Check the network and start "
                "again, or install {requirements} yourself and set ONEFOLD_BOOTSTRAP=0.",
                requirements=requirements,
            )
        )
    say(phrase("The environment is ready."))
