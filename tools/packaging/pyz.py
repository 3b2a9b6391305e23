"""Builds `onefold.pyz`, one file with Onefold and all its packages; `make pyz` runs this.

It is for the Python and the kind of machine that it was built on. Built twice of the same it is the
same, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from tools.packaging.pyz_main import machine

ROOT = Path(__file__).resolve().parents[2]
_MAIN = Path(__file__).with_name("pyz_main.py")
_DATE = (2020, 2, 2, 0, 0, 0)  # as in our wheels
_NOT_NEEDED = ("direct_url.json", "INSTALLER", "RECORD", "REQUESTED")
"""What pip writes of an installation; some of it names folders of this machine."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build onefold.pyz.")
    parser.add_argument("output", type=Path, nargs="?", default=ROOT / "dist" / "onefold.pyz")
    parser.add_argument("--bare", action="store_true", help="leave the packages out, for a test")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        _install(site, Path(folder), is_bare=options.bare)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        write_archive(site, options.output, is_bare=options.bare)
    return 0


def write_archive(site: Path, output: Path, *, is_bare: bool = False) -> None:
    """Write the archive *output* with all that is in the folder *site*.

    Unless it *is bare*, no other packages are used where it runs.
    """
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            _add(archive, path.relative_to(site).as_posix(), path.read_bytes())
    facts = {
        "for": f"Python {sys.version_info.major}.{sys.version_info.minor} on {machine()}",
        "digest": hashlib.sha256(packed.getvalue()).hexdigest(),
        "has_packages": not is_bare,
    }
    with output.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        # Few files in the outer archive: each start reads its list of them.
        with ZipFile(file, "w") as archive:
            _add(archive, "__main__.py", _MAIN.read_bytes())
            _add(archive, "onefold.json", json.dumps(facts).encode())
            _add(archive, "files.zip", packed.getvalue(), method=ZIP_STORED)
    output.chmod(0o755)


def _install(site: Path, folder: Path, *, is_bare: bool) -> None:
    """Install the checkout into *site*, with what it requires and may require unless *is_bare*."""
    _run_pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    wanted = ["--no-deps", str(wheel)] if is_bare else [f"{wheel}[all]"]
    _run_pip("install", "--no-compile", "--target", str(site), *wanted)
    needless = [path for path in site.rglob("*.dist-info/*") if path.name in _NOT_NEEDED]
    for path in (*needless, *site.glob("bin/*")):
        path.unlink()


def _run_pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(command, check=True)  # noqa: S603 - our own


def _add(archive: ZipFile, name: str, data: bytes, *, method: int = ZIP_DEFLATED) -> None:
    entry = ZipInfo(name, _DATE)
    entry.compress_type = method
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data, compresslevel=9)


if __name__ == "__main__":
    sys.exit(main())
