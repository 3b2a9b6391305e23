"""What a file or folder has beside content, mode and times: owner, attributes, access lists."""

from __future__ import annotations

import base64
import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_KEPT = ("user.", "system.posix_acl_")
"""Beginnings of the names of extended attributes that are a person's; others are the system's."""
_REFUSED = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EINVAL)
HAS_ATTRIBUTES = hasattr(os, "listxattr")
"""Whether this system lets Python see attributes at all."""


def extras_of(handle: int, status: os.stat_result) -> str:
    """Return those of the open file or folder *handle* as text; "" for none, and us as the owner.

    Equal texts mean the same.
    """
    attributes = {name: base64.b64encode(data).decode() for name, data in _attributes(handle)}
    return _text(status, attributes)


def owner_of(status: os.stat_result) -> str:
    """Return the same for what has no attributes, or does not need to be asked: links, pipes."""
    return _text(status, {})


def _text(status: os.stat_result, attributes: dict[str, str]) -> str:
    found: dict[str, object] = {"attributes": attributes} if attributes else {}
    owner = status.st_uid, status.st_gid
    if owner != _us():
        found["owner"] = owner
    return json.dumps(found, sort_keys=True, separators=(",", ":")) if found else ""


def set_owner(handle: int, name: str, extras: str) -> None:
    """Give *name* itself in the folder *handle* the owner of *extras*, as far as we may.

    To be done before the mode is set: a new owner takes away some bits of it.
    """
    uid, gid = _known(extras).get("owner", _us())
    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    if (status.st_uid, status.st_gid) != (uid, gid):
        with _as_far_as_we_may():
            os.chown(name, uid, gid, dir_fd=handle, follow_symlinks=False)


def set_attributes(path: int | str, extras: str) -> None:
    """Give *path*, or what is open there, just the attributes of *extras*, as far as we may.

    To be done before the mode is set: an access list takes part in it.
    """
    wanted = _known(extras).get("attributes", {})
    found = dict(_attributes(path))
    for name in found.keys() - wanted.keys():
        with _as_far_as_we_may():
            os.removexattr(path, name)
    for name, text in wanted.items():
        data = base64.b64decode(text)
        if found.get(name) != data:
            with _as_far_as_we_may():
                os.setxattr(path, name, data)


def _known(extras: str) -> dict[str, Any]:
    return json.loads(extras) if extras else {}


@contextmanager
def _as_far_as_we_may() -> Iterator[None]:
    """Go on where the system refuses: the content and the mode matter more, and do come back."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REFUSED:
            raise


def _attributes(path: int | str) -> Iterator[tuple[str, bytes]]:
    """Yield the attributes that are a person's; none where the system does not tell."""
    if not HAS_ATTRIBUTES:
        return
    with _as_far_as_we_may():
        for name in os.listxattr(path):
            if name.startswith(_KEPT):
                yield name, os.getxattr(path, name)


def _us() -> tuple[int, int]:
    return os.geteuid(), os.getegid()
