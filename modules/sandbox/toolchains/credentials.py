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
        *(
            ".npmrc",
            "npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pypirc",
            ".netrc",
            "_netrc",
            "netrc",
            ".env",
        ),
        *("auth.json", "auth.toml", ".authinfo", ".git-credentials", "hosts.yml", ".envrc"),
        *("settings.xml", "settings-security.xml", ".dockercfg", ".vault-token", ".pgpass"),
        *("token", ".token", "tokens", "tokens.json", "token.json", "secrets.json", ".htpasswd"),
        *(".condarc", "condarc", "pip.conf", "pip.ini", "secrets", "passwords", "password"),
        *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".s3cfg", ".boto", "nuget.config"),
        *("access_token", "api_token", "apikey", "api_key", "api-key", "deploy_key", "kubeconfig"),
        *("terraform.tfstate", "application_default_credentials.json", "credentials.tfrc.json"),
        *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history"),
    }
)
_COPIES = (
    *("~", ".bak", ".backup", ".copy", ".old", ".orig", ".save", ".swp", ".tmp", ".txt", ".local"),
)
"""Ends of the names of copies, by which editors and people keep what was."""
_EXAMPLES = (".example", ".sample", ".template", ".dist")
_SUFFIXES = (
    *(".key", ".p8", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk"),
    *(".password", ".passwd"),
)
_SETTINGS = (
    *(".toml", ".ini", ".cfg", ".conf", ".config", ".json", ".yml", ".yaml", ".xml", ".rc"),
    *(".properties", ".env", ".pem", ".txt", ".hcl", ".tfvars", ".sh", ".bash", ".zsh", ".fish"),
    *(".gradle", ".kts", ".groovy", ".list", ".sources"),  # gradle's init scripts, apt's indexes
)
_PACKAGES = frozenset({"node_modules", "site-packages", "dist-packages", "pkgs"})
"""Folders of what others have published: their settings are not looked into."""
_OF_SETTINGS = frozenset(
    {
        *("init.d", "auth.conf.d", "sources.list.d", "activate.d", "deactivate.d", "condarc.d"),
        *("conf", "conf.d", "etc", "security"),
    }
)
"""Folders of settings, which are looked into however deep: gradle's lies in that of a version."""
_SCRIPTS = ("activate", "deactivate", "preactivate", "postactivate", "predeactivate")
"""Beginnings of names of what an environment runs when it is entered or left: there people set
variables.
"""
_CONDA_VARIABLES = "conda-meta/state"
"""Where conda keeps those."""
_IN_SETTINGS = -1
"""The depth that such a folder and all in it count as."""
_SNIFFED_DEPTH = 3  # folders below the shown one
_MAX_SNIFFED = 2_000  # files, some 50 ms once
_MAX_ENTRIES = 30_000  # names, some 0.1 s once; those near the top come first
_MAX_BYTES = 64 << 10  # bytes of a file that is looked into
_SECRET = re.compile(
    rb"""(?x) (?:_auth|_authtoken|passw(?:or)?d|passphrase|secret|secret_?key|api[_-]?key
      |access[_-]?key|token|[_-]pat) ["']?
      (?: [ \t]*[=:][ \t]*["']? | > | [ \t]*\([ \t]*["'] | [ \t]+ (?=["']) ["'] )
      [^\s"'<>$(){}\[\],;]{6,} (?=["'\s;,<]|$)
    | \b(?:login|account)\s+\S+\s+password\s+\S  # as in .netrc, and apt's auth.conf
    | "(?:auth|identitytoken)"\s*:\s*"[a-z0-9+/=._-]{12,}"  # as docker and its like keep it
    | credentials? ["']? [ \t]*[=:>][ \t]*["']? (?=[^\s"']*[0-9]) [^\s"'<>$(){}\[\],;]{6,}
    | pwd ["']? [ \t]*[=:][ \t]*["']? [^\s"'<>$(){}\[\],;/~.]{6,} (?=["'\s;,<]|$)  # no path
    | authorization ["']? [ \t]*[=:][ \t]*["']? (?:basic|bearer|token) [ ]+[a-z0-9+/=._-]{8,}
    | ://[^/\s:@"']+:[^/\s@"'$<{]+@
    | https?://[a-z0-9_-]{16,}@  # a token alone
    | ://[^/\s"']+/t/[\w-]{12,}/  # conda's
    | \bage-secret-key-1
    | -----begin[ ][a-z ]*private[ ]key-----
    | \b(?:npm_|gh[pousr]_|github_pat_|glpat-|pypi-|xox[abprs]-|sk-|hf_)[a-z0-9_-]{16,}
    | \bakia[0-9a-z]{16}"""
)
"""Found in small letters: so it takes a third of the time."""
_NOTHING_ELSE = re.compile(
    rb"""(?x) \s* (?: -----begin[ ][a-z ]*private[ ]key----- | age-secret-key-1
      | (?:npm_|gh[pousr]_|github_pat_|glpat-|pypi-|xox[abprs]-|sk-|hf_)[a-z0-9_-]{16,}\s*\Z
      | akia[0-9a-z]{16} )"""
)
"""What a file is, from its beginning, that no name tells from a program or a text."""
_NAMELESS_DEPTH = 2  # folders below the shown one; there are few such files there
_MAX_NAMELESS = 500  # of these files; where there are more they are data, and not looked into
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


@dataclass(slots=True)
class CredentialScan:
    """Scan of all folders to show; it ends at a number of names and of files looked into."""

    entries_left: int = _MAX_ENTRIES
    reads_left: int = _MAX_SNIFFED
    nameless_left: int = _MAX_NAMELESS
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
                    is_of_settings = depth == _IN_SETTINGS or entry.name in _OF_SETTINGS
                    inner_depth = _IN_SETTINGS if is_of_settings else depth + 1
                    queue.append((entry.path, inner_depth, inner))
                elif self._is_credential(entry, depth, is_package=is_package):
                    yield Path(entry.path)

    def is_secret(self, path: Path, *, is_nothing_else: bool = False) -> bool:
        """Return whether the text of *path* has a secret in it, or *is_nothing_else* than one.

        What is not read counts as one, but beyond the number of reads not *is_nothing_else* than
        one. Larger files, and those with a NUL, are programs and data.
        """
        if self.reads_left <= 0:
            return not is_nothing_else
        self.reads_left -= 1
        try:
            if not path.is_file() or path.stat().st_size > _MAX_BYTES:
                return False
            data = path.read_bytes()
        except OSError:
            return True
        text = data.lower()
        found = (
            _NOTHING_ELSE.match(text)
            if is_nothing_else
            else _SECRET.search(_COMMENT.sub(b"", text))
        )
        if b"\0" in data or not found:
            self.watched.append(path)
            return False
        return True

    def _is_credential(self, entry: os.DirEntry[str], depth: int, *, is_package: bool) -> bool:
        name = entry.name.lower()
        if name in _NAMES or (name == "state" and entry.path.endswith(_CONDA_VARIABLES)):
            return True
        if is_package:
            return False
        name = _original_name(name)
        if name in _NAMES or (name.startswith(".env.") and not name.endswith(_EXAMPLES)):
            return True
        if depth > _SNIFFED_DEPTH:
            return name.startswith(_SCRIPTS) and self.is_secret(Path(entry.path))
        if name.endswith(_SUFFIXES):
            return True
        if _is_settings(name, depth):
            return self.is_secret(Path(entry.path))
        if depth > _NAMELESS_DEPTH or "." in name or self.nameless_left <= 0 or _is_program(entry):
            return False
        self.nameless_left -= 1
        return self.is_secret(Path(entry.path), is_nothing_else=True)


def _is_settings(name: str, depth: int) -> bool:
    """Return whether a file *name* at *depth*, no copy by its name, may hold settings."""
    is_named = name.endswith((*_SETTINGS, "rc", "config")) or name.startswith(".")
    return is_named or depth == _IN_SETTINGS or name.startswith(_SCRIPTS)


def _is_program(entry: os.DirEntry[str]) -> bool:
    try:
        return bool(entry.stat().st_mode & 0o111)
    except OSError:  # gone, or a link to nowhere
        return True


def _original_name(name: str) -> str:
    """Return the name of what the file *name* is a copy of, itself if it is none by its name."""
    while name.endswith(_COPIES):
        end = next(one for one in _COPIES if name.endswith(one))
        name = name.removesuffix(end)
    return name


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
