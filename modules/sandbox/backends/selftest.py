"""Finding the best tier by running each: a program tries to get out and must not succeed.

Versions say nothing: a distribution, a container or a switch may refuse what the program can do.
"""

from __future__ import annotations

import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from modules.sandbox.backends.bubblewrap import Bubblewrap
from modules.sandbox.backends.known_tier import (
    BWRAP_PATHS,
    KnownTier,
    forget_known_tier,
    read_known_tier,
    write_known_tier,
)
from modules.sandbox.backends.launcher import landlock_version
from modules.sandbox.backends.seatbelt import PROGRAM
from modules.sandbox.backends.seccomp import NoFilter
from modules.sandbox.backends.tiers import BubblewrapTier, LauncherTier, Tier
from modules.sandbox.filesystem.folder_removal import remove_scratch
from modules.sandbox.filesystem.mounts import MountPlanner
from modules.sandbox.run.execution import Execution, NotStarted
from modules.sandbox.types import LauncherTierName, Limits, Program, TierName
from utils.i18n import UserError

_LIMITS = Limits(seconds=60)  # what is given up here is given up until the next boot
_LAUNCHER_TIERS: dict[str, LauncherTierName] = {
    "C": TierName.LANDLOCK,
    "M": TierName.SEATBELT,
    "D": TierName.LIMITS_ONLY,
}

_ESCAPE_ATTEMPTS = """
import ctypes, os, socket, struct
broken = []
if os.uname().sysname == "Linux":
    libc = ctypes.CDLL(None, use_errno=True)
    sets = ctypes.create_string_buffer(24)
    libc.capget(struct.pack("Ii", 0x20080522, 0), sets)
    effective = struct.unpack("6I", sets.raw)
    if effective[0] or effective[3]:
        broken.append("capabilities")
    if libc.prctl(21, 0, 0, 0, 0) != 2:
        broken.append("no filter")
def attempt(what, act):
    try:
        act()
    except OSError:
        return
    broken.append(what)
attempt("read", lambda: open({canary!r}).close())
attempt("write", lambda: open({outside!r}, "w").close())
attempt("system settings", lambda: open("/proc/sys/kernel/core_pattern", "r+").close())
attempt("connect", lambda: socket.create_connection(("127.0.0.1", {port}), 2))
open("written", "w").write({word!r})
print("confined" if not broken else "broken: " + ", ".join(broken))
"""


@dataclass(frozen=True, slots=True)
class SelfTestResult:
    """The best *tier* that works; *failure* is what the first better one said ("": not there).

    *is_temporary* says that nothing could be tried now, so that it is to be tried again.
    """

    tier: Tier
    failure: str | None = None
    is_temporary: bool = False


class SelfTest:
    """Finds the best tier of this machine, remembered in *cache_folder* until something changes."""

    def __init__(self, cache_folder: Path) -> None:
        self._cache = cache_folder

    def find(self) -> SelfTestResult:
        if known := read_known_tier(self._cache, BWRAP_PATHS):
            return SelfTestResult(self._tier_of(known), known.failure)
        try:
            found = self._search()
        except OSError as error:  # a full disk, for one, says nothing of the machine
            failure = f"{self._cache}: {error.strerror}"
            unconfined = LauncherTier(TierName.LIMITS_ONLY, self._cache)
            return SelfTestResult(unconfined, failure, is_temporary=True)
        write_known_tier(self._cache, BWRAP_PATHS, _known(found))
        return found

    def forget(self) -> None:
        forget_known_tier(self._cache)

    def _search(self) -> SelfTestResult:
        failure = None
        for tier in self._candidates():
            failure_found = self._attempt(tier)
            if failure_found is None:
                return SelfTestResult(tier, failure)
            failure = failure or failure_found
        return SelfTestResult(LauncherTier(TierName.LIMITS_ONLY, self._cache), failure or "")

    def _candidates(self) -> Iterator[Tier]:
        for program in BWRAP_PATHS:
            if program.is_file():
                for has_proc in (True, False):
                    for locks_namespaces in (True, False):
                        yield BubblewrapTier(Bubblewrap(program, has_proc, locks_namespaces))
                break
        if sys.platform == "darwin":
            if PROGRAM.is_file():
                yield LauncherTier(TierName.SEATBELT, self._cache)
        elif landlock_version() > 0:
            yield LauncherTier(TierName.LANDLOCK, self._cache)

    def _attempt(self, tier: Tier) -> str | None:
        """Return None if *tier* holds, else what went wrong. Raises `OSError`."""
        self._cache.mkdir(parents=True, exist_ok=True)
        project = Path(tempfile.mkdtemp(prefix="test-", dir=self._cache))
        canary = self._cache / f"canary-{project.name}"
        word = secrets.token_hex(8)
        try:
            canary.write_text(word, encoding="ascii")
            with socket.create_server(("127.0.0.1", 0)) as listener:
                code = _ESCAPE_ATTEMPTS.format(
                    canary=str(canary),
                    outside=f"/usr/{project.name}",
                    port=listener.getsockname()[1],
                    word=word,
                )
                output = self._run(tier, project, code)
            if output == "confined" and (project / "written").read_text("ascii") == word:
                return None
            return output
        finally:
            canary.unlink(missing_ok=True)
            remove_scratch(project)

    def _run(self, tier: Tier, project: Path, code: str) -> str:
        planner = MountPlanner(project, (self._cache,), self._cache)
        try:
            plan = planner.plan(with_mounts=tier.has_mounts)
            with planner.mount_points.reserved(plan.mount_points) as sync_fd:
                spec = tier.launch_spec(plan, Program("python", code), _LIMITS)
                execution = Execution(replace(spec, sync_fd=sync_fd), _LIMITS)
                execution.start()
                return execution.result().output.strip()
        except (NotStarted, NoFilter, UserError) as failure:
            return str(failure) or "it does not start"
        finally:
            planner.mount_points.remove_record()

    def _tier_of(self, known: KnownTier) -> Tier:
        if known.program is None:
            return LauncherTier(_LAUNCHER_TIERS[known.name], self._cache)
        has_proc = known.name is TierName.BUBBLEWRAP
        return BubblewrapTier(Bubblewrap(known.program, has_proc, known.locks_namespaces))


def _known(found: SelfTestResult) -> KnownTier:
    tier = found.tier
    if not isinstance(tier, BubblewrapTier):
        return KnownTier(tier.name, found.failure)
    bubblewrap = tier.bubblewrap
    return KnownTier(tier.name, found.failure, bubblewrap.program, bubblewrap.disables_userns)
