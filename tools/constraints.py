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
# What the packages of requirements.txt and requirements-dev.txt bring along, pinned as well.
# Written by `make constraints`; do not edit.
"""


def main() -> int:
    direct = {name for line in _wanted() if (name := _name(line))}
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "fresh", "bin", "python")
        venv.create(python.parents[1], with_pip=True)
        wanted = Path(folder, "requirements.txt")
        wanted.write_text("\n".join(_wanted()), encoding="utf-8")
        _run(python, "install", "--quiet", "-r", str(wanted))
        found = _run(python, "freeze").splitlines()
    pinned = sorted(line for line in found if _name(line) not in direct)
    (ROOT / "constraints.txt").write_text(HEAD + "\n".join(pinned) + "\n", encoding="utf-8")
    return 0


def _wanted() -> list[str]:
    """Return the lines of the files that name a package."""
    names = ("requirements.txt", "requirements-extras.txt", "requirements-dev.txt")
    files = [ROOT / name for name in names]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if _name(line)]


def _name(line: str) -> str:
    """Return the name of the package in *line*, as pip compares names; "" if there is none."""
    found = re.match(r"[A-Za-z0-9][\w.-]*(?===)", line)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def _run(python: Path, *arguments: str) -> str:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
