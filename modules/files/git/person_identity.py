"""Who the person is to git by their environment, which goes before what its config says."""

from __future__ import annotations

_named: dict[str, str] = {}
"""For the whole process: all of its repositories have the one person."""


def set_identity(name: str, email: str) -> None:
    """Have commits bear *name* and *email*; "" leaves that to git's config."""
    _named.update(name=name, email=email)


def identity() -> tuple[str, str]:
    """Return the name and the address that `set_identity` named, "" for none."""
    return _named.get("name", ""), _named.get("email", "")
