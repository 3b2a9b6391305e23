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
from modules.sandbox.backends.tiers import Tier, outside_spec, tier_name, unprotected
from modules.sandbox.filesystem.approved_python import ApprovedPython
from modules.sandbox.filesystem.mounts import MountPlan, MountPlanner
from modules.sandbox.git.protection import (
    GitProtection,
    git_protection_of,
    restoration_notes,
)
from modules.sandbox.limits.cgroup_probe import CgroupFactory, find_cgroups
from modules.sandbox.network.proxy import Proxy
from modules.sandbox.run.execution import Execution, NotStarted, Unkillable
from modules.sandbox.run.prewarmed import LockProject, PoolKey, WarmInterpreter
from modules.sandbox.run.process import LaunchSpec
from modules.sandbox.types import ExitReason, Limits, Network, Program, Report, Result, TierName
from utils.i18n import Phrase, UserError, phrase
from utils.waiting import Stop

__all__ = [
    "LockProject",
    "Limits",
    "Network",
    "Program",
    "Report",
    "Result",
    "Sandbox",
    "TierName",
    "ExitReason",
]


class Sandbox:
    """Runs programs in *project_root*; they never see *hidden* or *cache_folder*.

    Caches go to a folder `sandbox` in *cache_folder*; where that is read-only, to
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
        replacements: Callable[[], Mapping[Path, str]] = dict,
        own_code: OwnCode | None = None,
        lock_project: LockProject = nullcontext,
        git_record: Path | None = None,
        machine: Mapping[str, str] | None = None,
    ) -> None:
        """*replacements* says what programs read in place of some files of the project; *own_code*
        they only read.

        *lock_project* locks others out of the project while a Python is prewarmed between calls.
        *git_record* is the file with the git baselines of a run, until that is over.

        With *machine*, the environment of all programs, the machine is theirs and nothing confines
        them.
        """
        self._machine = machine
        self._cache = cache = self._cache_folder_in(cache_folder)
        self._planner = MountPlanner(
            project_root, (*hidden, cache_folder, cache), cache, replacements, own_code
        )
        self._self_test = SelfTest(cache)
        self._approved = ApprovedPython(project_root.resolve(), cache)
        self._project = project = project_root.resolve()
        self._git_protection = (
            git_protection_of(project, git_record) if git_record else GitProtection(project)
        )
        self._allow_limits_only = allow_limits_only
        self._warm = WarmInterpreter(
            self._planner.mount_points, project_root.resolve(), cache, lock_project
        )
        self._wants_warm = False
        weakref.finalize(self, self._warm.close_in_background).atexit = False  # it dies with us
        self._lock = threading.Lock()
        self._self_test_result: SelfTestResult | None = None
        self._cgroups: CgroupFactory | None = None

    def _cache_folder_in(self, folder: Path) -> Path:
        cache_folder = folder / "sandbox"
        if (
            os.access(cache_folder if cache_folder.exists() else folder, os.W_OK)
            or not folder.exists()
        ):
            return cache_folder
        temporary = Path(tempfile.mkdtemp(prefix="onefold-"))
        weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
        return temporary

    def protect(self, folders: Iterable[str]) -> None:
        """Show *folders*, names in the project, read-only from now on, where the tier can."""
        self._planner.protect(folders)

    def close(self) -> None:
        """End the prewarmed Python, if there is one."""
        self._warm.close()

    def report(self) -> Report:
        """Return how programs are confined; the first time on a machine, by trying it out."""
        if self._machine is not None:
            name = phrase("none beside the machine's own (--machine)")
            return Report("D", name, (phrase("anything: programs can do all that you can here"),))
        found = self._best_backend()
        tier = found.tier.name
        return Report(
            tier,
            tier_name(tier, has_group=self._cgroups is not None),
            unprotected(tier, has_group=self._cgroups is not None),
            None if found.failure is None else advice_for(found.failure),
            tier != "D" or self._allow_limits_only,
        )

    @property
    def is_machine(self) -> bool:
        """Whether nothing confines programs because the machine was said to be theirs."""
        return self._machine is not None

    def unapproved_python(self) -> Path | None:
        """Return the Python installation that the next run would show for the first time.

        None if it shows none, or the one that it showed before.
        """
        if self._machine is not None:
            return None
        found = self._planner.interpreter()
        return found.prefix if found and self._approved.needs_approval(found) else None

    def run(
        self, program: Program, limits: Limits, stop: Stop, network: Network | None = None
    ) -> Generator[str, None, Result]:
        """Run *program*, yield its output as it appears, and return how it ended.

        Without *network* it reaches nothing outside of the sandbox.

        When this returns, or is closed, no process of the program is alive. Raises `UserError` if
        nothing may run here, or if the sandbox does not start.
        """
        if self._machine is not None:
            return (yield from self.run_outside(program, limits, stop, self._machine))
        self._check_allowed()
        if self._cgroups and not (program.language == "python" and self._warm.is_waiting):
            self._cgroups.warm_up()
        self._warm.pause()
        tier = self._best_backend().tier
        plan = self._planner.plan(with_mounts=tier.has_mounts)
        self._approved.approve(plan.interpreter)
        if network and tier.name in ("C", "M"):
            raise UserError(phrase("In this sandbox there is no way to the network; see /status."))
        self._git_protection.begin(_protected_repositories(plan) if tier.name in ("C", "D") else ())
        try:
            result = yield from self._run_to_end(tier, plan, program, limits, stop, network)
        finally:
            restored = self._git_protection.end()
        self._prewarm(tier, limits)
        return replace(result, notes=(*result.notes, *restoration_notes(restored)))

    def run_outside(
        self, program: Program, limits: Limits, stop: Stop, environment: Mapping[str, str]
    ) -> Generator[str, None, Result]:
        """Run *program* with *environment* as the person would themselves: nothing confines it.

        Of *limits*, those of time and output are kept. When this returns, or is closed, no process
        is alive that may be ended by us. Raises `UserError` if it does not start.
        """
        self._warm.pause()
        interpreter = self._planner.interpreter() if program.language == "python" else None
        spec = outside_spec(self._project, program, environment, interpreter)
        execution = Execution(spec, limits)
        execution.start()
        return (yield from self._outputs(execution, stop))

    def _run_to_end(
        self,
        tier: Tier,
        plan: MountPlan,
        program: Program,
        limits: Limits,
        stop: Stop,
        network: Network | None,
    ) -> Generator[str, None, Result]:
        """Run *program* to its end, with all that it needs around it."""
        with ExitStack() as stack:
            if network and tier.has_mounts:
                proxy = stack.enter_context(Proxy(network.hosts, network.origins))
                plan = self._planner.with_network(plan, network, proxy.path)
            sync_fd = stack.enter_context(self._planner.mount_points.reserved(plan.mount_points))
            execution = self._start(tier, plan, program, limits, sync_fd)
            return (yield from self._outputs(execution, stop))

    def _outputs(self, execution: Execution, stop: Stop) -> Generator[str, None, Result]:
        """Yield the output of *execution* to its end, and return its result."""
        try:
            with stop.on_stop(execution.stop):
                yield from execution.outputs()
        finally:
            execution.stop()
            result = self._result(execution)
        return result

    def warnings(self) -> list[Phrase]:
        """Return notes, once, on what was restored after a run that was interrupted."""
        return self._git_protection.warnings()

    def _start(
        self, tier: Tier, plan: MountPlan, program: Program, limits: Limits, sync_fd: int | None
    ) -> Execution:
        """Start *program*: in the prewarmed Python if that fits, else in a new process."""
        if program.language == "python":
            self._wants_warm = True
            key = PoolKey.of(tier.name, plan, limits)
            if execution := self._warm.take(key, program.code, limits):
                return execution
        spec = replace(tier.launch_spec(plan, program), sync_fd=sync_fd, cgroups=self._cgroups)
        execution = Execution(spec, limits)
        execution.start()
        return execution

    def _prewarm(self, tier: Tier, limits: Limits) -> None:
        """Prewarm the next Python, after the first one, by a new plan: much may have changed."""
        # Not self, which is to be collected when nothing else refers to it.
        planner, cgroups = self._planner, self._cgroups

        def prepared() -> tuple[PoolKey, Callable[[], LaunchSpec]]:
            plan = planner.plan(with_mounts=tier.has_mounts)

            def launch() -> LaunchSpec:
                spec = tier.launch_spec(plan, Program("python", ""), is_prewarmed=True)
                return replace(spec, cgroups=cgroups)

            return PoolKey.of(tier.name, plan, limits), launch

        if self._wants_warm:
            self._warm.prepare(prepared)

    def _result(self, execution: Execution) -> Result:
        try:
            return execution.result()
        except NotStarted as failure:
            if (message := str(failure)).startswith("bwrap: execvp "):
                message = message.removeprefix("bwrap: execvp ")
                raise UserError(
                    phrase("The program could not be started: {said}.", said=message[:300])
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

    def _best_backend(self) -> SelfTestResult:
        with self._lock:
            if self._self_test_result is None or self._self_test_result.is_temporary:
                self._self_test_result = self._self_test.find()
                self._cgroups = find_cgroups(self._cache)
            return self._self_test_result


def _protected_repositories(plan: MountPlan) -> Sequence[Path]:
    """Return the repositories in the project to protect, whether they exist or not."""
    inner = (path for path in plan.repository if plan.project in path.parents)
    return tuple(dict.fromkeys((plan.project / ".git", *inner)))
