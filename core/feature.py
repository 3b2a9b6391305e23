"""A feature: one subject of the product, with all that it brings to a session in one class.

A feature may have tools (`@tool` methods) and slash commands (`@command` methods). What else it
takes part in (what the model should always know, rows of `/status`, state that is kept with the
session …) it names as its bases: see `core.hooks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from core.cards import Card, Change
from utils.frozen import frozen
from utils.i18n import Phrase, Text, phrase

if TYPE_CHECKING:
    from core.conversation.history import History
    from core.conversation.messages import Record, ToolCall
    from core.events import PersonQuestion
    from core.loop.current_question import CurrentQuestion
    from core.loop.direct_calls import DirectContext
    from core.loop.turn_context import Turn
    from core.observer import Observer
    from core.tools import Outcome, Toolbox

_CHOICES = re.compile(r" \[([^\[\]]+)\]")
_CHOICE = re.compile(r"[a-z][a-z-]*")
Method = TypeVar("Method", bound=Callable[..., Any])


class SessionHandle(Protocol):
    """The conversation that features are part of, as far as they may touch it."""

    tools: Toolbox
    model: Any
    observer: Observer | None
    task: str
    """What the person last said to the model, "" for nothing yet: known before it is recorded."""
    is_in_turn: bool
    """Whether a turn runs; one does to its very end, which comes after the model's last word."""

    question: CurrentQuestion
    """What is asked now, which may be answered from elsewhere."""

    @property
    def session(self) -> str: ...
    @property
    def locked_by(self) -> Phrase | None:
        """The process that runs the session, where it may only be read."""

    @property
    def history(self) -> History: ...
    @property
    def allows_all(self) -> bool:
        """Whether nobody is asked about anything: the approval mode is "all"."""

    @property
    def context_used(self) -> tuple[int, int]: ...

    def rewind(self, turn: int, key: int) -> None:
        """Take back *turn* and all after it, with the state of the features; see `History`.

        Done again with the same *key*, after a kill, it does only the rest.
        """

    def undo_rewind(self, key: int) -> bool:
        """Take back the rewinding *key*; return whether there was one. As `rewind` after a kill."""

    def leave_plan_mode(self) -> None:
        """Go on in the mode in which a plan is done, where this is plan mode."""

    def begin_turn(self, line: str) -> int:
        """Begin a turn for what the command in *line* does to the files; return its number."""

    def record(self, record: Record) -> None:
        """Keep *record* without what nobody may see; it is durable on return."""

    def save_state(self) -> None:
        """Keep what changed of the state of the features; it is durable on return."""

    def resume(self, id_prefix: str = "") -> str:
        """Go on with another session."""

    def fork(self, turn: int) -> str:
        """Begin a session with all up to the end of *turn*; return its id."""

    def redact(self, text: str) -> str:
        """Return *text* without what nobody may see."""

    def announce(self, what: Phrase) -> bool:
        """Tell the person, from any thread, what happened beside the conversation.

        Return whether that could be done; else it is news for the next turn.
        """

    def refresh(self) -> None:
        """Let the screens show anew, from any thread, what features say of themselves."""


@frozen
class Section:
    """A part of what the model should know now. *name* is its stable key; *text* what is true.

    An empty *text* means that there is nothing to know. *describe_change* may give a shorter text
    for a model that knows another version, "" where it needs no word. *derive* gives, from the
    version that it was told, the one that it knows since by its own calls. What was told under
    *former_name* is a version too. *telling* is whether it is told where it "changed", "again" all
    the same, or not at all as a call that the model just made has it "known".
    """

    name: str
    text: str
    describe_change: Callable[[str], str] | None = None
    derive: Callable[[str], str] | None = None
    former_name: str = ""
    telling: Literal["changed", "again", "known"] = "changed"


@frozen
class PostRunConfirmation:
    """A decision for the person about a call that is over: *what* it did in a sentence or two,
    and *card* shows it.

    *revert* takes all of it back; it raises `UserError` if that is not possible. What broke what is
    "protected" by a note is taken back without asking in the mode that asks nothing.
    """

    what: Phrase
    card: Card
    revert: Callable[[], None]
    kind: Literal["loss", "protected"] = "loss"


