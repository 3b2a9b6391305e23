"""The model's window: how full it is, and how room is made in it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol, assert_never

from core.conversation import compaction
from core.conversation.compaction import FULL, KEPT
from core.conversation.history import DIGEST, SHORTENED, History, TurnRecord, spending
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    StateRecord,
    ToolResult,
    User,
    Wire,
)
from core.events import Event, Warned
from core.feature_set import FeatureSet
from core.session import NamedModel
from core.tools import Toolbox
from utils.context_manager import first_turn_kept
from utils.i18n import Phrase, UserError, phrase
from utils.llm.completion import Completion, ModelError
from utils.pictures import blind_note
from utils.text.tokens import estimate
from utils.waiting import Stop, Stopped


class WindowSource(Protocol):
    """What fills the window."""

    tools: Toolbox
    system_text: str
    context_limit: int
    digest_prompt: str
    stop: Stop

    @property
    def history(self) -> History: ...

    @property
    def model(self) -> NamedModel: ...

    @property
    def features(self) -> FeatureSet: ...

    def record(self, record: Record) -> None: ...

    def requested(self, messages: Sequence[Wire]) -> None: ...


class ContextWindow:
    """Counts what of a *talk* is sent, and lets older turns give way before it is too much.

    At 85 % of the window the older turns are summed up. That is tried once, and not again before
    there was room meanwhile; where it brings nothing, the oldest are left out at 90 %. What is left
    out stays in the log.
    """

    def __init__(self, talk: WindowSource) -> None:
        self._talk = talk
        self._has_made_room = False
        self._refused: tuple[str, int] = ("", 0)
        """A model and the tokens of a request that were too many for it."""

    def next_turn(self) -> None:
        """Allow one more try to sum up, if there is room again since the last one."""
        if self.used <= self.limit * FULL:
            self._has_made_room = False

    @property
    def limit(self) -> int:
        """Tokens that the model can take in: the settings' limit, or less by what was learnt."""
        limit = self._talk.context_limit
        model, tokens = self._refused
        refused = tokens if model == self._talk.model.model else 0
        return min(limit, self._talk.model.profile.window or limit, refused or limit)

    @property
    def used(self) -> int:
        """Tokens of the next request, as far as known."""
        newer = 0
        for _, record in reversed(self._talk.history.records):
            if isinstance(record, StateRecord) and record.name in (
                DIGEST,
                SHORTENED,
                "left_out_before",
            ):
                break  # what was billed before is no measure of what is sent now
            if isinstance(record, Assistant) and record.usage and record.usage.prompt_tokens:
                billed = record.usage.prompt_tokens + record.usage.completion_tokens
                # A reply that was asked for again is billed each time.
                return billed // max(1, record.usage.requests) + newer
            newer += self._tokens(record)
        return sum(self._estimates().values())

    def parts(self) -> dict[str, int]:
        """Return `used` by part: what is known of the whole, shared out as each is estimated."""
        estimates, used = self._estimates(), self.used
        whole = sum(estimates.values())
        parts = {part: size * used // whole for part, size in estimates.items()}
        parts[max(parts, key=parts.__getitem__)] += used - sum(parts.values())
        return parts

    def _estimates(self) -> dict[str, int]:
        sizes = {
            "system": estimate(self._talk.system_text),
            "tools": estimate(str(self._talk.tools.wire)),
        }
        for _, record in self._talk.history.sent:
            match record:
                case Context():
                    part = "context"
                case ToolResult():
                    part = "answers"
                case _:
                    part = "talk"
            sizes[part] = sizes.get(part, 0) + self._tokens(record)
        return sizes

    def fit(self) -> int | None:
        """Leave the oldest turns out if the next request would be too long with them.

        Returns the first turn that is kept then, None if nothing had to be left out.
        """
        used, limit = self.used, self.limit
        if used <= limit // 2:
            return None
        first = first_turn_kept(self._sent_sizes(), used, limit)
        if first is None or self._talk.history.state.get("left_out_before") == first:
            return None
        self._talk.record(StateRecord("left_out_before", first))
        return first

    def _sent_sizes(self) -> list[tuple[int, int]]:
        return [(turn, self._tokens(record)) for turn, record in self._talk.history.sent]

    def _tokens(self, record: Record) -> int:
        has_pictures = isinstance(record, User | ToolResult) and bool(record.pictures)
        return tokens(record, sees=has_pictures and self._talk.model.profile.pictures)

    def make_room(self) -> Iterator[Event]:
        """Sum older turns up when the window is nearly full, or else leave some out; say so."""
        used, limit = self.used, self.limit
        if used <= limit * FULL:
            return
        first = first_turn_kept(self._sent_sizes(), used, limit, full=FULL, kept=KEPT)
        if first is not None and not self._has_made_room:
            self._has_made_room = True
            yield Warned(phrase("The conversation gets long: older turns are summed up."))
            yield Warned(self._sum_up(first, has_to_save=True))
        if (first := self.fit()) is not None:
            yield Warned(
                phrase(
                    "The conversation is too long: the model no longer sees the turns before "
                    "number {turn}. All of it stays in /history and can be read again.",
                    turn=first,
                )
            )
        elif self.used > limit * FULL:
            yield from self._shorten()

    def make_room_again(self) -> Generator[Event, None, bool]:
        """Make room when the model's server refused a request as too long; return whether it did.

        The window is as large as was learnt by that, or else less than was sent.
        """
        size = self._size()
        self._refused = self._talk.model.model, self.used
        limit = self.limit
        first = first_turn_kept(self._sent_sizes(), limit, limit, full=0.0, kept=KEPT)
        if first is not None:
            yield Warned(phrase("The conversation is too long: older turns are summed up."))
            yield Warned(self._sum_up(first, has_to_save=True))
            if self._size() == size:
                self._talk.record(StateRecord("left_out_before", first))
        if first is None or self._size() > limit * FULL:
            yield from self._shorten()
        return self._size() < size

    def _size(self) -> int:
        """Return an estimate of the next request that knows nothing of what was billed."""
        return sum(self._estimates().values())

    def _shorten(self) -> Iterator[Event]:
        """Cut the answers of tools in requests but for the newest; say so."""
        if count := len(self._talk.history.long_answers[:-1]):
            self._talk.record(StateRecord(SHORTENED, count))
            yield Warned(phrase("The model's window is nearly full: earlier answers are cut."))

    def compact(self) -> Phrase:
        """Sum up all turns but the last; say how that went. Raises `UserError`."""
        turns = self._talk.history.turns
        digest = self._talk.history.state.get(DIGEST)
        if len(turns) < 2 or (digest and digest["before"] >= turns[-1]):
            raise UserError(phrase("There is nothing to sum up yet."))
        try:
            return self._sum_up(turns[-1])
        except Stopped:
            raise UserError(phrase("Stopped.")) from None

    def _sum_up(self, first: int, *, has_to_save: bool = False) -> Phrase:
        """Let a digest stand for the turns before *first*; say how that went.

        One that *has_to_save* room is not taken where it would not.
        """
        before = [one for one in self._talk.history.records if one[0] < first]
        if not self._talk.digest_prompt or not before:
            return phrase("Nothing was summed up: there is no prompt for it.")
        try:
            text = self._digest(before)
        except ModelError as error:
            if error.usage.requests:
                self._talk.record(spending(error.usage))
            return phrase("It could not be summed up, so it stays as it was: {why}", why=error.what)
        if not (digest := compaction.checked(text, before)):
            return phrase("The summary was no use, so the conversation stays as it was.")
        used = self.used
        whole = compaction.told(digest, before, self._talk.features.recaps())
        size = sum(size for turn, size in self._sent_sizes() if turn < first)
        if has_to_save and estimate(whole) >= size:
            return phrase("A summary would save nothing, so the conversation stays as it was.")
        self._talk.record(StateRecord(DIGEST, {"before": first, "text": whole}))
        now = self.used
        return phrase(
            "Summed up the turns before number {turn}: {used} tokens are now about {now}. All of "
            "it stays in /history and can be read again.",
            turn=first,
            used=f"{used:,}",
            now=f"{now:,}",
        )

    def _digest(self, before: Sequence[TurnRecord]) -> str:
        """Return what the model makes of the turns; "" when it was cut off. Raises `ModelError`."""
        messages = compaction.request(self._talk.digest_prompt, before, self.limit)
        self._talk.requested(messages)
        for item in self._talk.model.stream(messages, [], think=False, stop=self._talk.stop):
            if isinstance(item, Completion):
                if item.usage:
                    self._talk.record(spending(item.usage))
                return "" if item.is_cut else item.text
        return ""


def tokens(record: Record, *, sees: bool = False) -> int:
    """Return an estimate of the tokens that *record* takes in a request.

    Pictures are counted where the model *sees* them, and else what it is told of them.
    """
    match record:
        case StateRecord():
            return 0
        case Assistant(text, thinking, calls):
            return estimate(text + thinking + "".join(c.name + c.arguments for c in calls)) + 8
        case User(text, pictures) | ToolResult(text=text, pictures=pictures):
            size = sum(p.tokens if sees else estimate(blind_note(p)) for p in pictures)
            return estimate(text) + 8 + size
        case Context(text):
            return estimate(text) + 8
        case _:
            assert_never(record)
