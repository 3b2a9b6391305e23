"""The command that starts this very program, and others about it, to be shown to the person."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from utils.system.installation import is_installed

_ROOT = Path(__file__).resolve().parents[2]


def own_command(*options: str) -> str:
    """Return a line for a shell, in any folder, that starts Onefold with *options*."""
    words = _installed_command() if is_installed(_ROOT) else ["python3", str(_ROOT / "main.py")]
    return shlex.join([*words, *options])


def own_words() -> list[str]:
    """Return the words that start Onefold as it was started, by the same Python."""
    started = os.path.abspath(sys.argv[0])  # noqa: PTH100 - a link there must not be followed
    if is_installed(_ROOT) and os.path.basename(started) == "__main__.py":  # noqa: PTH119
        return [sys.executable, "-m", "onefold"]
    return [sys.executable, started]


def own_name() -> str:
    """Return what Onefold is called in the line that says how to use it."""
    return "onefold" if is_installed(_ROOT) else "python3 main.py"


def install_command(requirements: Path) -> str:
    """Return a line for a shell that installs *requirements* where we are loaded from."""
    from importlib.util import find_spec

    pip = [sys.executable, "-m", "pip", "install"]
    if not find_spec("pip"):  # uv makes environments without it
        pip = ["uv", "pip", "install", "--python", sys.executable]
    return shlex.join([*pip, "-r", str(requirements)])


def _installed_command() -> list[str]:
    """Return the words that were said to start the installed program, for any folder."""
    import shutil  # costs start-up time, and is hardly ever wanted

    started = os.path.abspath(sys.argv[0])  # noqa: PTH100 - a link there must not be followed
    if started.endswith(".pyz"):
        return ["python3", started]
    if os.path.basename(started) == "__main__.py":  # noqa: PTH119
        return [sys.executable, "-m", "onefold"]
    found = shutil.which("onefold")
    is_same = found is not None and Path(found).exists() and Path(found).samefile(started)
    return ["onefold"] if is_same and not _is_in_cache(Path(started)) else [started]


def _is_in_cache(path: Path) -> bool:
    """Return whether *path* is in a cache, as that of `uvx`, which has it on PATH for us alone."""
    return any((folder / "CACHEDIR.TAG").exists() for folder in path.parents)
