"""Checks of a project: run at the end of a task that changed files, and by hand."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from core.cards import Card, RunCard
from core.conversation.messages import Assistant, Record, ShellResult, ToolCall
from core.conversation.proof import NO_PROOF, Proof, Receipt, proofs_in
from core.events import CHECK_CALL
from core.feature import BrokenFiles, Feature, PlannedCheck, SessionHandle, command
from core.hooks import (
    BindsToSession,
    FollowsSession,
    PreparesTurns,
    ProvesWork,
    ProvidesNews,
    ProvidesStatus,
    RecordsCalls,
)
from core.tools import Outcome
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.checks.check_list import CheckList
from modules.checks.cut_short import turns_cut_short, unchecked_since
from modules.checks.kept_checks import CheckCommands, KeptChecks
from modules.files.project import Project
from modules.terminal_ops import TerminalOps
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import clean, visible

if TYPE_CHECKING:
    from modules.checks.receipt_watch import ReceiptWatch
    from modules.checks.task_receipts import TaskReceipts

_LEAST_SECONDS = 2.0  # of time that is left: for less nothing is begun
_MAX_NAMES = 3  # files in the name of a look at their syntax


class Checks(
    Feature,
    ProvesWork,
    RecordsCalls,
    PreparesTurns,
    BindsToSession,
    FollowsSession,
    ProvidesNews,
    ProvidesStatus,
):
    """The checks of *project*, and the receipts of what was run in it.

    They are those that are *said* in the settings, else those that are *kept*, else those that its
    own files name. All of them together take *seconds* at most. Unless it *is_on* none run by
    themselves, and nothing is said of what was run. What a task changed the snapshots of
    *checkpoints* tell: it has to be asked after whoever takes these.
    """

    def __init__(
        self,
        project: Project,
        checkpoints: LateCheckpoints,
        terminal_ops: TerminalOps,
        kept: KeptChecks,
        *,
        is_on: bool,
        said: Sequence[str],
        seconds: int,
        trace: str = "",
    ) -> None:
        """*trace* is the path in the project of what Onefold itself writes there, if it does."""
        self._project = project
        self._trace = trace
        self._checkpoints = checkpoints
        self._terminal_ops = terminal_ops
        self._kept = kept
        self.set_up(is_on=is_on, said=said, seconds=seconds)
        self._session_handle: SessionHandle | None = None
        self._task: TaskReceipts | None = None
        self._pending: list[str] = []
        self._deadline: float | None = None
        self._news: list[Phrase] = []
        self._told: set[str] = set()
        self._watch: ReceiptWatch | None = None

    def set_up(self, *, is_on: bool, said: Sequence[str], seconds: int) -> None:
        """Go on as the settings say now."""
        self._list = CheckList(self._project, self._kept, said)
        self._is_on = is_on
        self._seconds = seconds

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def on_session_changed(self, session: str) -> None:  # noqa: ARG002 - any other has its own
        self._task = None

    def on_turn_start(self) -> None:
        self._task = None
        self._news += self._find_news()

    # --- what calls do ---------------------------------------------------------------------------

    def before_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002 - of this task
        if not self._is_on:
            return
        if self._task is None:  # what there is now: the task may take its tests away
            with suppress(UserError):  # the end of the task tells of it
                self._list.read()
        self._receipts().begin_call(call_id)

    def after_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002 - of this task
        if self._is_on:
            self._receipts().end_call(call_id)

    def _receipts(self) -> TaskReceipts:
        """Return what is known of the task that goes on."""
        if self._task is None:
            from modules.checks.receipts import TreeStates  # for tasks that do something
            from modules.checks.task_receipts import TaskReceipts

            trees = TreeStates(self._project, self._checkpoints, self._trace)
            since = unchecked_since(self._session_handle, self._checkpoints)
            self._task = TaskReceipts(trees, self._checkpoints, since)
        return self._task

    def _commands(self) -> CheckCommands:
        """Return the checks of the project. Raises `UserError`."""
        return self._list.read(is_doubtful=bool(self._task and self._task.changed_checks))

    # --- the end of a task -----------------------------------------------------------------------

    def has_unchecked_changes(self) -> bool:
        if not self._is_on or not (self._task or turns_cut_short(self._session_handle)):
            return False  # it did nothing
        try:
            now = self._receipts().look()
            if now is None:
                return False
            commands = self._commands().commands
            standing = [one for one in self._receipts_now(self._records()) if one.state == "green"]
        except UserError as problem:  # what nobody can look at is not proven, and the task stands
            self._news.append(problem.message)
            return False
        from modules.checks.commands import normalized

        passed = {normalized(one.command) for one in standing}
        self._pending = [one for one in commands if normalized(one) not in passed]
        self._deadline = None
        return True

    def find_broken(self) -> BrokenFiles | None:
        from modules.checks import syntax

        task = self._receipts()
        paths = syntax.lookable(task.changed)
        if not paths:
            return None
        call_id = self._next_id()
        task.begin_call(call_id)
        try:
            result, _ = self._terminal_ops.run_quietly(syntax.program(paths), syntax.SECONDS)
        except UserError:  # where nothing can be run, each check says so
            return None
        task.end_call(call_id)
        if result.exit_code != 1:
            return None
        names = ", ".join(map(visible, paths[:_MAX_NAMES]))
        more = f" +{len(paths) - _MAX_NAMES}" if len(paths) > _MAX_NAMES else ""
        name, text = f"# syntax and imports of {names}{more}", clean(result.output).strip()
        card = RunCard("bash", name, text, 1, phrase("failed"), result.seconds, "")
        return BrokenFiles(call_id, name, f"exit code 1\n{text}", card)

    def next_check(self) -> PlannedCheck | None:
        if self._deadline is None:
            self._deadline = time.monotonic() + self._seconds
        left = self._deadline - time.monotonic()
        if self._pending and left < min(_LEAST_SECONDS, self._seconds / 2):
            self._news.append(_not_run(self._pending))
            self._pending = []
        if not self._pending:
            return None
        return PlannedCheck(self._next_id(), self._pending.pop(0), max(1, round(left)))

    def has_failed(self, check: PlannedCheck, outcome: Outcome) -> bool:
        from modules.checks.exit_codes import says_red

        card = outcome.card
        return isinstance(card, RunCard) and says_red(check.command, card.exit_code, card.output)

    def _next_id(self) -> str:
        """Return an id that no check of the turn had."""
        turn = self._session_handle.history.turn if self._session_handle else 0
        done = sum(1 for one in self._records() if isinstance(one, ShellResult) and one.check)
        return f"{CHECK_CALL}{turn}-{done + 1}"

    def _records(self) -> list[Record]:
        """Return the records of the turn that goes on."""
        if self._session_handle is None:
            return []
        history = self._session_handle.history
        return [record for turn, record in history.records if turn == history.turn]

    # --- receipts and claims ---------------------------------------------------------------------

    def _receipts_now(self, records: Sequence[Record]) -> list[Receipt]:
        """Return the receipts of the task that *records* are of. Raises `UserError`."""
        from modules.checks.receipts import MAX_RECEIPTS, runs_in

        runs = list(runs_in(records))[-MAX_RECEIPTS:]
        if not runs:
            return []
        task, commands = self._receipts(), self._commands().commands
        now = task.trees.now()
        return [task.receipt(run, now, commands) for run in runs]

    def proof(self, records: Sequence[Record]) -> Proof:
        if not self._is_on:
            return NO_PROOF
        from modules.checks.claims import claims_in, may_claim
        from modules.checks.proving import (
            by_sentence,
            checks_result,
            has_read,
            held_against,
            still_red,
        )
        from modules.checks.receipts import MAX_RECEIPTS, runs_in

        answers = [one.text for one in records if isinstance(one, Assistant)]
        found = claims_in(answers[-1]) if answers and may_claim(answers[-1]) else []
        runs = list(runs_in(records))[-MAX_RECEIPTS:]
        was_red = self._was_red()
        if not runs and not found and not was_red:
            return NO_PROOF
        try:
            task = self._receipts()
            receipts, commands = self._receipts_now(records), self._commands().commands
            earlier = [one for _, one in self._kept_receipts()] if found or was_red else []
        except UserError as problem:
            self._news.append(problem.message)
            return NO_PROOF
        checks = checks_result(receipts, commands)
        looked = self._session_handle is not None and has_read(records, self._session_handle.tools)
        ran = [one.command for one in runs if not one.is_check and one.exit_code is not None]
        parts = task.changed_parts()
        claims = by_sentence(
            held_against(one, receipts, earlier, checks, ran=ran, has_read=looked, parts=parts)
            for one in found
        )
        if was_red and checks.state == "none":
            checks = still_red([*earlier, *receipts], commands)
        trees = tuple(task.tree_after(run) for run in runs)
        return Proof(tuple(receipts), checks, claims, trees)

    def _was_red(self) -> bool:
        """Return whether the checks failed when they last ran in an earlier task."""
        if self._session_handle is None:
            return False
        proofs = proofs_in(self._session_handle.history.records)
        states = [proof.checks.state for _, proof in proofs if proof.checks.state != "none"]
        return states[-1:] == ["red"]

    def _kept_receipts(self) -> list[tuple[int, Receipt]]:
        """Return the receipts of the session with their turns, as they are now.

        Raises `UserError`.
        """
        if self._session_handle is None:
            return []
        proofs = proofs_in(self._session_handle.history.records)
        if not any(proof.receipts for _, proof in proofs):
            return []
        from modules.checks.receipts import TreeStates

        trees = TreeStates(self._project, self._checkpoints, self._trace)
        now = trees.now_or_last()
        return [(turn, one) for turn, proof in proofs for one in trees.receipts_of(proof, now)]

    # --- what the person is told -----------------------------------------------------------------

    def receipts_by_turn(self) -> list[tuple[int, Receipt]]:
        """Return the receipts of the session with their turns, from any thread, as they are now.

        While a task works they are as its last call left the files. Raises `UserError`.
        """
        return self._kept_receipts()

    def files_to_watch(self, limit: int) -> list[str]:
        """Return *limit* files at most that receipts rest on."""
        return self._project.files()[:limit]

    def begin_watch(self, tell: Callable[[Phrase], bool]) -> None:
        """Tell of checks of the last task as soon as they stand no more, until `end_watch`."""
        if self._passed_turn() is not None:
            from modules.checks.receipt_watch import ReceiptWatch

            self._watch = ReceiptWatch(self._project.root, self, tell)

    def end_watch(self) -> None:
        if self._watch:
            self._watch.end()
            self._watch = None

    def tell_outdated(self, tell: Callable[[Phrase], bool]) -> bool:
        """Tell of checks that stand no more, later where *tell* cannot; return whether any do."""
        news = self._find_news()
        self._news += [one for one in news if not tell(one)]
        return bool(news)

    def _passed_turn(self) -> int | None:
        if self._session_handle is None or not self._is_on:
            return None
        last = proofs_in(self._session_handle.history.records)[-1:]
        passed = (t for t, p in last for one in p.receipts if one.is_check and one.state == "green")
        return next(passed, None)

    def _find_news(self) -> list[Phrase]:
        """Return that checks which passed in the last task stand no more, each said once."""
        if (last := self._passed_turn()) is None:
            return []
        try:
            receipts = [one for turn, one in self._kept_receipts() if turn == last]
        except UserError:  # a call that changes files will say so
            return []
        from modules.checks.receipt_texts import outdated_text

        said = [outdated_text(one) for one in receipts if one.is_check and one.state == "grey"]
        news = [one for one in said if str(one) not in self._told]
        self._told.update(map(str, news))
        return news

    def news(self) -> Sequence[Phrase]:
        news, self._news = self._news, []
        return news

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        try:
            commands = self._commands()
        except UserError as problem:
            return [(phrase("Checks"), problem.message)]
        if not commands.commands:
            return []
        names: Text = " ; ".join(map(visible, commands.commands))
        if not self._is_on:
            names = phrase("{names} (only with /check)", names=names)
        return [(phrase("Checks"), names)]

    @command(
        "/check [list|set COMMAND|add COMMAND|auto]",
        "Run the project's checks, list or change them.",
        calls="check_calls",
    )
    def check(self, argument: str) -> Card:
        self._list.change(argument)
        return self._list.card()

    def check_calls(self, argument: str) -> Sequence[ToolCall]:
        """Return the calls of `/check` alone: one for each check that there is."""
        tools = self._session_handle.tools.installed if self._session_handle else ()
        tool = next((tool for tool in tools if tool.spec.is_shell), None)
        if argument or tool is None or tool.spec.program is None:
            return ()
        try:
            commands = self._commands().commands
        except UserError:  # the answer of the command says so
            return ()
        name = tool.spec.program.parameter
        calls = ({name: one, "timeout": self._seconds} for one in commands)
        return [
            ToolCall(f"{CHECK_CALL}{number}", tool.name, json.dumps(arguments))
            for number, arguments in enumerate(calls, 1)
        ]

    @command("/receipts", "List the runs, and whether the files have changed since.")
    def receipts(self, argument: str) -> Card:
        if argument:
            raise UserError(phrase("/receipts takes no arguments."))
        from modules.checks.receipt_texts import receipts_card

        return receipts_card(self.receipts_by_turn())


def _not_run(commands: Sequence[str]) -> Phrase:
    names = ", ".join(map(visible, commands))
    return phrase("No time was left to run {names} (setting checks_seconds).", names=names)
