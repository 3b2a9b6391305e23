"""Makes the archive of this version: a small project with its data, as a person would leave it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from config import VERSION

ROOT = Path(__file__).resolve().parents[2]
TASKS = (
    ("-p", "make a.txt with one"),
    ("-p", "/note a.txt a remark"),
    ("-p", "/remember I like tea."),
    ("--resume", "-p", "make b.txt with two"),
)
"""Command lines; in the end there are two files, a note, a memory and a session of two turns."""


def main() -> int:
    archive = Path(__file__).with_name(f"{VERSION}.tar.xz")
    if archive.exists():
        sys.stderr.write(f"{archive} is there; what a version left does not change.\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        project, data = Path(folder, "demo"), Path(folder, "data")
        project.mkdir()
        data.mkdir()
        (data / "config.toml").write_text("step_limit = 7\n")
        environment = {**os.environ, "ONEFOLD_DATA_DIR": str(data), "ONEFOLD_LANG": "en"}
        for task in TASKS:
            command = [sys.executable, str(ROOT / "main.py"), "--offline", *task]
            subprocess.run(command, cwd=project, env=environment, check=True)
        with tarfile.open(archive, "w:xz", format=tarfile.PAX_FORMAT) as files:
            for path in (project, data / "config.toml", data / "projects"):
                _add(files, path, Path(folder))
    return 0


def _add(files: tarfile.TarFile, path: Path, base: Path) -> None:
    """Add *path* with all that is in it, nobody's, and with its time to the nanosecond."""
    entry = files.gettarinfo(path, path.relative_to(base).as_posix())
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    seconds, rest = divmod(path.stat().st_mtime_ns, 10**9)
    entry.pax_headers = {"mtime": f"{seconds}.{rest:09}"}
    if path.is_dir():
        files.addfile(entry)
        for inner in sorted(path.iterdir()):
            _add(files, inner, base)
    else:
        with path.open("rb") as content:
            files.addfile(entry, content)


if __name__ == "__main__":
    sys.exit(main())
