"""The hooks of features: each names one thing that a feature may take part in.

A feature lists those that it implements as its bases; `core.feature_set` collects them once, when
a terminal is put together. A hook that only returns something changes nothing by that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from core.cards import Card, Change
from core.conversation.messages import Record
from core.conversation.proof import Proof
from core.feature import (
    BrokenFiles,
    CallsOfMessage,
    EndDecision,
    HookEvent,
    HookVerdict,
    PlannedCheck,
    PostRunConfirmation,
    PromptCommand,
    Question,
    Section,
    SessionHandle,
)
from core.tools import Outcome, RunningTool, Tool
from utils.i18n import Phrase, Text
from utils.llm.completion import Usage
from utils.waiting import Stop

if TYPE_CHECKING:
    from core.events import Informed
    from core.loop.depth import Route
    from core.loop.thinking import Mode, Way

# --- what the model and the person are told ------------------------------------------------------


class ProvidesContext(ABC):
    @abstractmethod
    def context(self) -> Iterable[Section]:
        """Return what the model should know now; asked before every model call: be quick."""


class PreparesContext(ABC):
    @abstractmethod
    def before_request(self) -> None:
        """Be told that the model is about to be asked, before anybody's context is.

        It gets the answers of all calls so far. Be quick.
        """


class CallsForMessages(ABC):
    @abstractmethod
    def calls_for(self, text: str, given: Collection[str]) -> CallsOfMessage:
        """Return the calls that the person's message *text* asks for, to be run before the model.

        Asked only where there is an `@` in it. *given* names the pictures that it has already.
        """


class AsksPerson(ABC):
    @abstractmethod
    def questions(self) -> Sequence[Question]:
        """Return what the person must decide before the model is asked; asked in every step.

        Each is put once.
        """


class OffersCommands(ABC):
    @abstractmethod
    def prompt_commands(self) -> Mapping[str, PromptCommand]:
        """Return the commands of the person's and of the project's there are now, by name.

        Asked for each list and each name that is no command of ours: be quick.
        """


class OffersTools(ABC):
    @abstractmethod
    def listed_tools(self) -> tuple[Tool, ...]:
        """Return the tools that are in the list which the model gets: the same object as long as
        the session is the same, or every request would cost all of its tokens anew."""

    @abstractmethod
    def find_tool(self, name: str) -> Tool | None:
        """Return the tool *name*, in that list or not, None where there is none."""


class ProvidesStatus(ABC):
    @abstractmethod
    def status(self) -> Iterable[tuple[Phrase, Text]]:
        """Return rows for `/status`."""


class ProvidesWarnings(ABC):
    @abstractmethod
    def warnings(self) -> Sequence[Phrase]:
        """Return what the person should see and was not told yet; it counts as told."""


class ProvidesNews(ABC):
    @abstractmethod
    def news(self) -> Sequence[Phrase]:
        """Return what happened beside the conversation and the person was not told yet.

        It counts as told.
        """


class ProposesCommands(ABC):
    @abstractmethod
    def proposals(self) -> Sequence[Informed]:
        """Return what to propose to the person at the end of a turn; each counts as told."""


class RemembersWork(ABC):
    @abstractmethod
    def compaction_notes(self) -> str:
        """Return what the model must not forget when older turns are left out, "" for nothing."""

    @abstractmethod
    def unfinished_work(self) -> Phrase | None:
        """Return what the person should know is left to do when a turn ends."""


class AsksAtEnd(ABC):
    @abstractmethod
    def question_at_end(self) -> str:
        """Return what the model is asked when it ends a task, "" for nothing.

        It is asked at most once in a task.
        """


class KeepsPlans(ABC):
    @abstractmethod
    def keep_plan(self, answer: str) -> str:
        """Keep the plan that *answer*, the last word of a task in plan mode, holds.

        Returns the path of its file, "" where there is none in it. Raises `UserError`.
        """

    @abstractmethod
    def approved_plan(self) -> str:
        """Return what the model is told once the person says yes to the plan that is kept.

        Raises `UserError` where it is gone.
        """


class MarksProgress(ABC):
    @abstractmethod
    def state_fingerprint(self) -> str:
        """Return a short text that is another when something was brought about, "" for nothing.

        Asked after every call: be quick.
        """


class RedactsText(ABC):
    @abstractmethod
    def redact(self, text: str) -> str:
        """Return *text* with names in the place of what nobody may see; see `core.redaction`."""

    @abstractmethod
    def partial_secret_length(self, text: str) -> int:
        """Return how many characters at the end may begin something that nobody may see."""

    @abstractmethod
    def unredact(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return *arguments* with what nobody may see in the place of its names."""


