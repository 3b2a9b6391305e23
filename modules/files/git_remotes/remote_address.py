"""Addresses of remotes: what a repository says of them, and which of them git may be sent to."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from core.tools import ToolError
from modules.files.git.git_runs import GitRuns
from modules.files.git_remotes.remote_transport import PROTOCOLS
from utils.i18n import phrase
from utils.text.clean import visible

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCP = re.compile(r"(?:[^/@:\s]+@)?[^/@:\s-][^/:\s]*:(?!:)[^\s]*")  # user@host:path
_BRANCH_REFSPEC = re.compile(r"\+?refs/heads/([^:*]+|\*):refs/remotes/([^:*]+)/\1")


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """The address *url* of a remote, and how people see it: without a password.

    *refspec* says which of its branches are followed, and as what, and *is_followed* whether these
    are those of this address: pushes may go to another.
    """

    url: str
    shown: str
    refspec: str = ""
    is_followed: bool = True


def remote_address(git: GitRuns, remote: str, *, is_push: bool = False) -> RemoteAddress:
    """Return the address of the *remote* that the repository of *git* names.

    Raises `ToolError` where it names none, or one that git is not sent to.
    """
    values = dict(git.git.common_dir.config.remotes)
    url = (values.get(f"remote.{remote}.pushurl") if is_push else None) or values.get(
        f"remote.{remote}.url"
    )
    if not url:
        names = sorted({key.split(".", 1)[1].rpartition(".")[0] for key in values})
        known = ", ".join(map(visible, names)) or "–"
        message = phrase(
            "There is no remote {name!r}; there are: {known}", name=remote, known=known
        )
        raise ToolError(message)
    address = checked_address(url, git.tree)
    follows = values.get(f"remote.{remote}.fetch", "")
    found = _BRANCH_REFSPEC.fullmatch(follows)
    usual = f"+refs/heads/*:refs/remotes/{remote}/*"
    refspec = follows if found and found[2] == remote else usual
    is_followed = url == values.get(f"remote.{remote}.url")
    return RemoteAddress(address.url, address.shown, refspec, is_followed)


def network_address(text: str, tree: Path) -> RemoteAddress:
    """Return the address *text*, which leads to no folder. Raises `ToolError`."""
    address = checked_address(text, tree)
    if os.path.isabs(address.url):  # noqa: PTH117 - it may be no path at all
        raise ToolError(
            phrase(
                "{address} is a folder: only what is on the network is cloned.",
                address=address.shown,
            )
        )
    return address


def checked_address(text: str, tree: Path) -> RemoteAddress:
    """Return the address *text*; a folder counts from *tree*, and must lie outside of it.

    A repository in the project may hold hooks of the model's. Raises `ToolError`.
    """
    text = text.strip()
    if _URL.match(text):
        scheme = text.partition("://")[0].lower()
        if scheme == "file":
            return _folder_address(text, Path(text.partition("://")[2]), tree)
        if scheme in PROTOCOLS and urlsplit(text).hostname and not text.startswith("-"):
            return RemoteAddress(text, _without_password(text))
    elif "::" not in text and _SCP.fullmatch(text):
        return RemoteAddress(text, visible(text))
    elif text and "::" not in text and not text.startswith("-"):
        return _folder_address(text, tree / text, tree)
    raise ToolError(
        phrase(
            "{address} is no address that git is sent to: https://, ssh://, git:// or "
            "user@host:path.",
            address=visible(text)[:200],
        )
    )


def _folder_address(text: str, folder: Path, tree: Path) -> RemoteAddress:
    real = Path(os.path.normpath(folder)).resolve()
    if tree in (real, *real.parents):
        raise ToolError(
            phrase("{address} lies in the project: git is not sent there.", address=visible(text))
        )
    if not real.is_dir():
        raise ToolError(phrase("There is no repository at {address}.", address=visible(text)))
    return RemoteAddress(os.fspath(real), visible(os.fspath(real)))


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    # A name alone may be a token as well; ssh and git go by names.
    shown = name if parts.scheme in ("ssh", "git") else "…"
    return visible(urlunsplit(parts._replace(netloc=f"{shown}{at}{host}" if at or colon else host)))
