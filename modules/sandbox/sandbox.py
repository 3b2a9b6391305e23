"""Programs of the model, run so that they cannot do more than they should.

A `Sandbox` confines them by the best means of this machine (its tier), says honestly what these
do not protect, and never falls back to lesser means unasked.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from core.cards import MACHINE_PLACE
from modules.files.git.repository import REPOSITORY_ELSEWHERE, find_work_tree, outer_repository
from modules.files.own_code import OwnCode
from modules.sandbox.backends.selftest import SelfTest, SelfTestResult
from modules.sandbox.backends.tier_texts import report_of
from modules.sandbox.backends.tiers import BubblewrapTier, Tier, outside_spec
from modules.sandbox.filesystem.approved_python import ApprovedPython
from modules.sandbox.filesystem.folders import real_path
from modules.sandbox.filesystem.mounts import MountPlan, MountPlanner
from modules.sandbox.git.protection import GitProtection
from modules.sandbox.git.restored import restoration_notes
from modules.sandbox.git.shared_protection import git_protection_of
from modules.sandbox.git.stand_in import GitStandIn
from modules.sandbox.home.program_home import ProgramHome
from modules.sandbox.limits.cgroup_probe import CgroupFactory, find_cgroups
from modules.sandbox.network.proxy import Proxy
from modules.sandbox.network.shared_network import Namespaces, shared_network_of
from modules.sandbox.run.execution import Background, Execution, NotStarted, Unkillable
from modules.sandbox.run.prewarmed import PoolKey, WarmInterpreter
from modules.sandbox.run.process import LaunchSpec
from modules.sandbox.toolchains.shown import Toolchains
from modules.sandbox.types import (
    ExitReason,
    Limits,
    LockProject,
    Network,
    Program,
    Report,
    Result,
    TierName,
)
from utils.i18n import Phrase, UserError, phrase
from utils.text.sentences import unended
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

_NOT_LENT_GIT = phrase(
    "This time .git was read-only to the program: another one had it, or it could not be copied. "
    "Run it again."
)
_READ_ONLY_GIT = phrase(
    "Here .git is read-only to programs, for the repository is of another kind (extensions, links, "
    "or objects elsewhere): the person has to do what changes it, but for commits."
)
_GIT_BY_NAME = phrase(
    "Here git finds this repository by its name alone: call git, without a path to it and without "
    "another PATH."
)
_GIT_DENIED = re.compile(r"\.git\b[^\n]*: Permission denied")
_GIT_BY_PATH = re.compile(r"/git(?![\w./-])")
_NO_REPOSITORY = re.compile(r"^fatal: not a git repository", re.MULTILINE)
_GIT_FAILED = re.compile(r"^(fatal|error): |Read-only file system", re.MULTILINE)
_HOME_WITHHELD = phrase(
    "The home folder was an empty one, which is gone now: the usual one is too large, and a "
    "program that runs on keeps it from being made smaller."
)


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
        home: ProgramHome | None = None,
        environment: Mapping[str, str] | None = None,
        show_folders: Sequence[Path] = (),
        machine: Mapping[str, str] | None = None,
        git_hooks: bool = False,
    ) -> None:
        """*replacements* says what programs read in place of some files of the project; *own_code*
        they only read.

        *lock_project* locks others out of the project while a Python is prewarmed between calls.
        The toolchains that the person's *environment* leads to, and *show_folders*, are shown
        read-only. *git_record* is the file with the git baselines of a run, until that is over.
        *home* is that of the programs, without which each finds an empty one. With *git_hooks* the
        hooks of the project's repository run at a commit, in the sandbox.

        With *machine*, the environment of all programs, the machine is theirs and nothing confines
        them.
        """
        self._machine = machine
        self._cache = cache = self._cache_folder_in(cache_folder)
        self._planner = MountPlanner(
            project_root,
            (*hidden, cache_folder, cache),
            cache,
            replacements,
            own_code,
            environment=environment,
            show_folders=show_folders,
        )
        self._self_test = SelfTest(cache)
        self._approved = ApprovedPython(project_root.resolve(), cache)
        self._project = project = project_root.resolve()
        self._git_protection = (
            git_protection_of(project, git_record) if git_record else GitProtection(project)
        )
        self._home = home
        self._wants_git_hooks = git_hooks
        self._git_stand_in = self._new_stand_in()
        self._watched: tuple[Path, ...] = ()
        self._allow_limits_only = allow_limits_only
        self._warm = WarmInterpreter(self._planner.mount_points, project, cache)
        self._lock_project = lock_project
        self._wants_warm = False
        self._shared_network = shared_network_of(project, cache)
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

    def watch(self, folders: Iterable[str]) -> None:
        """Keep what git obeys in the repositories *folders*, names in the project, as it is now
        for the next run; they are not read-only to it, for a program has made them.
        """
        self._watched = tuple(self._project / folder for folder in folders)

    def disarm(self, folders: Iterable[str]) -> list[Phrase]:
        """Take out of the repositories *folders*, made by a run, what git would run; say so.

        Clones of the project among them get their objects.
        """
        paths = [self._project / folder for folder in folders]
        if paths and self._machine is None and self._best_backend().tier.has_mounts:
            self._git_stand_in.bring_objects(paths)
        return list(restoration_notes(self._git_protection.disarm(paths)))

    def _inner_repositories(self, plan: MountPlan) -> Sequence[Path]:
        """Return those watched that are still folders, no link leading to them."""
        return [
            path
            for path in self._watched
            if path not in plan.repository and path.is_dir() and real_path(path) == path
        ]

    def close(self) -> None:
        """End the prewarmed Python, if there is one."""
        self._warm.close()

    def report(self) -> Report:
        """Return how programs are confined; the first time on a machine, by trying it out."""
        if self._machine is not None:
            name = phrase("none beside the machine's own (--machine)")
            kind = TierName.LIMITS_ONLY
            return Report(kind, name, (phrase("anything: programs can do all that you can here"),))
        found = self._best_backend()
        return report_of(
            found.tier.name,
            found.failure,
            has_group=self._cgroups is not None,
            allow_limits_only=self._allow_limits_only,
        )

    @property
    def is_for_agent(self) -> bool:
        """Whether this machine is the agent's own: of the limits those of time and output hold."""
        return self._machine is not None

    @property
    def place(self) -> str:
        """Place where programs run, as the card of a run names it."""
        return MACHINE_PLACE if self._machine is not None else str(self.report().name)

    def unapproved_python(self) -> Path | None:
        """Return the Python installation that the next run would show for the first time.

        None if it shows none, or the one that it showed before.
        """
        if self._machine is not None:
            return None
        found = self._planner.interpreter()
        if found is None or found.prefix is None or not self._approved.needs_approval(found):
            return None
        return None if self._planner.toolchains().holds(found.prefix) else found.prefix

    def toolchains(self) -> Toolchains:
        """Return the person's toolchains, which programs may read."""
        return self._planner.toolchains()

    def run(
        self,
        program: Program,
        limits: Limits,
        stop: Stop,
        network: Network | None = None,
        background: Background | None = None,
    ) -> Generator[str, None, Result]:
        """Run *program*, yield its output as it appears, and return how it ended.

        Without *network* it reaches nothing outside of the sandbox, but what runs in the
        background, also without one. What runs there itself is told of to *background*.

        When this returns, or is closed, no process of the program is alive. Raises `UserError` if
        nothing may run here, or if the sandbox does not start.
        """
        if self._machine is not None:
            return (yield from self.run_outside(program, limits, stop, self._machine, background))
        self._check_allowed()
        if self._cgroups and not (program.language == "python" and self._warm.is_waiting):
            self._cgroups.warm_up()
        self._warm.pause()
        tier = self._best_backend().tier
        # What a job does to git is taken over at its end: only of one that somebody works with.
        has_git = background is None or program.has_terminal
        stand_in = self._git_stand_in if background is None else self._new_stand_in()
        plan = self._plan(tier, stand_in if has_git else None)
        self._approved.approve(plan.interpreter)
        if network and tier.name in (TierName.LANDLOCK, TierName.SEATBELT):
            raise UserError(phrase("In this sandbox there is no way to the network; see /status."))
        if background and tier.name is TierName.SEATBELT:
            raise UserError(
                phrase(
                    "Nothing can run on in the background in this sandbox, which may not find all "
                    "of it again to end it."
                )
            )
        if background:  # its end is not waited for to put git back: it may only read that
            plan = replace(plan, repository=(*plan.repository, *self._inner_repositories(plan)))
            plan = replace(plan, kept_repositories=_protected_repositories(plan))
        notes = [_HOME_WITHHELD] if self._home and self._home.is_withheld else []
        with (
            self._git_restored(tier, plan, notes, is_background=background is not None),
            _git_lent(plan, stand_in, notes) as lent_plan,
        ):
            result = yield from self._run_to_end(
                tier, lent_plan, program, limits, stop, network, background
            )
        if background is None:
            self._prewarm(tier, limits)
        if self._home:
            self._home.tidy_later()
        if hint := _git_hint(plan, lent_plan, stand_in, program, result):
            notes.append(hint)
        return replace(result, notes=(*result.notes, *notes))

    @contextmanager
    def _git_restored(
        self, tier: Tier, plan: MountPlan, notes: list[Phrase], *, is_background: bool
    ) -> Iterator[None]:
        """Restore after a run what git obeys, where the tier lets programs change that.

        Not after one in the background: meanwhile, it could have been changed by the person.
        """
        if is_background:
            self._git_protection.begin(())
            self._git_protection.end()
            yield
            return
        can_write_git = tier.name in (TierName.LANDLOCK, TierName.LIMITS_ONLY)
        writable = _protected_repositories(plan) if can_write_git else ()
        self._git_protection.begin((*writable, *self._inner_repositories(plan)), writable)
        try:
            yield
        finally:
            restored = self._git_protection.end()
            if tier.has_mounts:  # programs may remove what they made
                lost = (name for name in restored.lost if os.path.lexists(self._project / name))
                restored = replace(restored, lost=tuple(lost))
            notes += restoration_notes(restored)

    def _plan(self, tier: Tier, stand_in: GitStandIn | None) -> MountPlan:
        """Return the mounts of a run, with *stand_in* for `.git` where there can be one."""
        plan = self._planner.plan(with_mounts=tier.has_mounts)
        return with_stand_in(plan, stand_in, tier) if stand_in else plan

    def _new_stand_in(self) -> GitStandIn:
        """Return a stand-in for one run, so that it keeps nobody else from git."""
        return GitStandIn(
            self._project,
            self._cache,
            self._planner.mount_points,
            wants_hooks=self._wants_git_hooks,
            shows=self._planner.shows,
        )

    def run_outside(
        self,
        program: Program,
        limits: Limits,
        stop: Stop,
        environment: Mapping[str, str],
        background: Background | None = None,
    ) -> Generator[str, None, Result]:
        """Run *program* with *environment* as the person would themselves: nothing confines it.

        Of *limits*, those of time and output are kept. When this returns, or is closed, no process
        is alive that may be ended by us; but on a machine of the agent's own what a command left
        running goes on, unless it ran out of time or was stopped, or is a job. Raises `UserError`
        if it does not start.
        """
        self._warm.pause()
        interpreter = self._planner.interpreter() if program.language == "python" else None
        leaves = self._machine is not None and background is None
        spec = outside_spec(self._project, program, environment, interpreter, leaves=leaves)
        return (yield from self._outputs(_start(spec, limits, background), stop))

    def _run_to_end(
        self,
        tier: Tier,
        plan: MountPlan,
        program: Program,
        limits: Limits,
        stop: Stop,
        network: Network | None,
        background: Background | None,
    ) -> Generator[str, None, Result]:
        """Run *program* to its end, with all that it needs around it."""
        with ExitStack() as stack:
            if self._home:
                plan = replace(plan, home=stack.enter_context(self._home.in_use()))
            if network and tier.has_mounts:
                believed = (network.certificates,) if network.certificates else ()
                proxy = stack.enter_context(
                    Proxy(network.hosts, network.origins, network.indexes, believed=believed)
                )
                plan = self._planner.with_network(plan, network, proxy)
            sync_fd = stack.enter_context(self._planner.mount_points.reserved(plan.mount_points))
            namespaces = stack.enter_context(self._joined_network(tier, network, background))
            if background or namespaces:
                spec = tier.launch_spec(plan, program, limits, namespaces=namespaces)
                execution = self._start_cold(spec, limits, sync_fd, background)
            else:
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

    def _joined_network(
        self, tier: Tier, network: Network | None, background: Background | None
    ) -> AbstractContextManager[Namespaces | None]:
        """Return the network that a run shares with what runs in the background, if there is any.

        One that may reach the network shares none: what has no leave would get out through it.
        """
        if network or not isinstance(tier, BubblewrapTier):
            return nullcontext()
        return self._shared_network.joined(tier.bubblewrap.program, makes=background is not None)

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
        return self._start_cold(tier.launch_spec(plan, program, limits), limits, sync_fd)

    def _start_cold(
        self,
        spec: LaunchSpec,
        limits: Limits,
        sync_fd: int | None,
        background: Background | None = None,
    ) -> Execution:
        """Start a program in a new process."""
        spec = replace(spec, sync_fd=sync_fd, cgroups=self._cgroups)
        return _start(spec, limits, background)

    def _prewarm(self, tier: Tier, limits: Limits) -> None:
        """Prewarm the next Python, after the first one, by a new plan: much may have changed."""
        # Not self, which is to be collected when nothing else refers to it.
        planner, cgroups, home = self._planner, self._cgroups, self._home
        stand_in = self._git_stand_in

        def prepared() -> tuple[PoolKey, Callable[[], LaunchSpec]]:
            plan = planner.plan(with_mounts=tier.has_mounts)
            plan = replace(plan, home=home.ready() if home else None)
            plan = with_stand_in(plan, stand_in, tier)

            def launch() -> LaunchSpec:
                spec = tier.launch_spec(plan, Program("python", ""), limits, is_prewarmed=True)
                return replace(spec, cgroups=cgroups)

            return PoolKey.of(tier.name, plan, limits), launch

        if self._wants_warm:
            self._warm.prepare(prepared, self._lock_project)

    def _result(self, execution: Execution) -> Result:
        try:
            return execution.result()
        except NotStarted as failure:
            if (message := str(failure)).startswith("bwrap: execvp "):
                message = message.removeprefix("bwrap: execvp ")
                raise UserError(
                    phrase("The program could not be started: {said}.", said=unended(message[:300]))
                ) from failure
            self._self_test.forget()
            raise UserError(
                phrase(
                    "The sandbox did not start, and nothing was run: {said}. Start Onefold again "
                    "to have it look for another way.",
                    said=unended(str(failure)[:300]) or "?",
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


@contextmanager
def _git_lent(plan: MountPlan, stand_in: GitStandIn, notes: list[Phrase]) -> Iterator[MountPlan]:
    """Lend *stand_in* to a run by *plan*; afterwards take over what git did there.

    Without it the plan shows `.git` read-only. *notes* gets what was not taken over.
    """
    if plan.git_stand_in is None:
        yield plan
        return
    with stand_in.borrowed(is_new=".git" in plan.mount_points) as is_lent:
        try:
            yield plan if is_lent else replace(plan, git_stand_in=None, git_command=None)
        finally:
            if is_lent:
                notes += stand_in.take_over()


def with_stand_in(plan: MountPlan, stand_in: GitStandIn, tier: Tier) -> MountPlan:
    """Return *plan* with *stand_in* in the place of the project's repository, if that can be.

    Without mounts programs find it by a command, and what it has of the repository where that is.
    """
    if not (tier.has_mounts or tier.name is TierName.LANDLOCK):
        return plan
    git, is_new = stand_in.place, ".git" in plan.mount_points
    hidden = [path for path in plan.hidden if not (is_new and path == git)]
    blocked = (*hidden, *plan.own_code, *plan.protected_links, *(p for p, _ in plan.replaced))
    if any(git in (path, *path.parents) for path in blocked):
        return plan
    if not (is_new or git in plan.repository):
        return plan
    if not tier.has_mounts:
        command = stand_in.command()
        folder = stand_in.folder() if command else None
        settings = "" if command else stand_in.settings_below()
        plan = replace(plan, git_stand_in=folder, git_place=git, git_command=command)
        rules = stand_in.rules_below() if settings else ()
        return replace(plan, git_settings=settings, git_rules=rules)
    submodules = stand_in.submodules()
    return replace(
        plan,
        git_stand_in=stand_in.folder(is_new=is_new),
        exposed=plan.exposed + stand_in.exposed(),
        git_place=git,
        git_hooks=stand_in.hooks(),
        git_modules=tuple(submodules.roots()),
        git_lfs=stand_in.lfs(),
        git_covered=stand_in.covered(submodules),
        git_read_only=tuple(git / name for name in submodules.others),
    )


def _git_hint(
    plan: MountPlan,
    lent_plan: MountPlan,
    stand_in: GitStandIn,
    program: Program,
    result: Result,
) -> Phrase | None:
    """Return what to do where a program seems to have failed for what it may not do with `.git`."""
    if plan.git_stand_in is None and (unseen := _unseen_objects(plan, stand_in, result)):
        return unseen
    said = result.tail or result.head
    if _NO_REPOSITORY.search(said):
        if (plan.project / ".git").is_file() and len(plan.repository) < 2:
            return REPOSITORY_ELSEWHERE
        above = find_work_tree(plan.project)
        return outer_repository(above) if above and above != plan.project else None
    is_denied = _GIT_DENIED.search(said) is not None
    if lent_plan.git_command:  # by its path it may fail without a word, as `git stash` does
        has_failed = bool(result.exit_code) and _GIT_BY_PATH.search(program.code) is not None
        return _GIT_BY_NAME if is_denied or has_failed else None
    places = (".git", *map(str, plan.repository))
    is_closed = "Read-only file system" in said and any(place in said for place in places)
    if not plan.repository or not (is_closed or is_denied) or lent_plan.git_stand_in is not None:
        return None
    return _READ_ONLY_GIT if plan.git_stand_in is None else _NOT_LENT_GIT


def _unseen_objects(plan: MountPlan, stand_in: GitStandIn, result: Result) -> Phrase | None:
    """Return what to do if git seems to have failed for objects that programs do not see."""
    said = result.tail or result.head
    has_failed = bool(plan.repository) and _GIT_FAILED.search(said) is not None
    return stand_in.why_unseen() if has_failed else None


def _protected_repositories(plan: MountPlan) -> tuple[Path, ...]:
    """Return the repositories in the project to protect, whether they exist or not."""
    inner = (path for path in plan.repository if plan.project in path.parents)
    return tuple(dict.fromkeys((plan.project / ".git", *inner)))


def _start(spec: LaunchSpec, limits: Limits, background: Background | None) -> Execution:
    if background is None:
        execution = Execution(spec, limits)
        execution.start()
        return execution
    output, errors = background.output, background.errors
    execution = Execution(spec, limits, output, errors, background.has_room)
    execution.start()
    background.on_start(execution)
    return execution