# --- calls ---------------------------------------------------------------------------------------


class FlagsCalls(ABC):
    @abstractmethod
    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        """Return why this call needs the person's leave even in guarded mode, or None."""


class ConfinesRuns(ABC):
    @abstractmethod
    def run_tier(self, tool: Tool, arguments: Mapping[str, Any]) -> str:
        """Return the `RunCard.tier` that this call would have, "" where it runs no program."""


class PreviewsCalls(ABC):
    @abstractmethod
    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card | None:
        """Return what this call would do, None where it is plain from the arguments.

        Raises `ToolError` where it cannot be done; then nobody is asked whether it may.
        """


class RecordsCalls(ABC):
    @abstractmethod
    def before_call(self, call_id: str, turn: int) -> None:
        """Be told that a call that may change the folder is about to run.

        Raises `UserError` when it must not.
        """

    @abstractmethod
    def after_call(self, call_id: str, turn: int) -> None:
        """Be told that such a call is over, however it ended."""


class RunsHooks(ABC):
    @abstractmethod
    def has_hooks(self, event: HookEvent, tool: str = "") -> bool:
        """Return whether a hook of the person's or the project's is to run; be quick."""

    @abstractmethod
    def run_hooks(
        self,
        event: HookEvent,
        tool: str,
        arguments: Mapping[str, Any],
        result: str,
        *,
        is_read_only: bool,
    ) -> HookVerdict:
        """Run those there are, in order, and return what they say; none of them raises.

        Where the session *is_read_only*, nothing of the project's runs.
        """


class ProvesWork(ABC):
    @abstractmethod
    def has_unchecked_changes(self) -> bool:
        """Return whether the task has changed files since they were last checked.

        Asked at the end of a task, before everything below.
        """

    @abstractmethod
    def find_broken(self) -> BrokenFiles | None:
        """Return what cannot be parsed of what the task changed, None for nothing."""

    @abstractmethod
    def next_check(self) -> PlannedCheck | None:
        """Return the next check of the project to run, None when there is no more.

        There is none when the time that all of them have is up.
        """

    @abstractmethod
    def has_failed(self, check: PlannedCheck, outcome: Outcome) -> bool:
        """Return whether *outcome*, what came of *check*, says that the project is not right.

        One that could not be run, or not to its end, says nothing.
        """

    @abstractmethod
    def proof(self, records: Sequence[Record]) -> Proof:
        """Return the proof of the task that *records* are of, oldest first."""


class RunsForPerson(ABC):
    @abstractmethod
    def run_for_person(self, command: str, *, is_private: bool) -> RunningTool:
        """Run *command*, which the person typed, as theirs.

        Of one that *is_private* nothing is kept for the model. Raises `ToolError`.
        """


class RecordsPerson(ABC):
    @abstractmethod
    def person_wrote(self, path: str, before: bytes | None, after: bytes) -> None:
        """Record that the person has made *after* of what the file *path* held, None for nothing.

        It never raises: what a person does is not held up by that.
        """

    @abstractmethod
    def while_person_runs(self) -> AbstractContextManager[None]:
        """Record what the block does to the folder as the person's; it raises what that does."""


class ConfirmsCalls(ABC):
    @abstractmethod
    def confirm_after(self, tool: Tool, call_id: str, stop: Stop) -> PostRunConfirmation | None:
        """Return what is to be decided about a call that is over before anything goes on.

        What takes long is left out from *stop* on.
        """


class FollowsFiles(ABC):
    @abstractmethod
    def on_files_changed(self, changes: Sequence[Change]) -> None:
        """Take note of what a call did to the files."""


# --- what it costs -------------------------------------------------------------------------------


class LimitsSpending(ABC):
    @abstractmethod
    def on_spent(self, usage: Usage) -> None:
        """Be told, from any thread, what one model call has cost, before that is kept."""

    @abstractmethod
    def spending_refusal(self) -> Phrase | None:
        """Return why nothing more may be spent now; asked before every model call: be quick."""

    @abstractmethod
    def cost_rows(self) -> Iterable[tuple[Phrase, Text]]:
        """Return rows for `/cost` and `/status`."""

    @abstractmethod
    def spending_notice(self) -> Phrase | None:
        """Return what is to be said of its cost before a task begins, None where it is cheap."""

    @abstractmethod
    def spending_delay(self) -> tuple[Phrase, float] | None:
        """Return why the next model call waits, and until when (seconds since the epoch).

        Asked again while it waits; None where it may be made now.
        """


