"""Credentials in a toolchain's folder, which stay hidden where the folder is shown.

They are known by their names, and small settings near the top by what is in them too.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_NAMES = frozenset(
    {
        *("credentials", "credentials.toml", "credentials.json", ".credentials"),
        *(".npmrc", "npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".netrc", "_netrc", ".env"),
        *("auth.json", "auth.toml", ".authinfo", ".git-credentials", "hosts.yml", ".envrc"),
        *("settings.xml", "settings-security.xml", ".dockercfg", ".vault-token", ".pgpass"),
        *("token", ".token", "tokens", "tokens.json", "token.json", "secrets.json", ".htpasswd"),
        *(".condarc", "condarc", "pip.conf", "pip.ini", "secrets", "passwords", "password"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".s3cfg", ".boto", "nuget.config"),
    }
)
_SUFFIXES = (".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk")
_SETTINGS = (
    *(".toml", ".ini", ".cfg", ".conf", ".config", ".json", ".yml", ".yaml", ".xml", ".rc"),
    *(".properties", ".env", ".pem", ".txt"),
    *(".gradle", ".kts", ".groovy", ".list", ".sources"),  # gradle's init scripts, apt's indexes
)
_PACKAGES = frozenset({"node_modules", "site-packages", "dist-packages", "pkgs"})
"""Folders of what others have published: their settings are not looked into."""
_OF_SETTINGS = frozenset({"init.d", "auth.conf.d", "sources.list.d"})
"""Folders of settings, which are looked into however deep: gradle's lies in that of a version."""
_SNIFFED_DEPTH = 3  # folders below the shown one
_MAX_SNIFFED = 500  # files
_MAX_ENTRIES = 30_000  # names, some 0.1 s once; those near the top come first
_MAX_BYTES = 64 << 10  # bytes of a file that is looked into
_SECRET = re.compile(
    rb"""(?ix) (?:_auth|_authtoken|passw(?:or)?d|passphrase|secret|secret_?key|api[_-]?key
      |access[_-]?key|token|credentials?) ["']?
      (?: [ \t]*[=:][ \t]*["']? | > | [ \t]*\([ \t]*["'] | [ \t]+ (?=["']) ["'] )
      [^\s"'<>$(){}\[\],;]{6,} (?=["'\s;,<]|$)
    | \b(?:login|account)\s+\S+\s+password\s+\S  # as in .netrc, and apt's auth.conf
    | "(?:auth|identitytoken)"\s*:\s*"[A-Za-z0-9+/=._-]{12,}"  # as docker and its like keep it
    | ://[^/\s:@"']+:[^/\s@"'$<{]+@
    | -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----
    | \b(?:npm_|gh[pousr]_|github_pat_|glpat-|pypi-|xox[abprs]-|sk-|hf_)[A-Za-z0-9_-]{16,}
    | \bAKIA[0-9A-Z]{16}"""
)
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


@dataclass(slots=True)
class CredentialScan:
    """Scan of all folders to show; it ends at a number of names and of files looked into."""

    entries_left: int = _MAX_ENTRIES
    reads_left: int = _MAX_SNIFFED
    watched: list[Path] = field(default_factory=list)
    """Files that were looked into and found clean, and folders near the top."""

    def credentials_in(self, folders: Iterable[Path]) -> Iterator[Path]:
        """Yield the files in *folders* that nobody may read, from above downwards."""
        queue = deque((os.fspath(folder), 0, False) for folder in folders)
        while queue and self.entries_left > 0:
            path, depth, is_package = queue.popleft()
            if depth <= 1:
                self.watched.append(Path(path))
            for entry in _entries(path):
                self.entries_left -= 1
                if entry.is_dir(follow_symlinks=False):
                    inner = is_package or entry.name in _PACKAGES
                    inner_depth = 2 if entry.name in _OF_SETTINGS else depth + 1
                    queue.append((entry.path, inner_depth, inner))
                elif self._is_credential(entry, depth, is_package=is_package):
                    yield Path(entry.path)

    def is_secret(self, path: Path) -> bool:
        """Return whether the text of *path* has a secret in it; what is not read counts as one.

        Larger files, and those with a NUL, are programs and data.
        """
        if self.reads_left <= 0:
            return True
        self.reads_left -= 1
        try:
            if not path.is_file() or path.stat().st_size > _MAX_BYTES:
                return False
            data = path.read_bytes()
        except OSError:
            return True
        if b"\0" in data or not _SECRET.search(_COMMENT.sub(b"", data)):
            self.watched.append(path)
            return False
        return True

    def _is_credential(self, entry: os.DirEntry[str], depth: int, *, is_package: bool) -> bool:
        name = entry.name.lower()
        if name in _NAMES:
            return True
        if depth > _SNIFFED_DEPTH or is_package:
            return False
        if name.endswith(_SUFFIXES):
            return True
        is_settings = name.endswith((*_SETTINGS, "rc", "config")) or name.startswith(".")
        return is_settings and self.is_secret(Path(entry.path))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # closed to us, so to a program
        return []


def other_names(folders: tuple[Path, ...], covered: Iterable[Path]) -> Iterator[Path]:
    """Yield the other names (hard links) in *folders* of the files *covered*."""
    statuses = [path.stat() for path in covered if path.is_file()]
    linked = {one.st_ino: one.st_dev for one in statuses if one.st_nlink > 1}
    queue = deque(map(os.fspath, folders)) if linked else deque[str]()
    while queue:
        for entry in _entries(queue.popleft()):
            if entry.is_dir(follow_symlinks=False):
                queue.append(entry.path)
            elif entry.inode() in linked and _is_on(entry, linked[entry.inode()]):
                yield Path(entry.path)


def _is_on(entry: os.DirEntry[str], device: int) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_dev == device
    except OSError:  # gone
        return False
