"""Boundaries of what may be shown of the person's folders.

A folder that holds more than it should (the home, credentials, a browser's profile) is never shown
as a whole, whatever leads to it, and nothing that somebody else, or a program of the model, could
have put there.
"""

from __future__ import annotations

import os
import stat
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from modules.sandbox.filesystem.folders import is_within
from modules.sandbox.toolchains.links import LinkRoute
from utils.i18n import Phrase, phrase

_PRIVATE = (
    # keys and tokens
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".config/gcloud"),
    *(".config/gh", ".config/op", ".config/hub", ".config/doctl", ".config/pypoetry", ".m2"),
    *(".terraform.d", ".password-store", ".netrc", ".git-credentials", ".npmrc", ".pypirc"),
    *(".local/share/keyrings", ".local/share/kwalletd", ".config/containers", ".gem/credentials"),
    *(".config/rclone", ".config/sops", ".config/age", ".vault-token", ".android", ".gradle"),
    *(".config/keepassxc", ".config/Bitwarden", ".config/1Password", ".config/pip"),
    # browsers and mail
    *(
        ".mozilla",
        ".thunderbird",
        ".config/google-chrome",
        ".config/chromium",
        ".config/BraveSoftware",
    ),
    *(".config/microsoft-edge", ".config/opera", ".config/vivaldi", ".cache/mozilla", "snap"),
    *(".cache/google-chrome", ".cache/chromium", ".var/app", ".config/Signal", ".config/Slack"),
    # what was typed
    *(".bash_history", ".zsh_history", ".local/share/fish"),
)
"""Paths in a home that are never shown, nor anything above them."""
_MAX_PRIVATE = 3_000  # names that are looked at in these, some 10 ms once
_PRIVATE_DEPTH = 2  # folders within each other
_SYSTEM = ("/boot", "/dev", "/etc", "/proc", "/run", "/sys")
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - folders in it are people's, as in /tmp
_TOO_WIDE = ("/", "/home", "/mnt", "/media", "/nix", "/srv", "/tmp", "/usr", "/var", "/var/tmp")  # noqa: S108


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Boundaries for a *project*; *homes* are the person's, *hidden* what programs never see."""

    project: Path
    homes: tuple[Path, ...]
    hidden: tuple[Path, ...]

    def is_ours(self, route: LinkRoute) -> bool:
        """Return whether *route* is through the project, or to what Onefold itself is run from."""
        own_environment = Path(sys.prefix)
        is_own = sys.prefix != sys.base_prefix and is_within(route.real, own_environment)
        return is_own or route.passes(self.project)

    def refusal(self, folder: Path) -> Phrase | None:
        """Return why the real *folder* (or program) may not be shown, None if it may."""
        if any(is_within(home, folder) for home in self.homes):
            return phrase("it contains your home folder")
        if is_within(self.project, folder):
            return phrase("it contains the project")
        if any(is_within(one, folder) or is_within(folder, one) for one in self.hidden):
            return phrase("it contains Onefold's own files")
        if private := next(self._private_in(folder), None):
            return phrase("it contains {path}, where secrets are stored", path=str(private))
        is_system = any(is_within(folder, Path(path)) for path in _SYSTEM)
        if (is_system and not is_in_shared_memory(folder)) or str(folder) in _TOO_WIDE:
            return phrase("it is a part of the system that holds more than programs")
        return _writable_by_all(folder)

    def secret_files(self) -> Iterator[Path]:
        """Yield the files in the private places of the homes, as far as these are small."""
        pending = deque((os.fspath(home / name), 0) for name in _PRIVATE for home in self.homes)
        for _ in range(_MAX_PRIVATE):
            if not pending:
                return
            path, depth = pending.popleft()
            try:
                is_file = stat.S_ISREG(os.lstat(path).st_mode)
                if not is_file and depth < _PRIVATE_DEPTH:
                    pending += ((f"{path}/{name}", depth + 1) for name in os.listdir(path))  # noqa: PTH208 - names
            except OSError:  # not there, or no folder, or closed to us
                continue
            if is_file:
                yield Path(path)

    def _private_in(self, folder: Path) -> Iterator[Path]:
        for home in self.homes:
            if is_within(folder, home):
                for private in _private_places(home):
                    if is_within(private, folder) or is_within(folder, private):
                        yield private


@lru_cache(maxsize=8)  # asked for each folder of a search
def _private_places(home: Path) -> tuple[Path, ...]:
    return tuple(home / name for name in _PRIVATE)


def _writable_by_all(folder: Path) -> Phrase | None:
    try:
        mode = os.stat(folder).st_mode  # noqa: PTH116 - often
    except OSError as error:
        return phrase("cannot read it: {why}", why=error.strerror or str(error))
    return phrase("everybody can write to it") if mode & stat.S_IWOTH else None


def is_reserved(path: Path) -> bool:
    """Return whether *path* lies where programs find what the sandbox has made."""
    reserved = any(is_within(path, Path(folder)) for folder in ("/dev", "/etc", "/proc", "/sys"))
    return reserved and not is_in_shared_memory(path)


def is_in_shared_memory(path: Path) -> bool:
    """Return whether *path* is something of a person's in the memory that programs share."""
    return _SHARED_MEMORY in path.parents
