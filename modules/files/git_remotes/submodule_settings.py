"""Submodules that a repository's config names: which are checked out, and where they come from.

That is what `git submodule init` and `deinit` write. An address is kept only if it is one to which
git goes by itself, and by which it runs no program that it names.
"""

from __future__ import annotations

import re

from modules.files.git_remotes.config_file import ConfigChanges, ConfigValues, changed_names

_KEY = re.compile(r"submodule\.(?P<submodule>.+)\.(?:url|active)", re.DOTALL)
_NETWORK = re.compile(r"(?:git|https?|ssh)://(?!(?:[^/]*@)?-)[^/].*|file:///.*", re.IGNORECASE)
_SCP = re.compile(r"(?:[\w.-]+@)?\w[\w.-]*:(?!:|//).*")  # user@host:path
_FOLDER = re.compile(r"(?!-)[^:]+(?:/.*)?")
_NAMES = ("url", "active")
_ACTIVE = ((), ("true",), ("false",))


def changed_submodules(old: ConfigValues, new: ConfigValues) -> ConfigChanges:
    """Return what *new* says otherwise than *old* of submodules, without what may not be."""
    matches = map(_KEY.fullmatch, changed_names(old, new))
    names = {match["submodule"] for match in matches if match}
    keys = (f"submodule.{name}.{one}" for name in names if _is_allowed(new, name) for one in _NAMES)
    return {key: new.get(key, (None,))[0] for key in keys}


def _is_allowed(values: ConfigValues, name: str) -> bool:
    is_name = name.isprintable() and ".." not in name.replace("\\", "/").split("/")
    url, active = (values.get(f"submodule.{name}.{key}", ()) for key in _NAMES)
    is_usual = len(url) <= 1 and all(map(is_plain_address, url)) and active in _ACTIVE
    return is_name and is_usual


def is_plain_address(text: str) -> bool:
    """Return whether git goes to the address *text* by itself: on the network, or to a folder.

    Others name a program (`ext::`), or might be taken for an option.
    """
    is_usual = any(kind.fullmatch(text) for kind in (_NETWORK, _SCP, _FOLDER))
    return text.isprintable() and is_usual
