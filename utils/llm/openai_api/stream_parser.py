"""Parser of a streamed reply, from the data of its events to a whole `Completion`.

What each field means, and what servers really send, is DeepSeek's chat-completions API with
thinking; where other servers are looser (no index, no id, `reasoning`), they are understood too.
"""

from __future__ import annotations

import json
import secrets
import string
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from utils.llm.calls.leaked_calls import MarkupGuard, calls_at, read_calls
from utils.llm.calls.lenient_json import repair_object
from utils.llm.calls.think_tag import ThinkTag, part_answer
from utils.llm.completion import Completion, Delta, RawCall, Usage
from utils.llm.http.reply_failures import (
    StreamError,
    broken_reply,
    empty_reply,
    filtered_reply,
    leaked_markup,
    overloaded,
    too_many_calls,
)
from utils.llm.http.reply_limits import ReplyLimits
from utils.llm.openai_api.event_shapes import (
    call_pieces,
    choices_of,
    delta_of,
    error_of,
    is_call_part,
    part_text,
    thinking_text,
    without_placeholder,
)
from utils.llm.repetition import ARGUMENT_CHARACTERS, TEXT_CHARACTERS, Repetition
from utils.text.strict_json import is_json, read_json

_ID_LETTERS = string.ascii_letters + string.digits
_COMPLETE_REASONS = ("stop", "tool_calls", "function_call", "length")
_THINKING_KEYS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_TRUNCATED_REASONS = ("length", "max_tokens", "max_output_tokens", "model_length")
_FAILED_REASONS = ("error", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error")


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    repetition: Repetition = field(default_factory=lambda: Repetition(0))

    @property
    def is_complete(self) -> bool:
        """Whether its arguments are a whole object already, so that no more can come."""
        looks_complete = bool(self.pieces) and self.pieces[-1].rstrip().endswith("}")
        return looks_complete and is_json(self.arguments)

    def add_name(self, name: str) -> None:
        """Take in *name*: all of it, told once or with each piece, or the next part of it."""
        is_next_part = bool(self.name) and not self.pieces and not name.startswith(self.name)
        self.name = self.name + name if is_next_part else name or self.name

    @property
    def arguments(self) -> str:
        """All of them: the pieces put together, or the last one where that holds the others.

        Some servers send with each piece all that came before it, or all of it once more.
        """
        text = "".join(self.pieces)
        if len(self.pieces) < 2 or is_json(text):
            return text
        *others, last = pieces = without_placeholder(self.pieces)
        is_cumulative = all(after.startswith(before) for before, after in pairwise(pieces))
        return last if is_cumulative or "".join(others) == last else "".join(pieces)


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
        self._ends_repetition = ends_repetition
        self._think_tag = ThinkTag()
        self._text_guard = MarkupGuard(is_on=finds_markup)
        self._thinking_guard = MarkupGuard()
        self._calls: list[_Call] = []
        self._call_at: dict[int, _Call] = {}
        self._new_text = ""
        self._new_thinking = ""
        self._new_call_name = ""
        self._new_call_characters = 0
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
            self._add_event(read_json(data.decode()))
        except (ValueError, TypeError, AttributeError):  # no JSON, or of another shape
            raise broken_reply() from None

    def _add_event(self, event: dict[str, Any]) -> None:
        if error := error_of(event):
            raise StreamError(error)
        self.model = str(event.get("model") or self.model)
        if isinstance(usage := event.get("usage"), dict):
            self.usage = usage or self.usage
        for choice in choices_of(event):
            self._add_delta(delta_of(choice))
            if message := choice.get("message"):
                self._add_delta(self._rest_of(message))
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
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
        watched = (*self._repetitions.values(), *(call.repetition for call in self._calls))
        return any(one.block for one in watched)

    def _add_delta(self, delta: dict[str, Any]) -> None:
        if text := delta.get("content") or delta.get("text"):
            if isinstance(text, str):
                self._add_text(text)
            else:
                self._add_parts(text if isinstance(text, list) else [text])
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
        """Add to a call what *piece* brings, which some servers repeat from the start."""
        call = self._call_of(piece)
        function = piece.get("function") or piece
        call.id = str(piece.get("id") or call.id)
        call.add_name(str(function.get("name") or ""))
        argument_values = [
            function[key] for key in ("arguments", "parameters", "input") if function.get(key)
        ]
        arguments = argument_values[0] if argument_values else ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        if arguments:
            call.pieces.append(arguments)
            call.repetition.feed(arguments)
        self._new_call_name = call.name
        self._new_call_characters += len(arguments)

    def _call_of(self, piece: dict[str, Any]) -> _Call:
        """Return the call that *piece* belongs to.

        Servers that number no calls, or all of them 0, tell a new one by its new id; those that
        give no ids either, by its name when the one before is whole.
        """
        index = piece.get("index") or 0
        call = self._call_at.get(index)
        new_id = str(piece.get("id") or "")
        if call is None and self._calls and self._goes_on(self._calls[-1], new_id, piece):
            call = self._calls[-1]
        if call is None or self._begins_another(call, new_id, piece):
            if len(self._calls) == self._max_calls:
                raise too_many_calls(self._max_calls)
            call = _Call(repetition=Repetition(ARGUMENT_CHARACTERS * self._ends_repetition))
            self._calls.append(call)
            self._call_at[index] = call
        return call

    @staticmethod
    def _goes_on(call: _Call, new_id: str, piece: dict[str, Any]) -> bool:
        """Return whether *piece*, under a number of its own, is a part of *call* all the same."""
        has_name = bool((piece.get("function") or piece).get("name"))
        return not has_name and new_id in ("", call.id) and not call.is_complete

    @staticmethod
    def _begins_another(call: _Call, new_id: str, piece: dict[str, Any]) -> bool:
        has_name = bool((piece.get("function") or piece).get("name"))
        if new_id:  # some give each piece an id of its own
            is_other = bool(call.id) and new_id != call.id
            return is_other and (has_name or call.is_complete)
        return has_name and call.is_complete

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
        if self.finish_reason == "content_filter":
            raise filtered_reply()
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
        return all(_is_object(repair_surrogates(call.arguments)) for call in self._calls)

    def completion(self, usage: Usage) -> Completion:
        """Return the reply, closed before. Raises `RequestFailed` if nothing in it is of use."""
        is_cut = self.finish_reason in _TRUNCATED_REASONS
        calls = self._streamed_calls(is_cut) or self._recovered_calls(is_cut)
        thought, text = part_answer(self._text_guard.text)
        if len(calls) > self._max_calls:  # written as markup
            raise too_many_calls(self._max_calls)
        if not text.strip() and not calls and not is_cut:
            raise empty_reply()
        return Completion(
            self._repetitions["text"].shortened(text),
            self._repetitions["thinking"].shortened(self._thinking_guard.text + thought),
            with_ids(calls),
            usage,
            is_cut,
            is_repeating=self._is_repeating,
        )

    def _streamed_calls(self, is_cut: bool) -> list[RawCall]:
        calls = []
        for call in self._calls:
            arguments = call.repetition.shortened(repair_surrogates(call.arguments))
            is_call_cut = is_cut and (call is self._calls[-1] or not is_json(arguments))
            if not is_cut:
                arguments = _repaired_arguments(arguments)
            name = call.name.partition("<|")[0].strip()  # gpt-oss lets its tokens through
            calls.append(RawCall(call.id, name, arguments, is_call_cut))
        return calls

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


def _repaired_arguments(arguments: str) -> str:
    """Return *arguments* repaired to the JSON of an object, or as they are if that fails."""
    try:
        return repair_object(arguments)
    except ValueError:
        return arguments


def _is_object(arguments: str) -> bool:
    try:
        repair_object(arguments)
    except ValueError:
        return False
    return True


def with_ids(calls: list[RawCall]) -> tuple[RawCall, ...]:
    """Give every call an id that no other has; those of the server are kept."""
    seen: set[str] = set()
    numbered = []
    for number, call in enumerate(calls):
        call_id = call.id if call.id and call.id not in seen else _new_id(number)
        seen.add(call_id)
        numbered.append(RawCall(call_id, call.name, call.arguments, call.is_cut))
    return tuple(numbered)


def _new_id(number: int) -> str:
    """Return an id in DeepSeek's form."""
    return f"call_{number:02d}_" + "".join(secrets.choice(_ID_LETTERS) for _ in range(24))


def repair_surrogates(text: str) -> str:
    """Return *text* with halves of surrogate pairs put together, or replaced where alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
