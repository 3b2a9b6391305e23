"""The tool `delegate`: has a helper do a part of the task."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from core.cards import Card, TableCard, TextCard
from core.conversation.helper_records import helper_record, helpers_in, records_of_open_helper
from core.conversation.messages import Assistant, StateRecord, ToolCall, ToolResult
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import BindsToSession, LimitsSpending, ProvidesContext
from core.tools import Outcome, Risk, RunningTool, ToolError, tool
from utils.frozen import frozen
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.completion import Usage
from utils.text.clean import visible

if TYPE_CHECKING:
    from core.conversation.history import TurnRecord
    from core.events import PersonQuestion, Reply, TurnFinished
    from core.loop.approval import ApprovalMode
    from core.loop.turn_context import Turn
    from core.main_terminal import MainTerminal
    from modules.agents.work import Work
    from modules.delegation.helper_copies import CopyOwner, HelperCopies, HelperCopy
    from modules.delegation.helper_store import OpenQuestions
    from modules.delegation.helper_terminal import Limits
    from modules.delegation.roles import Role, Roles
    from modules.delegation.way_back import Reached, TakenBack
    from modules.files.project import Project
    from modules.outputs import Outputs
    from modules.own_commands.files import CommandFile
    from modules.storage.data_folder import DataFolder
    from utils.waiting import Stop

Mode = Literal["read-only", "write"]
USUAL_STEPS = 20
"""Model calls of a helper that is given no number."""
_SHOWN_IN_COST = 8
_COPY = "copy"
"""The `StateRecord` of a helper that says in which folder it works."""
_REACHED = "reached"
"""That which says how far its changes are in the project."""
MakeFeatures = Callable[["tuple[Project, DataFolder] | None", "Stop"], Sequence[Feature]]
"""Makes the features of a helper: for the project itself, or for a copy with its data."""


class Delegation(Feature, BindsToSession, LimitsSpending, ProvidesContext):
    """Helpers of a session: *make_features* makes what one has, *reader* is what it reads with.

    One that writes does so in one of *copies*; where there are none, no helper writes. *roles* are
    those that it may have.
    *model* is the name of the one that helpers ask, "" for the same as their session's;
    *keep_request* is told of each request before it is sent: the helper's call, the step, the body.
    """

    def __init__(
        self,
        make_features: MakeFeatures,
        outputs: Outputs,
        copies: HelperCopies | None = None,
        roles: Roles | None = None,
        *,
        reader: str,
        model: str = "",
        keep_request: Callable[[str, int, bytes], None] | None = None,
    ) -> None:
        self._make_features = make_features
        self._copies = copies
        self._roles = roles
        self._outputs = outputs
        self._reader = reader
        self._model = model
        self._keep_request = keep_request
        self._handle: MainTerminal | None = None
        self._questions: OpenQuestions | None = None
        self._lock = threading.Lock()
        self._granted: dict[str, int] = {}
        """The steps of the helpers that run, by their calls."""
        self._stops: dict[str, Stop] = {}
        """What stops each of them."""

    def bind(self, session_handle: SessionHandle) -> None:
        self._handle = session_handle  # type: ignore[assignment]  # a terminal, as far as it goes

    @tool(
        Risk.READ,
        phrase("Have a helper do a part of the task."),
        verb=phrase("Delegate"),
        icon="fork",
        subject="{task}",
        is_listed=False,
        runs_turn=True,
        at_once_unless=("mode", "write"),
        when_cut="Shorten the task of the helper.",
    )
    def delegate(
        self,
        task: Annotated[str, "Everything that it must know: it has not read this conversation."],
        files: Annotated[str, "Paths it reads first, with commas between"] = "",
        mode: Annotated[Mode, "What it may do"] = "read-only",
        steps: Annotated[int | None, "Most model calls"] = None,
        budget: Annotated[float | None, "Most US dollars"] = None,
        role: Annotated[str, "One of the roles that you were told of"] = "",
        call_id: str = "",
    ) -> RunningTool:
        """Give a helper, which has a history of its own, one task, and get its answer with what it
        read and ran. Several read-only ones in one reply work at the same time. Use it for work
        that reads much of which you need little."""
        parent = self._parent()
        if not task.strip():
            raise ToolError("The task is empty; say what the helper is to do.")
        if mode == "write" and parent.approval.is_read_only:
            raise ToolError("Nothing is changed in this mode, by helpers neither.", "refused")
        taken = (yield from self._role(parent, role)) if role else None
        limits = self._grant(parent, call_id, steps, budget)
        try:
            run = self._write if mode == "write" else self._read
            return (yield from run(parent, call_id, _Work(task, files, limits, taken)))
        finally:
            with self._lock:
                self._granted.pop(call_id, None)

    def _role(
        self, parent: MainTerminal, name: str
    ) -> Generator[PersonQuestion, Reply | None, Role]:
        if self._roles is None:
            raise ToolError("There are no roles here.")
        return (yield from self._roles.role(name, asks_nothing=parent.allows_all))

    def context(self) -> Iterable[Section]:
        """Tell of the roles where helpers are on offer: it costs nobody else anything."""
        handle = self._handle
        is_offered = handle is not None and any(
            tool.name == Delegation.delegate.__name__ for tool in handle.tools
        )
        if self._roles is None or handle is None or not is_offered or self._is_helper(handle):
            return
        if files := self._roles.files():
            listed = "\n".join(f"- {file.name}: {file.description}" for file in files)
            yield Section("roles", f"Roles that a helper can have:\n{listed}")

    @command(
        "/agent [NAME TASK]",
        "List the roles of helpers, or give a helper in one of them a task.",
        belongs_to_session=True,
        calls="agent_calls",
        completes="agent_names",
    )
    def agent(self, argument: str) -> Card:
        if self._roles is None:
            raise UserError(phrase("There are no roles here."))
        name = argument.partition(" ")[0]
        if name:
            self._roles.find(name)
            raise UserError(phrase("Usage: /agent NAME TASK"))
        files = self._roles.all_files()
        rows = tuple((one.name, one.problem or one.description, one.path) for one in files)
        alarms = tuple(n for n, one in enumerate(files) if one.problem)
        if not rows:
            where = phrase("Put one into agents/NAME.md: docs/helpers.md shows how.")
            return TextCard(phrase("No roles yet."), where)
        return TableCard(phrase("Roles of helpers"), rows, alarms=alarms)

    def agent_names(self, before: Sequence[str]) -> Sequence[str]:
        """Return the names of the roles, where one is to be said."""
        return [file.name for file in self._roles.files()] if self._roles and not before else []

    def agent_calls(self, argument: str) -> Sequence[ToolCall]:
        """Return the call that gives a task to a helper in a role, none where that is not said."""
        name, _, task = argument.partition(" ")
        usable = {file.name: file for file in self._roles.files()} if self._roles else {}
        if name not in usable or not task.strip():
            return ()
        given = {"task": task.strip(), "mode": self._usual_mode(usable[name]), "role": name}
        call = json.dumps(given, ensure_ascii=False)
        return (ToolCall("agent", Delegation.delegate.__name__, call),)

    def _usual_mode(self, file: CommandFile) -> Mode:
        """Return whether a helper in the role of *file* may write: where the session may, and a
        tool of it does."""
        from core.feature_set import CHANGING_RISKS
        from core.tool_aliases import names_meant

        parent = self._parent()
        if parent.approval.is_read_only:
            return "read-only"
        tools = parent.tools
        names = {name for said in file.tools for name in names_meant(tools, said)}
        writes = any(tools.specs[name].risk in CHANGING_RISKS for name in names)
        return "write" if writes or not file.tools else "read-only"

    def _parent(self) -> MainTerminal:
        if self._handle is None:
            raise RuntimeError("no session was bound")
        if self._is_helper(self._handle):
            raise ToolError("You are a helper and have none yourself. Do it with your own tools.")
        return self._handle

    @staticmethod
    def _is_helper(terminal: MainTerminal) -> bool:
        from modules.delegation.helper_terminal import HelperRole

        return terminal.features.find(HelperRole) is not None

    def _grant(
        self, parent: MainTerminal, call_id: str, steps: int | None, budget: float | None
    ) -> Limits:
        """Take what the helper may use from what is left for the task. Raises `ToolError`.

        One that goes on has used some of it.
        """
        from modules.delegation.helper_terminal import Limits

        if (steps is not None and steps < 1) or (budget is not None and budget <= 0):
            raise ToolError("steps and budget must be more than 0.")
        granted = steps or USUAL_STEPS
        with self._lock:
            used = self._steps_used(parent, call_id)
            if parent.step_limit:
                granted = min(granted, used + self._steps_left(parent))
            if granted < 1:
                raise ToolError("The task has no model calls left for a helper.", "limit")
            self._granted[call_id] = granted
        return Limits(granted, budget or 0.0)

    def _steps_left(self, parent: MainTerminal) -> int:
        """Return the steps of the task that nobody has used, nor may yet; one is its last word."""
        history = parent.history
        left = parent.step_limit - history.reply_count - history.helper_steps
        promised = (
            max(granted - self._steps_used(parent, call_id), 0)
            for call_id, granted in self._granted.items()
        )
        return left - sum(promised) - 1

    @staticmethod
    def _steps_used(parent: MainTerminal, call_id: str) -> int:
        """Return how many replies the helper that is the open call *call_id* has had."""
        history = parent.history
        kept = records_of_open_helper(history.log, history.turn, call_id)
        return sum(isinstance(record, Assistant) for _, record in kept)

    def _read(self, parent: MainTerminal, call_id: str, work: _Work) -> RunningTool:
        """Have a helper look at the folder, where it changes nothing."""
        features = partial(self._make_features, None)
        end, records = yield from self._run(parent, call_id, work, features, "read-only")
        return self._report(end, records)

    def _write(self, parent: MainTerminal, call_id: str, work: _Work) -> RunningTool:
        """Have a helper work in a copy of the folder, and bring back what it changed.

        Left at a question or by a kill, the copy stays for when the helper goes on.
        """
        if self._copies is None:
            raise ToolError("There are no helpers that write here.")
        from modules.delegation.helper_copies import CopyOwner

        owner = CopyOwner(parent.session, parent.history.turn, call_id)
        kept = records_of_open_helper(parent.history.log, owner.turn, call_id)
        copy = _copy_in(kept)
        if copy is None:
            copy = self._copies.make(owner)
            parent.record(helper_record(call_id, StateRecord(_COPY, copy.to_state())))
        reached = _reached_in(kept, copy)
        if reached.is_all:  # a kill came before its answer was kept
            end, records = _end_in(kept) or _cut_short(), kept
        elif self._copies.is_for(copy, owner):
            with self._copies.opened(copy.folder) as place:
                features = partial(self._make_features, place)
                mode = parent.approval.mode
                end, records = yield from self._run(parent, call_id, work, features, mode)
        else:
            raise ToolError(f"The helper's folder {copy.folder} is gone; begin anew.")
        taken = self._take_back(parent, copy, owner, reached)
        return replace(self._report(end, records, taken.remark), changes=taken.changes)

    def _take_back(
        self, parent: MainTerminal, copy: HelperCopy, owner: CopyOwner, reached: Reached
    ) -> TakenBack:
        """Bring what was done in *copy*, as far as *reached* is not all, into the project."""
        assert self._copies is not None  # noqa: S101 - a helper has worked in one

        def keep(now: Reached) -> None:
            parent.record(helper_record(owner.call, StateRecord(_REACHED, now.to_state())))

        recorded = partial(parent.features.recorded, turn=owner.turn)
        try:
            return self._copies.take_back(copy, owner, reached, recorded=recorded, keep=keep)
        except UserError as error:
            raise ToolError(
                f"{error.message} What the helper wrote is whole in {copy.folder} alone, until "
                "another helper writes.",
                error.code,
            ) from error

    def _run(
        self,
        parent: MainTerminal,
        call_id: str,
        work: _Work,
        features: Callable[[Stop], Sequence[Feature]],
        mode: ApprovalMode,
    ) -> Generator[Any, Reply | None, tuple[TurnFinished, list[TurnRecord]]]:
        """Run the turn of a helper; return its end and its records."""
        from core.conversation.transcript import replay_helper
        from modules.delegation.helper_store import HelperStore
        from modules.delegation.helper_terminal import helper_terminal
        from modules.delegation.nested_events import nested

        store = HelperStore(parent, call_id, self._open_questions(parent))
        terminal = helper_terminal(
            *(parent, features, store, work.limits), mode=mode, model=self._model, role=work.role
        )
        if keep_request := self._keep_request:
            history = terminal.history
            terminal.model.set_request_observer(
                lambda body: keep_request(call_id, 1 + history.reply_count, body)
            )
        with self._lock:
            self._stops[call_id] = terminal.stop
        try:
            yield from replay_helper(terminal.history.log, call_id)
            if end := _end_in(terminal.history.records):  # left before its answer was kept
                return end, terminal.history.records
            turn = _turn_of(terminal, work)
            with parent.stop.on_stop(terminal.stop.set):
                end = yield from nested(turn, call_id, work.task)
            return end, terminal.history.records
        finally:
            with self._lock:
                self._stops.pop(call_id, None)
            terminal.close()

    def _report(
        self, end: TurnFinished, records: Sequence[TurnRecord], remark: str = ""
    ) -> Outcome:
        from modules.delegation.report import report

        return report(end, records, self._outputs, self._reader, remark)

    def _open_questions(self, parent: MainTerminal) -> OpenQuestions:
        from modules.delegation.helper_store import OpenQuestions

        with self._lock:
            self._questions = self._questions or OpenQuestions(parent)
            return self._questions

    # --- the board -------------------------------------------------------------------------------

    def running_work(self, opened: Mapping[str, Sequence[TurnRecord]]) -> Iterable[Work]:
        from modules.delegation.helper_work import helper_work  # for who asks

        for session, records in opened.items():
            yield from helper_work(session, records)

    def stop_work(self, work: str) -> bool:
        """One that asks ends when that is answered."""
        from modules.delegation.helper_work import call_of

        if self._handle is None:
            return False
        call_id = call_of(work, self._handle.session, list(self._handle.history.log))
        with self._lock:
            stop = self._stops.get(call_id)
        if stop is None:
            return False
        stop.set()
        return True

    # --- what helpers cost -----------------------------------------------------------------------

    def cost_rows(self) -> Iterable[tuple[Phrase, Text]]:
        """Return a row for each of the last helpers, and what they did together."""
        if self._handle is None:
            return
        used = list(_used_by_helpers(self._handle))
        for task, usage in used[-_SHOWN_IN_COST:]:
            yield (
                phrase("Helper: {task}", task=visible(task)),
                phrase(
                    "model calls: {n:,}, ${cost}", n=usage.requests, cost=f"{usage.cost_usd:.4f}"
                ),
            )

    def on_spent(self, usage: Usage) -> None:
        """Do nothing: what helpers spend is kept, and counted, with their records."""

    def spending_refusal(self) -> Phrase | None:
        return None

    def spending_notice(self) -> Phrase | None:
        return None

    def spending_delay(self) -> tuple[Phrase, float] | None:
        return None


@frozen
class _Work:
    """What a helper is to do, the *files* that it reads first, and what it may use for that."""

    task: str
    files: str
    limits: Limits
    role: Role | None = None


def _copy_in(records: Sequence[TurnRecord]) -> HelperCopy | None:
    """Return the copy in which the helper works that kept *records*, if it has one yet."""
    from modules.delegation.helper_copies import HelperCopy

    states = [one for _, one in records if isinstance(one, StateRecord) and one.name == _COPY]
    return HelperCopy.of(states[-1].value) if states else None


def _reached_in(records: Sequence[TurnRecord], copy: HelperCopy) -> Reached:
    """Return how far the changes in *copy* are in the project by the *records* of its helper."""
    from modules.delegation.way_back import Reached

    states = [one for _, one in records if isinstance(one, StateRecord) and one.name == _REACHED]
    return Reached.of(states[-1].value) if states else Reached(copy.before)


def _cut_short() -> TurnFinished:
    from core.events import TurnFinished

    return TurnFinished("interrupted")


def _end_in(records: Sequence[TurnRecord]) -> TurnFinished | None:
    """Return how the helper ended that kept *records*: with its last word, or by a limit or an
    error. None where it goes on: one that was merely stopped did not come to its end."""
    from core.conversation.transcript import is_turn_end, turn_end_in
    from core.events import TurnFinished

    said = [
        record
        for _, record in records
        if isinstance(record, Assistant | ToolResult) or is_turn_end(record)
    ]
    match said[-1:]:
        case [Assistant(calls=(), usage=Usage())]:
            return TurnFinished("done")
        case [StateRecord() as ended]:
            end = turn_end_in(ended)
            return None if end.why == "stopped" else end
    return None


def _turn_of(terminal: MainTerminal, work: _Work) -> Turn:
    """Return the turn of a helper: begun, or gone on with where it was left."""
    from modules.delegation.report import TASK_PREFIX

    history = terminal.history
    if history.turn:
        if not history.unanswered_calls:  # the steps that it had are not given once more
            terminal.step_limit = max(terminal.step_limit - history.reply_count, 1)
        return terminal.continue_turn()
    paths = [path for part in work.files.split(",") if (path := part.strip())]
    mentions = " ".join(f'@"{path}"' if " " in path else f"@{path}" for path in paths)
    first = f"\nLook at these first: {', '.join(paths)}" if paths else ""
    return terminal.run_line(f"{TASK_PREFIX}{work.task.strip()}{first}", (), typed=mentions)


def _used_by_helpers(terminal: MainTerminal) -> Iterable[tuple[str, Usage]]:
    """Yield the task of each helper of the session and what it used, the oldest first."""
    for helper in helpers_in(terminal.history.log):
        from modules.delegation.report import task_in, usage_of  # for who has helpers

        if any(isinstance(record, Assistant) for _, record in helper.records):
            yield task_in(helper.records), usage_of(helper.records)
