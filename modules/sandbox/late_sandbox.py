"""A sandbox that is loaded when the first program runs: who runs none pays nothing for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from modules.sandbox.backends.known_tier import BWRAP_PATHS, read_known_tier
from modules.sandbox.backends.tier_texts import report_of
from modules.sandbox.git.shared_protection import is_git_protected
from modules.sandbox.limits.cgroup_probe import find_cgroups
from modules.sandbox.types import Report
from utils.frozen import frozen
from utils.i18n import Phrase

if TYPE_CHECKING:
    from modules.sandbox.sandbox import Sandbox


@frozen
class RememberedSandbox:
    """What is known on disk of the sandbox of *project_root*, from the last time.

    *cache_folder* has the tier of this machine, *git_record* is the file with the git baselines of
    a run that was interrupted.
    """

    project_root: Path
    git_record: Path
    cache_folder: Path
    allow_limits_only: bool

    def report(self) -> Report | None:
        """Return how programs are confined, where that is remembered of this machine as it is."""
        known = read_known_tier(self.cache_folder, BWRAP_PATHS)
        if known is None:
            return None
        return report_of(
            known.name,
            known.failure,
            has_group=find_cgroups(self.cache_folder) is not None,
            allow_limits_only=self.allow_limits_only,
        )

    def has_warnings(self) -> bool:
        """Return whether the sandbox could have something to tell before it ran anything."""
        return is_git_protected(self.project_root, self.git_record)


class LateSandbox:
    """The `Sandbox` that *make* returns at the first `get`; its report needs none as a rule.

    That is told from what is *remembered*. Where *is_for_agent*, the machine is the agent's own,
    and nothing is remembered.
    """

    def __init__(
        self,
        make: Callable[[], Sandbox],
        remembered: RememberedSandbox | None = None,
        *,
        is_for_agent: bool = False,
    ) -> None:
        self.is_for_agent = is_for_agent
        """Whether this machine is the agent's own: of the limits those of time and output hold."""
        self._make = make
        self._remembered = remembered
        self._lock = threading.Lock()
        self._made: Sandbox | None = None
        self._known_report: Report | None = None

    def get(self) -> Sandbox:
        with self._lock:
            if self._made is None:
                self._made, self._known_report = self._make(), None
            return self._made

    def report(self) -> Report:
        """Return how programs are confined; the first time on a machine, by trying it out."""
        if self._made is None and self._known_report is None and self._remembered:
            self._known_report = self._remembered.report()
        return self._known_report or self.get().report()

    def warnings(self) -> list[Phrase]:
        """Return notes, once, on what was restored after a run that was interrupted."""
        if self._made is None and self._remembered and not self._remembered.has_warnings():
            return []
        return self.get().warnings()

    def close(self) -> None:
        """End the prewarmed Python, if there is one."""
        if self._made is not None:
            self._made.close()