class WeighsThinking(ABC):
    @abstractmethod
    def cheaper_way(self) -> Way:
        """Return how the next task is to think: "once" or "low"; be quick."""

    @abstractmethod
    def way_notice(self, way: Way) -> Phrase | None:
        """Return what is to be said before a task that goes *way*, None where that was said."""

    @abstractmethod
    def switch_note(self, mode: Mode) -> Text:
        """Return what the next task costs more if it is done in *mode*, "" for nothing; be quick.

        Asked from any thread.
        """

    @abstractmethod
    def on_switch_told(self, mode: Mode) -> None:
        """Be told that the person has just read `switch_note`."""

    @abstractmethod
    def thinking_rows(self, mode: Mode) -> Iterable[tuple[Phrase, Text]]:
        """Return rows for `/cost`, in *mode*."""


# --- turns ---------------------------------------------------------------------------------------


class PreparesTurns(ABC):
    @abstractmethod
    def on_turn_start(self) -> None:
        """Be told that a turn is about to begin, before it has a number."""


class BeginsWithTurns(ABC):
    @abstractmethod
    def on_turn_begun(self) -> None:
        """Be told that a turn runs from now on, a new one or one that was left; be quick."""


class RoutesTasks(ABC):
    @abstractmethod
    def route(self, line: str) -> Route:
        """Return how deep the task goes that the person's *line* begins; be quick.

        Asked once, when *line* is kept.
        """


class DecidesFailures(ABC):
    @abstractmethod
    def failed_step(self, tool: str) -> EndDecision | None:
        """Return what the person is to decide where a task ends on a failed call of *tool*.

        None where it just ends.
        """


class FinishesTurns(ABC):
    @abstractmethod
    def on_turn_finished(self) -> None:
        """Be told that the turn came to its end, which nobody has seen yet."""


class RestsAfterTurns(ABC):
    @abstractmethod
    def on_turn_end(self) -> None:
        """Be told that the turn is over, however it ended."""


# --- the session ---------------------------------------------------------------------------------


class BindsToSession(ABC):
    @abstractmethod
    def bind(self, session_handle: SessionHandle) -> None:
        """Be told once which conversation it is part of."""


class FollowsSession(ABC):
    @abstractmethod
    def on_session_changed(self, session: str) -> None:
        """Be told that *session* is the one from now on, "" being one that is yet to begin."""


class AsksAgain(ABC):
    @abstractmethod
    def line_to_ask_again(self) -> str:
        """Return the line that asks anew what a turn of the session was left at, "" for nothing."""


class FollowsForks(ABC):
    @abstractmethod
    def on_fork(self, session: str, new_session: str, turn: int) -> None:
        """Be told that *new_session* was made of *session* up to the end of *turn*."""


class KeepsState(ABC):
    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return what belongs to the session, by name, as JSON values."""

    @abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Take back *state*; names that are missing mean the initial state."""

    def on_rewind(self, state: dict[str, Any]) -> None:
        """Be told that the conversation went to another moment, when its state was *state*."""
        self.restore(state)


class HoldsResources(ABC):
    @abstractmethod
    def close(self) -> None:
        """Let go of what is held open; nothing is asked of it after that."""


HOOKS: tuple[type[ABC], ...] = (
    ProvidesContext,
    PreparesContext,
    CallsForMessages,
    AsksPerson,
    OffersCommands,
    OffersTools,
    ProvidesStatus,
    ProvidesWarnings,
    ProvidesNews,
    ProposesCommands,
    RemembersWork,
    AsksAtEnd,
    KeepsPlans,
    MarksProgress,
    RedactsText,
    FlagsCalls,
    ConfinesRuns,
    PreviewsCalls,
    RecordsCalls,
    ConfirmsCalls,
    FollowsFiles,
    LimitsSpending,
    WeighsThinking,
    PreparesTurns,
    BeginsWithTurns,
    RoutesTasks,
    DecidesFailures,
    FinishesTurns,
    RestsAfterTurns,
    RunsHooks,
    ProvesWork,
    RunsForPerson,
    RecordsPerson,
    BindsToSession,
    AsksAgain,
    FollowsSession,
    FollowsForks,
    KeepsState,
    HoldsResources,
)
