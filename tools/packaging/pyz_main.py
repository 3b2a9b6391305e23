"""The `__main__.py` of `onefold.pyz`: unpacks the archive once, and starts what is in it.

Packages with compiled parts cannot be imported out of an archive. What is unpacked lies in a folder
that only its owner may change, whole or not at all; its name is the SHA-256 of where it came from.
Like main.py this must run under a Python as old as 3.6, to say which one is needed.
"""

import json
import os
import stat
import sys
from pathlib import Path
from zipimport import zipimporter


def main() -> int:
    """Return the exit code of what the command line says."""
    archive = Path(__file__).parent
    facts = json.loads(read(archive, "onefold.json").decode())
    here = f"Python {sys.version_info[0]}.{sys.version_info[1]} on {machine()}"
    if facts["for"] != here:
        sys.stderr.write(
            f"This onefold.pyz is for {facts['for']}; here is {here}. Start it with that Python, "
            "or install Onefold with uv, pipx or pip.\n"
        )
        return 2
    try:
        folder = unpacked(archive, facts["digest"])
    except (OSError, ValueError) as error:
        sys.stderr.write(f"onefold.pyz cannot be unpacked: {error}.\n")
        return 2
    if facts["has_packages"]:
        leave_site_packages()
    sys.path.insert(1, str(folder))
    from onefold.__main__ import main as start  # type: ignore[import-not-found]

    return int(start())


def leave_site_packages() -> None:
    """Import none of what is installed here: with Debian's pyOpenSSL, say, and our cryptography no
    page could be served."""
    folders = ("site-packages", "dist-packages")
    sys.path[:] = [entry for entry in sys.path if Path(entry).name not in folders]


def read(archive: Path, name: str) -> bytes:
    """Return the contents of the file *name* in *archive*; `zipfile` would cost start-up time."""
    return zipimporter(str(archive)).get_data(str(archive / name))


def machine() -> str:
    """Return the kind of machine that compiled parts are for."""
    if sys.platform == "win32":  # for which none is built
        return sys.platform
    return f"{sys.platform}-{os.uname().machine}"


def cache_folder() -> Path:
    """Return the folder for what this person's programs can make again."""
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser()
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return chosen if chosen.is_absolute() else Path("~/.cache").expanduser()


def unpacked(archive: Path, digest: str) -> Path:
    """Return the folder with the files of *archive*, whose SHA-256 is *digest*.

    Raises `OSError`, or `ValueError` where something is not as it should be.
    """
    base = cache_folder() / "onefold"
    folder = base / f"pyz-{digest[:32]}"
    if not folder.exists():
        import hashlib

        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        sys.stderr.write(f"Onefold unpacks itself into {folder}, once.\n")
        files = read(archive, "files.zip")
        if hashlib.sha256(files).hexdigest() != digest:
            raise ValueError("it is damaged")
        unpack(files, folder)
    for path in (base, folder):
        status = path.lstat()
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        if not is_own or status.st_mode & 0o022:
            raise ValueError(f"others can change {path}; remove it")
    return folder


def unpack(files: bytes, folder: Path) -> None:
    """Make *folder* with what is in the archive *files*, whole or not at all."""
    import shutil
    import tempfile
    from io import BytesIO
    from zipfile import ZipFile

    place = Path(tempfile.mkdtemp(prefix="unpacking-", dir=str(folder.parent)))  # mode 0700
    try:
        with ZipFile(BytesIO(files)) as archive:
            archive.extractall(str(place))
        try:
            place.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another start was quicker
                raise
    finally:
        shutil.rmtree(str(place), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
