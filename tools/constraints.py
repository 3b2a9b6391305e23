"""Writes `constraints.txt`: which version of everything our packages bring along, all of it pinned.

`make constraints` runs this after a change of `requirements*.txt`. The versions are those that pip
chooses today in a fresh environment; run it under the oldest Python that we support.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# What our packages bring along, pinned as well. Written by `make constraints`; do not edit.
# What those of requirements.txt bring along; the package of Onefold requires this too:
"""
OTHERS = "# What the others bring along:\n"


def main() -> int:
    running = _wanted("requirements.txt")
    wanted = [*running, *_wanted("requirements-extras.txt"), *_wanted("requirements-dev.txt")]
    direct = {_name(line) for line in wanted}
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "fresh", "bin", "python")
        venv.create(python.parents[1], with_pip=True)
        names = {_name(line) for line in _install(python, running)} - direct
        found = [line for line in _install(python, wanted) if _name(line) not in direct]
    first = sorted(line for line in found if _name(line) in names)
    others = sorted(line for line in found if _name(line) not in names)
    text = HEAD + "".join(f"{line}\n" for line in first)
    text += OTHERS + "".join(f"{line}\n" for line in others)
    (ROOT / "constraints.txt").write_text(text, encoding="utf-8")
    return 0


def _wanted(name: str) -> list[str]:
    """Return the lines of the file *name* that name a package."""
    return [line for line in (ROOT / name).read_text("utf-8").splitlines() if _name(line)]


def _install(python: Path, wanted: list[str]) -> list[str]:
    """Install *wanted* beside what is there; return all that is there then, pinned."""
    file = python.parents[2] / "requirements.txt"
    file.write_text("\n".join(wanted), encoding="utf-8")
    _run(python, "install", "--quiet", "-r", str(file))
    return _run(python, "freeze").splitlines()


def _name(line: str) -> str:
    """Return the name of the package in *line*, as pip compares names; "" if there is none."""
    found = re.match(r"[A-Za-z0-9][\w.-]*(?===)", line)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _run(python: Path, *arguments: str) -> str:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
