"""Parser of a streamed reply, from the data of its events to a whole `Completion`.

What each field means, and what servers really send, is DeepSeek's chat-completions API with
thinking; where other servers are looser (no index, no id, `reasoning`), they are understood too.
"""

from __future__ import annotations

from typing import Any

from utils.llm.calls.leaked_calls import MarkupGuard, calls_at, read_calls
from utils.llm.calls.think_tag import ThinkTag, part_answer
from utils.llm.completion import Completion, Delta, RawCall, Usage
from utils.llm.http.reply_failures import (
    StreamError,
    broken_reply,
    empty_reply,
    filtered_reply,
    leaked_markup,
    overloaded,
    refused_reply,
    too_many_calls,
)
from utils.llm.http.reply_limits import ReplyLimits
from utils.llm.openai_api.event_shapes import (
    call_pieces,
    choices_of,
    delta_of,
    error_of,
    finish_reason_of,
    is_call_part,
    part_text,
    read_event,
    thinking_text,
    unwrapped,
    usage_of,
)
from utils.llm.openai_api.signatures import signatures
from utils.llm.openai_api.streamed_calls import StreamedCalls, repair_surrogates, with_ids
from utils.llm.repetition import TEXT_CHARACTERS, Repetition
from utils.text.strict_json import is_json