Answer = Literal["yes", "no", "allowed", "nobody"]
"""An answer to a `Question`: "allowed" in the mode that asks nothing, "nobody" for none."""


@frozen
class Question:
    """A question beside the calls, about the file *path*: *card* shows what it is about.

    *subject* stands in the place of a tool's name. *answer* takes the answer, once, and returns
    what came of it.
    """

    id: str
    subject: str
    path: str
    why: Phrase
    card: Card
    answer: Callable[[Answer], Phrase]


@frozen
class Decided:
    """What came of a person's decision; the task *goes_on* with what the model reads of it."""

    outcome: Outcome
    goes_on: bool


@frozen
class EndDecision:
    """A decision where a task would end: *decide* takes the answer, None being nobody's."""

    question: PersonQuestion
    decide: Callable[[str | None], Decided]


HookEvent = Literal["PreToolUse", "PostToolUse", "Stop"]
"""A moment at which hooks run: before a call, after it, and at the end of a task."""


@frozen
class HookVerdict:
    """What hooks have said: *denial* and *notes* to the model, *why* and *problems* to the person.

    A *denial* of "" is none. *changes* is what they did to the files.
    """

    denial: str = ""
    why: Text = ""
    notes: tuple[str, ...] = ()
    problems: tuple[Phrase, ...] = ()
    changes: tuple[Change, ...] = ()


@frozen
class CallsOfMessage:
    """The *calls* that a message of the person's asks for, and *problems* with others of them."""

    calls: Sequence[ToolCall]
    problems: Sequence[Phrase] = ()


@frozen
class PlannedCheck:
    """A check of the project to run as the call *id*: a *command*, for *seconds* at most."""

    id: str
    command: str
    seconds: int


@frozen
class BrokenFiles:
    """What cannot be parsed, or imports what is not there, and the call *id* that found it.

    *command* names the look at it, *text* says what was found.
    """

    id: str
    command: str
    text: str
    card: Card


class Feature:
    """One subject of the product in one class; its other bases are the hooks that it implements."""

    stands_in_for: Sequence[type] = ()
    """The classes whose tools an earlier session may have used, and this one does not offer."""


@frozen
class CommandSpec:
    """Declaration of a slash command: all that the rest has to know of it, said once.

    *usage* is as "/note PATH TEXT", *help* one sentence. Calling it marks a method as that command;
    the method takes the rest of the line, stripped.
    """

    usage: str
    help: str
    _: KW_ONLY
    is_concurrent: bool = False
    """Whether it leaves the conversation alone, and so may run while a turn does."""
    is_of_project: bool = False
    """Whether it is about the project alone, and so can be had in a session that is only read."""
    takes_back: bool = False
    """Whether it changes what was said, and so cannot be had in a session that is only read."""
    changes_files: bool = False
    """Whether it may change the files of the project by other ways than tools."""
    leads_to: Literal["", "new", "known", "copy"] = ""
    """The other session that it leads to, which has a runner of its own in the browser."""
    belongs_to_session: bool = False
    """Whether it makes little sense in a session that has just begun, as with a lone `-p`."""
    option: str = ""
    """The option that does the same for one `-p`."""
    shows_alone: bool = False
    """Whether it changes nothing where nothing follows it."""
    kept: tuple[str, ...] = ()
    """The words behind it for what is kept beyond the session."""
    calls: str = ""
    """The method that returns the calls which it makes in a turn of their own; takes the rest of
    the line as well. Where there are none it is answered at once."""
    turn: str = ""
    """The method that returns the `OwnTurn` which it is; takes the rest of the line as well.
    Where that returns None it is answered at once."""
    button: str = ""
    """What the buttons of the page call it by."""
    shortcut: str = ""
    """The characters each of which, typed at the beginning of a line, stands for its name."""
    completes: str = ""
    """The method that returns the words that may be typed next; takes those before them.
    Without one they are the choices in *usage*."""

    @property
    def name(self) -> str:
        return self.usage.split()[0]

    @property
    def choices(self) -> list[str]:
        """The words of *usage* that may stand first behind the name as they are written there."""
        if not (choices := _CHOICES.search(self.usage)):
            return []
        words = [choice.split()[0] for choice in choices[1].split("|") if choice.strip()]
        return [word for word in words if _CHOICE.fullmatch(word)]

    def __call__(self, method: Method) -> Method:
        method.__command__ = self  # type: ignore[attr-defined]
        return method


