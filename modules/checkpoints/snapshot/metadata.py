"""Metadata of files beside content, mode and times: owner, extended attributes, access lists."""

from __future__ import annotations

import base64
import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_XATTR_PREFIXES = ("user.", "system.posix_acl_")
"""Beginnings of the names of extended attributes that are a person's; others are the system's."""
_REFUSED_ERRNOS = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EINVAL)
HAS_XATTRS = sys.platform == "linux"
"""Whether this system lets Python see attributes at all."""


def metadata_of(handle: int, status: os.stat_result) -> str:
    """Return that of the open file or folder *handle* as text; "" for none, and us as the owner.

    Equal texts mean the same.
    """
    attributes = {name: base64.b64encode(data).decode() for name, data in _xattrs(handle)}
    return _encode(status, attributes)


def owner_metadata_of(status: os.stat_result) -> str:
    """Return the same for what has no attributes, or does not need to be asked: links, pipes."""
    return _encode(status, {})


def _encode(status: os.stat_result, attributes: dict[str, str]) -> str:
    found: dict[str, object] = {"attributes": attributes} if attributes else {}
    owner = status.st_uid, status.st_gid
    if owner != _current_owner():
        found["owner"] = owner
    return json.dumps(found, sort_keys=True, separators=(",", ":")) if found else ""


def set_owner(handle: int, name: str, encoded: str) -> None:
    """Give *name* itself in the folder *handle* the owner of *encoded*, as far as we may.

    To be done before the mode is set: a new owner takes away some bits of it.
    """
    uid, gid = _decode(encoded).get("owner", _current_owner())
    status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    if (status.st_uid, status.st_gid) != (uid, gid):
        with _ignoring_refusal():
            os.chown(name, uid, gid, dir_fd=handle, follow_symlinks=False)


def set_xattrs(path: int | str, encoded: str) -> None:
    """Give *path*, or what is open there, just the attributes of *encoded*, as far as we may.

    To be done before the mode is set: an access list takes part in it.
    """
    if sys.platform != "linux":
        return
    wanted = _decode(encoded).get("attributes", {})
    found = dict(_xattrs(path))
    for name in found.keys() - wanted.keys():
        with _ignoring_refusal():
            os.removexattr(path, name)
    for name, text in wanted.items():
        data = base64.b64decode(text)
        if found.get(name) != data:
            with _ignoring_refusal():
                os.setxattr(path, name, data)


def _decode(encoded: str) -> dict[str, Any]:
    return json.loads(encoded) if encoded else {}


@contextmanager
def _ignoring_refusal() -> Iterator[None]:
    """Go on where the system refuses: the content and the mode matter more, and do come back."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REFUSED_ERRNOS:
            raise


def _xattrs(path: int | str) -> Iterator[tuple[str, bytes]]:
    """Yield the attributes that are a person's; none where the system does not tell."""
    if sys.platform != "linux":
        return
    with _ignoring_refusal():
        for name in os.listxattr(path):
            if name.startswith(_XATTR_PREFIXES):
                yield name, os.getxattr(path, name)


def _current_owner() -> tuple[int, int]:
    return os.geteuid(), os.getegid()
