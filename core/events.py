"""Everything that happens in a turn, in the order it happens.

A turn yields these; a screen shows them. They are plain values: no event knows a colour, a socket
or a widget, and none carries more than a screen could show.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from core.cards import Card, Change
from core.conversation.citations import Citation
from core.conversation.messages import ResultState
from core.conversation.proof import ChecksResult, Claim, Receipt
from utils.error_codes import ErrorCode
from utils.frozen import frozen
from utils.i18n import Phrase, Text
from utils.llm.completion import Usage
from utils.pictures import Picture
from utils.text.codec import to_plain

CHECK_CALL = "check-"
"""The beginning of the ids of calls that are checks at the end of a task, and no model's."""
PLAN_CALL = "plan-"
"""That of a question about the plan that an answer is."""
FAILED_STEP_CALL = "failed-step-"
"""That of a question about the step that failed at the end of a task."""


@frozen
class Reply:
    """A person's answer to `ApprovalAsked`. No answer at all counts as a no.

    *always* extends a yes to every later call that matches *pattern* in this session; *reason* goes
    with a no, and the model reads it; *arguments* go with a yes to a call and take the place of
    those that the model gave, all of them. One that *lasts* extends it to later sessions as well.
    *text* answers a question of the model's own.
    """

    yes: bool
    always: bool = False
    pattern: str = ""
    reason: str = ""
    arguments: dict[str, Any] | None = None
    lasts: bool = False
    text: str = ""


@frozen
class PersonQuestion:
    """A question that a running tool has to the person; *choices* are answers they may pick.

    The reply to one that is a phrase is its English. *card* shows what it is about.
    """

    text: Text
    choices: tuple[Text, ...] = ()
    card: Card | None = None


@frozen
class TurnStarted:
    """A turn begins with what the person said, and the *pictures* that they gave with it."""

    text: str
    turn: int
    pictures: tuple[Picture, ...] = ()


@frozen
class StepStarted:
    """One model call begins; *step* counts from 1 within the turn."""

    step: int
    thinks: bool


@frozen
class ThinkingDelta:
    """A piece of the thought that the model is having."""

    text: str


@frozen
class ThinkingFinished:
    """The thought of the step is over, *seconds* after it began."""

    seconds: float


@frozen
class TextDelta:
    """A piece of what the model says."""

    text: str


@frozen
class CallDrafted:
    """The model is writing a call's arguments; *characters* counts what has come so far."""

    name: str
    characters: int


@frozen
class Retrying:
    """The reply broke off. What was shown of it since `StepStarted` no longer counts."""

    reason: Phrase
    attempt: int
    seconds: float


@frozen
class Waiting:
    """The next model call waits until *until* (seconds since the epoch), for the reason *why*.

    It counts until the next event comes.
    """

    why: Phrase
    until: float


@frozen
class StepFinished:
    """One model call is over and kept; *usage* is its own."""

    step: int
    usage: Usage


@frozen
class ThoughtKept:
    """The conclusion of the thinking step, carried on as text to the steps that do not think."""

    text: str


@frozen
class Warned:
    """Something the person should see; the turn goes on."""

    what: Phrase


@frozen
class Informed:
    """Something worth a word that wants nothing of the person; *changes* came with it.

    *command* is the slash command that does what it proposes, "" where it proposes nothing. What
    *is_result* is told with the answer of a task that nobody watched. *ends_answer* is whether
    what the model said before is not its answer: another comes.
    """

    what: Phrase
    changes: tuple[Change, ...] = ()
    command: str = ""
    is_result: bool = False
    ends_answer: bool = False


@frozen
class ToolStarted:
    """A call begins; it comes once more, *is_revised*, when the person changed the arguments.

    *tier* is that of `RunCard`, for a call that runs a program now.
    """

    call_id: str
    name: str
    arguments: dict[str, Any]
    is_revised: bool = False
    tier: str = ""


