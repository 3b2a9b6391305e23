"""The /etc that programs see: one prepared folder without a secret, made once.

Each mount costs, so the harmless parts of /etc are copied instead of mounted one by one, but for
what is large.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_EXPOSED = (
    # programs and their libraries
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "python3", "perl", "texmf"),
    *(
        "java",
        "java-*-openjdk",
        "ImageMagick-*",
        "fonts",
        "chromium.d",
        "maven/m2.conf",  # Debian has them here; settings.xml may hold passwords
        "maven/logging",
        # PHP's extensions, without which composer does not start; php.ini may hold passwords
        *("php/*/cli/conf.d", "php/*/mods-available"),
        "mime.types",
        "magic",
        "magic.mime",
    ),
    # what system this is
    *("os-release", "debian_version", "redhat-release", "fedora-release", "arch-release"),
    *("alpine-release", "lsb-release", "localtime", "timezone", "locale.alias", "locale.conf"),
    # shells and terminals
    *("inputrc", "bash.bashrc", "bashrc", "profile", "shells", "terminfo"),
    # names and certificates
    *("nsswitch.conf", "protocols", "services", "host.conf", "gai.conf", "ethertypes", "networks"),
    *("ssl/openssl.cnf", "ssl/certs", "ca-certificates.conf", "pki/tls/certs", "crypto-policies"),
    *("pki/tls/openssl.cnf", "pki/tls/cert.pem", "pki/ca-trust/extracted"),
)
MOUNTED = ("libreoffice",)
"""Folders that are mounted where the machine has them, which takes a tenth of a millisecond each.

LibreOffice does not start without its registry, which has 3 MB.
"""
_FORMAT_VERSION = 8  # raise it when what is prepared changes
_MAVENRC = """\
case "$MAVEN_ARGS" in *--offline*) MAVEN_OPTS="-XX:TieredStopAtLevel=1 $MAVEN_OPTS" ;; esac
set -- $MAVEN_ARGS "$@"
MAVEN_ARGS=
"""
"""Lets maven before 3.9 take the arguments that a later one takes by itself.

Without the network it is to say so soon: the option halves what Java takes to start.
"""
_MAX_BYTES = 4 << 20  # bytes; a larger file is left out


class PreparedEtc:
    """The folder to mount on /etc, kept in *cache_folder* and made anew when /etc changes."""

    def __init__(self, cache_folder: Path, home: Path, source: Path = Path("/etc")) -> None:
        self._cache = cache_folder
        self._home = home
        self._source = source

    def folder(self) -> Path:
        """Return the folder; make it first where it is missing or out of date."""
        folder = self._cache / f"etc-{self._key()}"
        if not folder.is_dir():
            self._make(folder)
        return folder

    def _key(self) -> str:
        facts = [str(_FORMAT_VERSION), str(os.getuid()), str(self._home)]
        for path in map(os.fspath, exposed_paths(self._source)):
            with suppress(OSError):
                facts.append(f"{path} {os.stat(path).st_mtime_ns}")  # noqa: PTH116 - before each call
        return hashlib.sha256("\n".join(facts).encode(errors="surrogateescape")).hexdigest()[:16]

    def _make(self, folder: Path) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="etc-new-", dir=self._cache))
        building.chmod(0o755)
        for path in exposed_paths(self._source):
            if path.name in MOUNTED:
                _make_mount_point(path, building / path.name)
            else:
                _copy(path, building / path.relative_to(self._source))
        self._write_neutral(building)
        try:
            building.rename(folder)
        except OSError:  # another process was faster
            shutil.rmtree(building, ignore_errors=True)

    def _write_neutral(self, folder: Path) -> None:
        """Write neutral versions of files that must exist but would tell too much."""
        user, group = os.getuid(), os.getgid()
        name = "root" if user == 0 else "user"
        others = "" if user == 0 else "root:x:0:0:root:/:/bin/sh\n"
        passwd = f"{name}:x:{user}:{group}::{self._home}:/bin/bash\n{others}"
        files = {
            "passwd": f"{passwd}nobody:x:65534:65534:nobody:/:/bin/false\n",
            "group": f"{name}:x:{group}:\nnogroup:x:65534:\n",
            "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
            "hostname": "sandbox\n",
            "mavenrc": _MAVENRC,
            "gitconfig": "",  # who commits, in a repository that a run makes: mounted there
        }
        for file, text in files.items():
            (folder / file).write_bytes(os.fsencode(text))
        (folder / "mtab").symlink_to("../proc/self/mounts")


def exposed_paths(etc: Path) -> Iterator[Path]:
    """Yield the paths in *etc* that programs may read; not all of them exist."""
    present = os.listdir(etc)  # noqa: PTH208 - before each call
    for name in (*_EXPOSED, *MOUNTED):
        first, _, inner = name.partition("/")
        if "*" in inner:
            yield from sorted(etc.glob(name)) if first in present else ()
        else:
            names = sorted(fnmatch.filter(present, name)) if "*" in name else [name]
            yield from (etc / one for one in names)


def user_name() -> str:
    """Return the name that programs see for the person's account."""
    return "root" if os.getuid() == 0 else "user"


def account_home() -> Path:
    """Return the home folder of the account as the system knows it."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/nonexistent")


def mounted_folders(etc: Path) -> Iterator[Path]:
    """Yield the folders of the machine's /etc that belong into *etc*, which was prepared."""
    return (Path("/etc", name) for name in MOUNTED if (etc / name).is_dir())


def _make_mount_point(source: Path, target: Path) -> None:
    """Make the empty folder *target* if *source* is a folder that is its own."""
    if source.is_dir() and not source.is_symlink():
        target.mkdir()


def _copy(source: Path, target: Path) -> None:
    """Copy what everybody may read; the rest, and what cannot be read, is left out."""
    try:
        status = source.stat()
    except OSError:
        return
    if stat.S_ISDIR(status.st_mode) and status.st_mode & 0o005 == 0o005:
        target.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            for child in source.iterdir():
                _copy_child(child, target / child.name)
    elif stat.S_ISREG(status.st_mode) and status.st_mode & 0o004 and status.st_size <= _MAX_BYTES:
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            shutil.copyfile(source, target)


def _copy_child(source: Path, target: Path) -> None:
    """Keep links inside a folder as they are: they mostly lead to /usr, which is there too."""
    if source.is_symlink():
        target.symlink_to(source.readlink())
    else:
        _copy(source, target)