command = CommandSpec


@frozen
class PromptCommand:
    """A slash command that says something to the model: a text in the file *path*.

    *problem* is why it cannot be used. *programs* gives, for what stands behind the name, what is
    to be run first, in the sandbox; *expand* makes the message of that and of what they printed,
    or raises `UserError` or `Stopped`.
    Unless it *is_confirmed* the person is asked before they run, and *confirm* keeps a yes. Where
    there are *tools*, the task may use no others; *model* is the one it wants.
    """

    usage: str
    help: Phrase
    path: str
    body: str
    programs: Callable[[str], Sequence[str]]
    expand: Callable[[str, Sequence[str]], str]
    is_confirmed: bool = True
    confirm: Callable[[], None] = lambda: None
    model: str = ""
    tools: tuple[str, ...] = ()
    problem: Text = ""
    refusal: Callable[[str], Text] = lambda _: ""
    """What says why nothing can be done with what stands behind the name, before a turn begins; ""
    where something can."""
    is_help_only: bool = False
    """Whether it is no command at all, and only the help says why."""
    completes: Callable[[Sequence[str]], Sequence[str]] | None = None
    """What returns the words that may be typed next: see `CommandSpec.completes`."""
    calls: Callable[[str], Sequence[ToolCall]] | None = None
    """What returns the calls that it makes instead, in a turn of their own, for some of what may
    stand behind its name: see `CommandSpec.calls`."""


class OwnTurn(Protocol):
    """What a command does in a turn of its own, without the model of the session."""

    def __call__(self, context: DirectContext, line: str, queued: Sequence[str]) -> Turn:
        """Yield the events of the turn that has begun, for the command as *line* says it."""


@frozen
class Command:
    """A slash command of a session.

    *run* takes the rest of the line and returns a `Card`, or a `CommandAnswered` where the screen
    has something to do as well. Raises `UserError` or `ToolError` for a mistake of the person.
    """

    spec: CommandSpec
    run: Callable[[str], Any]
    own_help: Phrase | None = None
    """The sentence on one that is no command of ours."""
    prompt: PromptCommand | None = None
    """What it says to the model; then *run* is for where no turn can begin."""
    calls: Callable[[str], Sequence[ToolCall]] | None = None
    """What returns the calls that it makes in a turn of their own: see `CommandSpec.calls`."""
    completes: Callable[[Sequence[str]], Sequence[str]] | None = None
    """What returns the words that may be typed next: see `CommandSpec.completes`."""
    turn: Callable[[str], OwnTurn | None] | None = None
    """What returns the turn of its own which it is: see `CommandSpec.turn`."""

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def usage(self) -> str:
        return self.spec.usage

    @property
    def is_completed(self) -> bool:
        """Whether `next_words` can return any."""
        return bool(self.completes or self.spec.choices)

    def next_words(self, typed: str) -> list[str]:
        """Return the words that may take the place of the last one in *typed*, behind the name."""
        *before, start = re.split(r"\s+", typed.lstrip())
        choices = () if before else self.spec.choices
        words = self.completes(before) if self.completes else choices
        return [word for word in words if word.startswith(start) and word.isprintable()]

    @property
    def help(self) -> Phrase:
        return self.own_help or phrase(self.spec.help)


def commands_of(feature: object) -> Iterable[Command]:
    """Return the commands of *feature* in the order they are written."""
    for name, member in vars(type(feature)).items():
        spec: CommandSpec | None = getattr(member, "__command__", None)
        if spec is not None:
            calls = getattr(feature, spec.calls) if spec.calls else None
            completes = getattr(feature, spec.completes) if spec.completes else None
            turn = getattr(feature, spec.turn) if spec.turn else None
            run = getattr(feature, name)
            yield Command(spec, run, calls=calls, completes=completes, turn=turn)


def buttons_of(commands: Iterable[Command]) -> dict[str, str]:
    """Return the names of those of *commands* that have a button, by what it calls them by."""
    return {command.spec.button: command.name for command in commands if command.spec.button}


def name_of(method: Callable[..., Any]) -> str:
    """Return the name of the command that *method* is, with its slash."""
    spec: CommandSpec = method.__command__  # type: ignore[attr-defined]
    return spec.name