_COMPLETE_REASONS = ("stop", "tool_calls", "function_call", "length")
_FILTERED_REASONS = ("content_filter", "sensitive", "safety", "prohibited_content", "recitation")
"""What a reason begins with that the provider's filter gave."""
_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_TRUNCATED_REASONS = (
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "model_context_window_exceeded",
)
_FAILED_REASONS = ("error", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error")


class StreamParser:
    """Collects the events of one stream. Raises `RequestFailed` for more than *max_calls* calls.

    Where it *ends_repetition*, a reply that says the same without end is over as if cut. Where it
    *finds_markup*, call markup in the text is kept off it and read.
    """

    def __init__(
        self,
        max_calls: int = ReplyLimits().calls,
        *,
        ends_repetition: bool = False,
        finds_markup: bool = True,
    ) -> None:
        self._max_calls = max_calls
        self._think_tag = ThinkTag()
        self._text_guard = MarkupGuard(is_on=finds_markup)
        self._thinking_guard = MarkupGuard()
        self._calls = StreamedCalls(max_calls, ends_repetition=ends_repetition)
        self._new_text = ""
        self._new_thinking = ""
        self._new_call_name = ""
        self._new_call_characters = 0
        self._refusal = ""
        self._reasoning_details: list[Any] = []
        self._has_text = self._has_thinking = False
        self._repetitions = {
            name: Repetition(TEXT_CHARACTERS * ends_repetition) for name in ("text", "thinking")
        }
        self.finish_reason = ""
        self.is_done = False
        self.usage: dict[str, Any] = {}
        self.model = ""

    @property
    def has_content(self) -> bool:
        """Whether a part of the reply may have been shown."""
        return bool(self._text_guard.text or self._thinking_guard.text or self._calls)

    def add(self, data: bytes) -> None:
        """Add one event. Raises `RequestFailed` for a broken one, `StreamError` for an error."""
        while data.startswith(b"data:"):  # wrapped once more on its way
            data = data[5:].strip()
        if data.strip(b'"[]') == b"DONE":
            self.is_done = True
            return
        if b"\n" in data and not is_json(data.decode(errors="replace")):
            for line in data.split(b"\n"):  # events without the blank line that parts them
                self.add(line.strip())
            return
        if b"{" not in data:  # a sign of life
            return
        try:
            event = read_event(data)
            if isinstance(event, list):
                for one in event:
                    self._add_event(one)
            else:
                self._add_event(event)
        except (ValueError, TypeError, AttributeError):  # no JSON, or of another shape
            raise broken_reply() from None

    def _add_event(self, event: dict[str, Any]) -> None:
        event = unwrapped(event)
        if error := error_of(event):
            raise StreamError(error)
        self.model = str(event.get("model") or self.model)
        if "usage" in event or "x_groq" in event:
            self.usage = usage_of(event) or self.usage
        for choice in choices_of(event):
            if error := choice.get("error"):
                raise StreamError(error)
            if "usage" in choice:
                self.usage = usage_of(choice) or self.usage
            self._add_delta(delta_of(choice))
            if message := choice.get("message"):
                self._add_delta(self._rest_of(message))
            self.finish_reason = finish_reason_of(choice) or self.finish_reason
        if self._is_repeating:  # it would go on so to the limit of output
            self.finish_reason, self.is_done = "length", True

    def _rest_of(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return what a whole *message* brings that did not come in pieces before."""
        known = {"content"} if self._has_text else set()
        known |= {"tool_calls", "function_call"} if self._calls else set()
        known |= set(_THINKING_KEYS) if self._has_thinking else set()
        return {name: value for name, value in message.items() if name not in known}

    @property
    def _is_repeating(self) -> bool:
        """Whether the reply says the same again and again."""
        watched = self._repetitions.values()
        return self._calls.is_repeating or any(one.block for one in watched)

    def _add_delta(self, delta: dict[str, Any]) -> None:
        if text := delta.get("content") or delta.get("text"):
            if isinstance(text, str):
                self._add_text(text)
            else:
                self._add_parts(text if isinstance(text, list) else [text])
        if isinstance(refusal := delta.get("refusal"), str):
            self._refusal += refusal
        if details := delta.get("reasoning_details"):
            self._reasoning_details += details if isinstance(details, list) else [details]
        for name in _THINKING_KEYS:
            if thinking := delta.get(name):  # some servers send one thought under two names
                self._add_thinking(thinking_text(thinking))
                break
        for piece in call_pieces(delta):
            self._add_call(piece)

    def _add_parts(self, parts: list[Any]) -> None:
        """Take in a content that is a list: its texts, and its thinking and calls apart."""
        for part in filter(None, parts):
            if isinstance(part, str):
                self._add_text(part)
            elif is_call_part(part):
                self._add_call(part)
            elif thinking := part.get("thinking") or part.get("reasoning"):
                self._add_thinking(thinking_text(thinking))
            else:
                self._add_text(part_text(part))

    def _add_text(self, text: str) -> None:
        self._new_text += text
        self._has_text = True
        self._repetitions["text"].feed(text)

    def _add_thinking(self, thinking: str) -> None:
        self._new_thinking += thinking
        self._has_thinking = True
        self._repetitions["thinking"].feed(thinking)

    def _add_call(self, piece: dict[str, Any]) -> None:
        self._new_call_name, characters = self._calls.add(piece)
        self._new_call_characters += characters

    def take_delta(self) -> Delta | None:
        """Return the content since the last call as one delta, None if there is nothing to show."""
        thinking = (
            self._thinking_guard.feed(repair_surrogates(self._new_thinking))
            if self._new_thinking
            else ""
        )
        text = repair_surrogates(self._new_text) if self._new_text else ""
        if text and not self._think_tag.is_done:
            thought, text = self._think_tag.feed(text)
            thinking += self._thinking_guard.feed(thought) if thought else ""
        if text:
            text = self._text_guard.feed(text)
        name, characters = self._new_call_name, self._new_call_characters
        self._new_text = self._new_thinking = self._new_call_name = ""
        self._new_call_characters = 0
        return Delta(text, thinking, name, characters) if text or thinking or name else None

    def close(self) -> Delta | None:
        """Return what was still held back and may be shown. Raises `RequestFailed` for a broken
        stream."""
        if self.finish_reason.startswith(_FILTERED_REASONS):
            raise filtered_reply()
        if "malformed_function_call" in self.finish_reason:
            raise leaked_markup()
        if self.finish_reason == "insufficient_system_resource":
            raise overloaded()
        if not self._is_ended:
            raise broken_reply()
        has_end = self.finish_reason in _TRUNCATED_REASONS or bool(self._calls)
        text = (
            self._text_guard.feed(self._think_tag.close(is_thought=has_end))
            + self._text_guard.close()
        )
        thinking = self._thinking_guard.close()
        if self._text_guard.markup and not _is_intended_call(
            self._text_guard.text, self._text_guard.markup
        ):
            text += self._text_guard.release()
        return Delta(text, thinking) if text or thinking else None

    @property
    def _is_ended(self) -> bool:
        """Whether the reply came to its end.

        Where no reason, or one that only this server knows, stands for it, every call has to be
        whole: a call that was cut must never run.
        """
        if self.finish_reason in _COMPLETE_REASONS or self.finish_reason in _TRUNCATED_REASONS:
            return True
        if self.finish_reason in _FAILED_REASONS or not (self.is_done or self.finish_reason):
            return False
        return self._calls.are_whole

    def completion(self, usage: Usage) -> Completion:
        """Return the reply, closed before. Raises `RequestFailed` if nothing in it is of use."""
        is_cut = self.finish_reason in _TRUNCATED_REASONS
        calls = self._calls.read(is_cut=is_cut) or self._recovered_calls(is_cut)
        thought, text = part_answer(self._text_guard.text)
        if len(calls) > self._max_calls:  # written as markup
            raise too_many_calls(self._max_calls)
        if not text.strip() and not calls and not is_cut:
            if self._refusal.strip():
                raise refused_reply(self._refusal)
            raise empty_reply(self._thinking_guard.text)
        calls_with_ids = with_ids(calls)
        return Completion(
            self._repetitions["text"].shortened(text),
            self._repetitions["thinking"].shortened(self._thinking_guard.text + thought),
            calls_with_ids,
            usage,
            is_cut,
            signatures(calls_with_ids, self._reasoning_details),
            is_repeating=self._is_repeating,
        )

    def _recovered_calls(self, is_cut: bool) -> list[RawCall]:
        """Return the calls written as markup, in the text or, of a reply without one, in thought.

        A reply that the output limit cut off amid markup has none: the rest was asked for in vain.
        """
        if self._text_guard.has_leaked and not is_cut:
            raise leaked_markup()
        markup = self._text_guard.markup
        if not markup and not self._text_guard.text.strip():
            guard = self._thinking_guard
            markup = guard.markup if _is_intended_call(guard.text, guard.markup) else ""
        calls = read_calls(markup)
        if calls is None:
            if markup and not is_cut:
                raise leaked_markup()
            return []
        return [RawCall("", call.name, call.arguments, is_recovered=True) for call in calls]


def _is_intended_call(before: str, markup: str) -> bool:
    """Return whether *markup* is meant as calls, whole or not, behind what was said *before*."""
    from utils.llm.calls.call_context import is_example, is_intended  # 10 ms for its patterns

    calls, end = calls_at(markup, 0)
    if calls is None:
        return not is_example(before, markup.rpartition(">")[2]) and is_intended(before, "", "")
    return is_intended(before, before[len(before.rstrip()) :], markup[end:])
