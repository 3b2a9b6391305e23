"""Programs of the model, run so that they cannot do more than they should.

A `Sandbox` confines them by the best means of this machine (its tier), says honestly what these
do not protect, and never falls back to lesser means unasked.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from modules.files.own_code import OwnCode
from modules.sandbox.backends.advice import advice_for
from modules.sandbox.backends.selftest import SelfTest, SelfTestResult
from modules.sandbox.backends.tiers import Tier, name_of, unprotected
from modules.sandbox.filesystem.approved_python import Approved
from modules.sandbox.filesystem.git_protection import GitProtection, kept_git_of, put_back
from modules.sandbox.filesystem.mounts import MountPlan, MountPlanner
from modules.sandbox.limits.cgroup_probe import CgroupProbe, find_groups
from modules.sandbox.network.proxy import Proxy
from modules.sandbox.run.execution import Execution, NotStarted, Unkillable
from modules.sandbox.run.prewarmed import Alone, PoolKey, WarmInterpreter
from modules.sandbox.run.process import Order
from modules.sandbox.types import Limits, Network, Program, Report, Result, TierName, Why
from utils.i18n import Phrase, UserError, phrase
from utils.waiting import Stop

__all__ = [
    "Alone",
    "Limits",
    "Network",
    "Program",
    "Report",
    "Result",
    "Sandbox",
    "TierName",
    "Why",
]


class Sandbox:
    """Runs programs in *project_root*; they never see *hidden* or *cache_folder*.

    What is worth keeping goes to a folder `sandbox` in *cache_folder*; where that is read-only, to
    a temporary one, which is made at once. Else nothing is run or written before the first
    `report` or `run`.
    """

    def __init__(
        self,
        project_root: Path,
        *,
        hidden: Sequence[Path] = (),
        cache_folder: Path,
        allow_limits_only: bool = False,
        covers: Callable[[], Mapping[Path, str]] = dict,
        own: OwnCode | None = None,
        alone: Alone = nullcontext,
        git_record: Path | None = None,
    ) -> None:
        """*covers* says what programs read in place of some files of the project; *own* they only
        read.

        *alone* keeps others from looking at the project while something is prepared between calls.
        *git_record* is the file that holds what git obeyed before a run, until that is over.
        """
        self._cache = cache = self._place_in(cache_folder)
        self._viewer = MountPlanner(
            project_root, (*hidden, cache_folder, cache), cache, covers, own
        )
        self._self_test = SelfTest(cache)
        self._approved = Approved(project_root.resolve(), cache)
        project = project_root.resolve()
        self._kept_git = kept_git_of(project, git_record) if git_record else GitProtection(project)
        self._allow_limits_only = allow_limits_only
        self._spare = WarmInterpreter(self._viewer.ghosts, project_root.resolve(), cache, alone)
        self._wants_spare = False
        weakref.finalize(self, self._spare.abandon).atexit = False  # it dies with us
        self._lock = threading.Lock()
        self._found: SelfTestResult | None = None
        self._groups: CgroupProbe | None = None

    def _place_in(self, folder: Path) -> Path:
        place = folder / "sandbox"
        if os.access(place if place.exists() else folder, os.W_OK) or not folder.exists():
            return place
        spare_room = Path(tempfile.mkdtemp(prefix="onefold-"))
        weakref.finalize(self, shutil.rmtree, spare_room, ignore_errors=True)
        return spare_room

    def guard(self, folders: Iterable[str]) -> None:
        """Show *folders*, names in the project, read-only from now on, where the tier can."""
        self._viewer.guard(folders)

    def close(self) -> None:
        """End the program that waits for the next call, if there is one."""
        self._spare.close()

    def report(self) -> Report:
        """Say how programs are confined; the first time on a machine, by trying it out."""
        found = self._best()
        tier = found.tier.name
        return Report(
            tier,
            name_of(tier, has_group=self._groups is not None),
            unprotected(tier, has_group=self._groups is not None),
            None if found.failure is None else advice_for(found.failure),
            tier != "D" or self._allow_limits_only,
        )

    def other_python(self) -> Path | None:
        """Return the Python installation that the next run would show for the first time.

        None if it shows none, or the one that it showed before.
        """
        found = self._viewer.interpreter()
        return found.prefix if found and self._approved.is_another(found) else None

    def run(
        self, program: Program, limits: Limits, stop: Stop, network: Network | None = None
    ) -> Generator[str, None, Result]:
        """Run *program*, yield its output as it appears, and return how it ended.

        Without *network* it reaches nothing outside of the sandbox.

        When this returns, or is closed, no process of the program is alive. Raises `UserError` if
        nothing may run here, or if the sandbox does not start.
        """
        self._check_allowed()
        if self._groups and not (program.language == "python" and self._spare.is_there):
            self._groups.hurry()
        self._spare.pause()
        tier = self._best().tier
        view = self._viewer.view(with_mounts=tier.has_mounts)
        self._approved.keep(view.interpreter)
        if network and tier.name in ("C", "M"):
            raise UserError(phrase("In this sandbox there is no way to the network; see /status."))
        self._kept_git.begin(_gits(view) if tier.name in ("C", "D") else ())
        try:
            result = yield from self._ended(tier, view, program, limits, stop, network)
        finally:
            restored = self._kept_git.end()
        self._prepare(tier, limits)
        return replace(result, notes=(*result.notes, *put_back(restored)))

    def _ended(
        self,
        tier: Tier,
        view: MountPlan,
        program: Program,
        limits: Limits,
        stop: Stop,
        network: Network | None,
    ) -> Generator[str, None, Result]:
        """Run *program* to its end, with all that it needs around it."""
        with ExitStack() as stack:
            if network and tier.has_mounts:
                proxy = stack.enter_context(Proxy(network.hosts, network.origins))
                view = self._viewer.with_network(view, network, proxy.path)
            life = stack.enter_context(self._viewer.ghosts.held(view.ghosts))
            call = self._begun(tier, view, program, limits, life)
            try:
                with stop.calling(call.stop):
                    yield from call.outputs()
            finally:
                call.stop()
                result = self._result(call)
        return result

    def news(self) -> list[Phrase]:
        """Return what was put back after a run that was cut short and nobody was told yet."""
        return self._kept_git.news()

    def _begun(
        self, tier: Tier, view: MountPlan, program: Program, limits: Limits, life: int | None
    ) -> Execution:
        """Return the call of *program*, begun: in the spare if that fits, else in a new one."""
        if program.language == "python":
            self._wants_spare = True
            fit = PoolKey.of(tier.name, view, limits)
            if call := self._spare.take(fit, program.code, limits):
                return call
        order = replace(tier.order(view, program), life=life, groups=self._groups)
        call = Execution(order, limits)
        call.start()
        return call

    def _prepare(self, tier: Tier, limits: Limits) -> None:
        """Have the next Python wait, after the first one, looking anew: much may have changed."""
        # Not self, which shall go when nobody else holds it.
        viewer, groups = self._viewer, self._groups

        def wanted() -> tuple[PoolKey, Callable[[], Order]]:
            view = viewer.view(with_mounts=tier.has_mounts)

            def order() -> Order:
                made = tier.order(view, Program("python", ""), waits=True)
                return replace(made, groups=groups)

            return PoolKey.of(tier.name, view, limits), order

        if self._wants_spare:
            self._spare.prepare(wanted)

    def _result(self, call: Execution) -> Result:
        try:
            return call.result()
        except NotStarted as failure:
            if (said := str(failure)).startswith("bwrap: execvp "):
                said = said.removeprefix("bwrap: execvp ")
                raise UserError(
                    phrase("The program could not be started: {said}.", said=said[:300])
                ) from failure
            self._self_test.forget()
            raise UserError(
                phrase(
                    "The sandbox did not start, and nothing was run: {said}. Start Onefold again "
                    "to have it look for another way.",
                    said=str(failure)[:300] or "?",
                )
            ) from failure
        except Unkillable as failure:
            raise UserError(
                phrase("The program was killed, but the system does not let go of it.")
            ) from failure

    def _check_allowed(self) -> None:
        report = self.report()
        if report.is_allowed:
            return
        values = report.advice.values if report.advice else {}
        if "command" not in values:
            raise UserError(
                phrase(
                    "Programs cannot be confined on this machine, so none was run; /status says "
                    "why. To run them unconfined all the same: allow_unsandboxed = true in "
                    "config.toml, or ONEFOLD_ALLOW_UNSANDBOXED=1."
                )
            )
        raise UserError(
            phrase(
                "Programs cannot be confined on this machine, so none was run. What helps: "
                "{command} – or run them unconfined: allow_unsandboxed = true in config.toml, or "
                "ONEFOLD_ALLOW_UNSANDBOXED=1.",
                command=values["command"],
            )
        )

    def _best(self) -> SelfTestResult:
        with self._lock:
            if self._found is None or self._found.is_passing:
                self._found = self._self_test.find()
                self._groups = find_groups(self._cache)
            return self._found


def _gits(view: MountPlan) -> Sequence[Path]:
    """Return the repositories in the project that are to stay as they are, there or not."""
    inner = (path for path in view.repository if view.project in path.parents)
    return tuple(dict.fromkeys((view.project / ".git", *inner)))
