"""Names by which git's own folder can be reached."""

from __future__ import annotations


def is_git_name(name: str) -> bool:
    """Return whether some file system takes *name* for git's folder.

    Case does not count on macOS and Windows, HFS+ ignores invisible characters, and Windows has a
    short name for it (CVE-2014-9390).
    """
    normalized = "".join(char for char in name if char.isprintable()).casefold().rstrip(" .")
    return normalized in (".git", "git~1")


def is_in_git(path: str) -> bool:
    """Return whether *path* leads into a folder of git's, by its names, and not just to one."""
    return any(map(is_git_name, path.split("/")[:-1]))
