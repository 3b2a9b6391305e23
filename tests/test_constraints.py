"""Every package that an environment of ours gets has its version written down."""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def pinned(name: str) -> set[str]:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return {
        canonicalize_name(found[0]) for line in lines if (found := re.match(r"[\w.-]+(?===)", line))
    }


def test_what_our_packages_bring_along_is_pinned_as_well() -> None:
    files = ("requirements.txt", "requirements-extras.txt", "requirements-dev.txt")
    direct = set[str]().union(*map(pinned, files))
    wanted, found = sorted(direct), set(direct)
    while wanted:
        for line in requires(wanted.pop()) or []:
            requirement = Requirement(line)
            name = canonicalize_name(requirement.name)
            is_wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if is_wanted and name not in found:
                found.add(name)
                wanted.append(name)
    assert found - direct <= pinned("constraints.txt")
    assert not direct & pinned("constraints.txt")
