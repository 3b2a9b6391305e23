"""Bootstrap of our own virtual environment, beside `main.py`, when packages are missing.

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
"""Variable with the import locations of the Python that started this one."""

_PIP = ("--disable-pip-version-check", "--progress-bar", "off")
Print = Callable[[Phrase], None]


def ensure_environment(
    root: str, *, packages: Sequence[str], requirements: str, folder: str, print_message: Print
) -> None:
    """Return when this interpreter can import *packages*; else go on in one that can.

    That one is *root*/*folder*, made or brought up to date from the pinned file *requirements*
    first, and this process becomes it. ``ONEFOLD_BOOTSTRAP=0`` turns this off. Raises `UserError`
    that says what to install when it cannot be made.
    """
    if os.environ.get("ONEFOLD_BOOTSTRAP") == "0":
        return
    environment = os.path.join(root, folder)  # noqa: PTH118 - pathlib costs start-up time
    python = os.path.join(environment, "Scripts" if os.name == "nt" else "bin", "python")  # noqa: PTH118
    requirements_text = _read_with_includes(os.path.join(root, requirements))  # noqa: PTH118
    is_inside = os.path.realpath(sys.prefix) == os.path.realpath(environment)
    if not is_inside and all(find_spec(name) for name in packages):
        return
    stamp_file = os.path.join(environment, "onefold-requirements.txt")  # noqa: PTH118
    if _read_with_includes(stamp_file) != requirements_text or not os.path.exists(python):  # noqa: PTH110
        _check_writable(root, requirements)
        print_message(
            phrase(
                "Setting up the environment in {folder}. This happens once and takes about a "
                "minute.",
                folder=environment,
            )
        )
        if not (os.path.exists(stamp_file) and os.path.exists(python)):  # noqa: PTH110
            _create_environment(environment, python)
        _install_packages(python, os.path.join(root, requirements), print_message)  # noqa: PTH118
        with open(stamp_file, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(requirements_text)
    elif is_inside:
        return
    sys.stdout.flush()
    os.environ[STARTED_BY] = os.pathsep.join((os.environ.get(STARTED_BY, ""), *_import_locations()))
    os.execv(python, [python, *sys.orig_argv[1:]])  # noqa: S606 - our own interpreter


def _import_locations() -> list[str]:
    """Return the main locations that this interpreter imports from."""
    folders = (sys.prefix, sys.base_prefix, site.USER_SITE, sys.pycache_prefix, *sys.path)
    return [os.path.abspath(path) for path in (sys.executable, *folders) if path]  # noqa: PTH100


def _read_with_includes(path: str) -> str:
    """Return the file with all that it includes by `-r` and `-c`, so that any change is seen."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
    except FileNotFoundError:
        return ""
    folder = os.path.dirname(path)  # noqa: PTH120
    included = [line[3:].strip() for line in text.splitlines() if line.startswith(("-r ", "-c "))]
    return text + "".join(_read_with_includes(os.path.join(folder, name)) for name in included)  # noqa: PTH118


def _check_writable(root: str, requirements: str) -> None:
    """Raise `UserError` where nothing can be made in *root*."""
    if not os.access(root, os.W_OK):
        message = phrase(
            "Cannot write to {folder}. Copy it to a folder of your own and start it there, "
            "or install {requirements} yourself and set ONEFOLD_BOOTSTRAP=0.",
            folder=root,
            requirements=requirements,
        )
        raise UserError(message)


def _run_pip(command: list[str]) -> str:
    """Run pip, showing its last line; return the end of its output if it failed."""
    import subprocess
    from collections import deque

    is_shown = sys.stderr.isatty()
    last_lines: deque[str] = deque(maxlen=20)
    with subprocess.Popen(  # noqa: S603 - pip of our own environment
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None  # noqa: S101 - for the type checker
        for line in process.stdout:
            last_lines.append(line)
            if is_shown:
                sys.stderr.write(f"\r\x1b[K{line.strip()[:70]}")
                sys.stderr.flush()
    if is_shown:
        sys.stderr.write("\r\x1b[K")
    return "".join(last_lines) if process.returncode else ""


def _create_environment(environment: str, python: str) -> None:
    """Create the environment, or complete one that was left unfinished or lost its Python."""
    import shutil
    import subprocess

    clear_options = [] if os.path.exists(python) else ["--clear"]  # noqa: PTH110
    result = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "venv", *clear_options, environment], stdout=sys.stderr, check=False
    )
    if result.returncode:
        shutil.rmtree(environment, ignore_errors=True)
        raise UserError(
            phrase(
                "Python cannot create virtual environments here. Install python3-venv "
                "(Debian, Ubuntu: apt install python3-venv) and start again."
            )
        )


def _install_packages(python: str, requirements: str, print_message: Print) -> None:
    pip_output = _run_pip([python, "-m", "pip", "install", *_PIP, "-r", requirements])
    if pip_output:
        sys.stderr.write(pip_output)
        raise UserError(
            phrase(
                "The packages could not be installed (see above). Check the network and start "
                "again, or install {requirements} yourself and set ONEFOLD_BOOTSTRAP=0.",
                requirements=requirements,
            )
        )
    print_message(phrase("The environment is ready."))
