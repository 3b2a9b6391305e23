"""Symbolic links on the way to a path."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_MAX_LINKS = 40  # as in the kernel


@dataclass(frozen=True, slots=True)
class LinkRoute:
    """Way to a path: the *links* that are followed, with what each says, and where it ends."""

    real: Path
    links: tuple[tuple[Path, str], ...] = ()

    def passes(self, folder: Path) -> bool:
        """Return whether any step of it lies in *folder*."""
        return any(folder in (step, *step.parents) for step in (self.real, *dict(self.links)))


def route_to(path: Path) -> LinkRoute | None:
    """Return the way to the absolute *path*; None if it leads nowhere, or may not be looked at."""
    parts = list(reversed(path.parts[1:]))
    here, links = Path("/"), list[tuple[Path, str]]()
    try:
        while parts:
            part = parts.pop()
            if part == "..":
                here = here.parent
            elif (here / part).is_symlink():
                if len(links) == _MAX_LINKS:
                    return None
                target = os.readlink(here / part)  # noqa: PTH115 - as it is written there
                links.append((here / part, target))
                here = Path("/") if target.startswith("/") else here
                parts += reversed(Path(target.lstrip("/")).parts)
            else:
                here /= part
        return LinkRoute(here, tuple(links)) if here.exists() else None
    except (OSError, ValueError):
        return None
