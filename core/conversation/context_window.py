"""The model's window: how full it is, and how room is made in it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Protocol, assert_never

from core.conversation import compaction
from core.conversation.compaction import COMPACT_ABOVE, KEPT_SHARE
from core.conversation.history import (
    MASKED,
    RESULTS_TRUNCATED,
    SUMMARY,
    History,
    TurnRecord,
    usage_record,
)
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    ShellResult,
    StateRecord,
    ToolCall,
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
from utils.pictures import Picture, unseen_note
from utils.text.tokens import estimate_tokens
from utils.waiting import Stop, Stopped


class WindowSource(Protocol):
    """Everything that fills the window."""

    tools: Toolbox
    context_limit: int
    summary_prompt: str
    stop: Stop

    @property
    def system_text(self) -> str: ...

    @property
    def history(self) -> History: ...

    @property
    def model(self) -> NamedModel: ...

    @property
    def features(self) -> FeatureSet: ...

    def record(self, record: Record) -> None: ...

    def announce_request(self, messages: Sequence[Wire]) -> None: ...


class ContextWindow:
    """Counts how much of a *source* is sent, and lets older turns give way before it is too much.

    At 85 % of the window the older turns are summed up. That is tried once, and not again before
    there was room meanwhile; where it brings nothing, the oldest are left out at 90 %. What is left
    out stays in the log.
    """

    def __init__(self, source: WindowSource) -> None:
        self._source = source
        self._has_compacted = False
        self._refused_size: tuple[str, int] = ("", 0)
        """A model and the tokens of a request that were too many for it."""

    def next_turn(self) -> None:
        """Allow one more try to sum up, if there is room again since the last one."""
        if self.used <= self.limit * COMPACT_ABOVE:
            self._has_compacted = False

    @property
    def limit(self) -> int:
        """Tokens that the model can take in: the settings' limit, or less by what was learnt."""
        limit = self._source.context_limit
        model, tokens = self._refused_size
        refused = tokens if model == self._source.model.model else 0
        return min(limit, self._source.model.profile.window or limit, refused or limit)

    @property
    def used(self) -> int:
        """Tokens of the next request, as far as known."""
        tokens_since = 0
        for _, record in reversed(self._source.history.records):
            if isinstance(record, StateRecord) and record.name in (
                SUMMARY,
                RESULTS_TRUNCATED,
                MASKED,
                "left_out_before",
            ):
                break  # what was billed before is no measure of what is sent now
            if isinstance(record, Assistant) and record.usage and record.usage.prompt_tokens:
                billed = record.usage.prompt_tokens + record.usage.completion_tokens
                # A reply that was asked for again is billed each time.
                return billed // max(1, record.usage.requests) + tokens_since
            tokens_since += self._tokens(record)
        return sum(self._estimates().values())

    def tokens_by_part(self) -> dict[str, int]:
        """Return `used` by part: what is known of the whole, shared out as each is estimated."""
        estimates, used = self._estimates(), self.used
        total = sum(estimates.values())
        parts = {part: size * used // total for part, size in estimates.items()}
        parts[max(parts, key=parts.__getitem__)] += used - sum(parts.values())
        return parts

    def _estimates(self) -> dict[str, int]:
        sizes = {
            "system": estimate_tokens(self._source.system_text),
            "tools": estimate_tokens(str(self._source.tools.wire)),
        }
        for _, record in self._source.history.sent:
            match record:
                case Context():
                    part = "context"
                case ToolResult() | ShellResult(read=ToolCall()):
                    part = "answers"
                case _:
                    part = "talk"
            sizes[part] = sizes.get(part, 0) + self._tokens(record)
        return sizes

    def drop_oldest_turns(self) -> int | None:
        """Leave the oldest turns out if the next request would be too long with them.

        Returns the first turn that is kept then, None if nothing had to be left out.
        """
        used, limit = self.used, self.limit
        if used <= limit // 2:
            return None
        first = first_turn_kept(self._sent_sizes(), used, limit)
        if first is None or self._source.history.state.get("left_out_before") == first:
            return None
        self._source.record(StateRecord("left_out_before", first))
        return first

    def _sent_sizes(self) -> list[tuple[int, int]]:
        return [(turn, self._tokens(record)) for turn, record in self._source.history.sent]

    def _tokens(self, record: Record) -> int:
        has_any = isinstance(record, User | ToolResult | ShellResult) and bool(record.pictures)
        return record_tokens(record, sees_pictures=has_any and self._source.model.profile.pictures)

    def compact_if_needed(self) -> Iterator[Event]:
        """Sum older turns up when the window is nearly full, or else leave some out; say so."""
        used, limit = self.used, self.limit
        if used <= limit * COMPACT_ABOVE:
            return
        first = first_turn_kept(
            self._sent_sizes(), used, limit, compact_above=COMPACT_ABOVE, compact_to=KEPT_SHARE
        )
        if first is not None and not self._has_compacted:
            self._has_compacted = True
            yield Warned(phrase("The conversation is getting long. Summarizing older turns."))
            yield Warned(self._summarize(first, must_shrink=True))
        if (first := self.drop_oldest_turns()) is not None:
            yield Warned(
                phrase(
                    "The conversation is too long: the model no longer sees the turns before "
                    "turn {turn}. /history still shows all of it.",
                    turn=first,
                )
            )
        elif self.used > limit * COMPACT_ABOVE:
            yield from self._truncate_results()

    def compact_after_refusal(self) -> Generator[Event, None, bool]:
        """Make room when the model's server refused a request as too long; return whether it did.

        The window is as large as was learnt by that, or else less than was sent.
        """
        size = self._estimated_size()
        self._refused_size = self._source.model.model, self.used
        limit = self.limit
        first = first_turn_kept(
            self._sent_sizes(), limit, limit, compact_above=0.0, compact_to=KEPT_SHARE
        )
        if first is not None:
            yield Warned(phrase("The conversation is too long. Summarizing older turns."))
            yield Warned(self._summarize(first, must_shrink=True))
            if self._estimated_size() == size:
                self._source.record(StateRecord("left_out_before", first))
        if first is None or self._estimated_size() > limit * COMPACT_ABOVE:
            yield from self._truncate_results()
        return self._estimated_size() < size

    def _estimated_size(self) -> int:
        """Return an estimate of the next request that knows nothing of what was billed."""
        return sum(self._estimates().values())

    def _truncate_results(self) -> Iterator[Event]:
        """Cut the answers of tools in requests but for the newest; say so."""
        if count := len(self._source.history.long_results[:-1]):
            self._source.record(StateRecord(RESULTS_TRUNCATED, count))
            yield Warned(
                phrase("The context window is nearly full. Earlier tool results were shortened.")
            )

    def compact(self) -> Phrase:
        """Sum up all turns but the last; say how that went. Raises `UserError`."""
        turns = self._source.history.turns
        summary = self._source.history.state.get(SUMMARY)
        if len(turns) < 2 or (summary and summary["before"] >= turns[-1]):
            raise UserError(phrase("Nothing to summarize yet."))
        try:
            return self._summarize(turns[-1])
        except Stopped:
            raise UserError(phrase("Stopped.")) from None

    def _summarize(self, first: int, *, must_shrink: bool = False) -> Phrase:
        """Let a digest stand for the turns before *first*; say how that went.

        One that *must_shrink* room is not taken where it would not.
        """
        older = [one for one in self._source.history.records if one[0] < first]
        if not self._source.summary_prompt or not older:
            return phrase("Not summarized: the prompt for it is missing.")
        try:
            raw_summary = self._write_summary(older)
        except ModelError as error:
            if error.usage.requests:
                self._source.record(usage_record(error.usage))
            return phrase(
                "Could not summarize; the conversation is unchanged: {why}", why=error.message
            )
        if not (summary := compaction.validate_summary(raw_summary, older)):
            return phrase("The summary was not usable; the conversation is unchanged.")
        used = self.used
        message = compaction.summary_message(
            summary, older, self._source.features.compaction_notes()
        )
        size = sum(size for turn, size in self._sent_sizes() if turn < first)
        if must_shrink and estimate_tokens(message) >= size:
            return phrase("A summary would not save any space; the conversation is unchanged.")
        self._source.record(StateRecord(SUMMARY, {"before": first, "text": message}))
        now = self.used
        return phrase(
            "Summarized the turns before turn {turn}: from {used:,} to about {now:,} tokens. "
            "/history still shows all of it.",
            turn=first,
            used=used,
            now=now,
        )

    def _write_summary(self, turns: Sequence[TurnRecord]) -> str:
        """Return what the model makes of the turns; "" when it was cut off. Raises `ModelError`."""
        messages = compaction.summary_request(self._source.summary_prompt, turns, self.limit)
        self._source.announce_request(messages)
        for item in self._source.model.stream(messages, [], think=False, stop=self._source.stop):
            if isinstance(item, Completion):
                if item.usage:
                    self._source.record(usage_record(item.usage))
                return "" if item.is_cut else item.text
        return ""


def record_tokens(record: Record, *, sees_pictures: bool = False) -> int:
    """Return an estimate of the tokens that *record* takes in a request.

    Pictures are counted where the model *sees* them, and else the note that stands for them.
    """
    match record:
        case StateRecord():
            return 0
        case Assistant(text, thinking, calls):
            return (
                estimate_tokens(text + thinking + "".join(c.name + c.arguments for c in calls)) + 8
            )
        case User(text, pictures) | ToolResult(text=text, pictures=pictures):
            size = _picture_tokens(pictures, sees_pictures=sees_pictures)
            return estimate_tokens(text) + 8 + size
        case ShellResult(command=command, text=text, pictures=pictures):
            size = _picture_tokens(pictures, sees_pictures=sees_pictures)
            return estimate_tokens(command + text) + 50 + size
        case Context(text):
            return estimate_tokens(text) + 8 if text else 0
        case _:
            assert_never(record)


def _picture_tokens(pictures: Iterable[Picture], *, sees_pictures: bool) -> int:
    return sum(p.tokens if sees_pictures else estimate_tokens(unseen_note(p)) for p in pictures)