@frozen
class ApprovalAsked:
    """The turn waits for a `Reply`; it comes once more when that was one that cannot be.

    *risk* is that of the tool, "loop" for a task that goes in circles, "loss" for a call that is
    over and deleted much, "protected" for one that changed what a note protects, "told" for what
    the model is to be told, or "question" for the model's own, to be answered by one of the
    *choices* or in other words. *pattern* is what an "always" would cover, "" when there is none;
    only where the reply *may_revise*, it may bear arguments, and only where it *may_last* may it
    last. Where a helper asks, *parent* is the call that it is, and so is *call_id*; *arguments* are
    those of what it wants to do, None where they are the call's own. *key* tells it from every
    other question, also from one about the same call; it is given where the question is put
    (`core.loop.current_question`).
    """

    call_id: str
    name: str
    risk: str
    why: Phrase
    pattern: str
    preview: Card
    may_revise: bool = False
    may_last: bool = False
    choices: tuple[Text, ...] = ()
    parent: str = ""
    arguments: dict[str, Any] | None = None
    key: str = field(default="", compare=False)


@frozen
class ToolOutput:
    """A piece of what a running call prints."""

    call_id: str
    text: str


@frozen
class ToolFinished:
    """A call is over; *error_code* says why it failed or was refused, None otherwise."""

    call_id: str
    name: str
    state: ResultState
    card: Card
    seconds: float
    changes: tuple[Change, ...] = ()
    error_code: ErrorCode | None = None


@frozen
class CommandAnswered:
    """A slash command's answer; *effect* asks the screen itself for something.

    *changes* is what the command did to the files of the project.
    """

    command: str
    card: Card | None = None
    ok: bool = True
    effect: Literal["", "agents", "clear", "exit", "git", "keys", "phone", "session", "theme"] = ""
    changes: tuple[Change, ...] = ()


EndReason = Literal["done", "stopped", "step_limit", "budget", "error", "interrupted"]
"""How a turn ended; "interrupted" is told only of a kept turn that Onefold did not outlive."""


@frozen
class TurnFinished:
    """The last event of a turn; *detail* says more unless *why* is "done".

    *seconds* are without those in which the person was waited for; *still_open* says what of the
    model's own plan is left to do. *error_code* is None where it is done, or stopped by a person.
    *citations* are the sources that the answer names, *unknown_citations* the numbers in it that
    are no source's. *receipts* are what was run, *checks* how those of the project stand, *claims*
    what the answer says of it.
    """

    why: EndReason
    detail: Phrase | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    still_open: Phrase | None = None
    error_code: ErrorCode | None = None
    citations: tuple[Citation, ...] = ()
    unknown_citations: tuple[int, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    checks: ChecksResult = ChecksResult()
    claims: tuple[Claim, ...] = ()


@frozen
class HelperEvent:
    """Something that happens in the turn of a helper, which is the call *parent* of this one.

    Its texts come whole, with each reply. A question of it is none of these: it is asked as any
    other, about the call *parent*.
    """

    parent: str
    event: HelperStep


HelperStep = (
    StepStarted
    | TextDelta
    | Retrying
    | Waiting
    | StepFinished
    | Warned
    | Informed
    | ToolStarted
    | ToolFinished
)
"""What of a helper's turn is shown."""

Event = (
    TurnStarted
    | StepStarted
    | ThinkingDelta
    | ThinkingFinished
    | TextDelta
    | CallDrafted
    | Retrying
    | Waiting
    | StepFinished
    | ThoughtKept
    | Warned
    | Informed
    | ToolStarted
    | ApprovalAsked
    | ToolOutput
    | ToolFinished
    | CommandAnswered
    | HelperEvent
    | TurnFinished
)


def to_json(event: Event) -> dict[str, Any]:
    """Return *event* as a JSON object whose "type" is the event's class name."""
    if isinstance(event, HelperEvent):
        return {"type": HelperEvent.__name__, "parent": event.parent, "event": to_json(event.event)}
    return {"type": type(event).__name__, **to_plain(event)}
