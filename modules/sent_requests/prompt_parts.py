"""The parts of a request: what the model read, in its order, and where each came from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from core.cards import PromptSource
from core.conversation.compaction import TURN_HEADING
from core.conversation.history import SUMMARY, TurnRecord
from core.conversation.messages import Context, ShellResult, StateRecord, ToolCall, User
from utils.i18n import Phrase, Text, phrase
from utils.llm.protocols.vcp_messages import RESULT
from utils.text.clean import visible

NOTE_MARK = "[Note from the system]\n"
"""Begins what is context, where a server takes that as words of the person only."""
_ANSWER_MARK = "[Answer of "
"""Begins the answer of a call, where a server takes no such messages."""
_FOCUS, _GAP = "focus:", "\n\n"
_SECTION_LABELS = {
    "place": phrase("folder and date"),
    "approval": phrase("approval"),
    "files": phrase("project map"),
    "memory": phrase("memory"),
    "notes": phrase("notes"),
    "secrets": phrase("names of secrets"),
    "instructions": phrase("your own AGENTS.md"),
    "taken back": phrase("what was undone"),
    "earlier sessions": phrase("earlier sessions"),
}

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of what the model read; two are the same that say the same from the same source."""

    source: PromptSource
    label: Text = field(compare=False)
    text: str


class Origins:
    """Knows by the records of a session what its messages, which name a role only, come from."""

    def __init__(self, log: Iterable[TurnRecord]) -> None:
        self._sections: dict[str, Mapping[str, str | None]] = {}
        self._own: dict[str, Part] = {}
        for _, record in log:
            match record:
                case User(text):
                    self._own[text] = Part("person", phrase("person"), text)
                case ShellResult(read=ToolCall(name=name)):
                    text = record.to_wire()["content"]
                    label = phrase("read for an @: {name}", name=visible(name))
                    self._own[text] = Part("answers", label, text)
                case ShellResult(check=check):
                    text = record.to_wire()["content"]
                    label = phrase("project check") if check else phrase("your command")
                    self._own[text] = Part("answers" if check else "person", label, text)
                case Context(text, sections) if text:
                    self._sections[text] = sections
                    self._sections |= {one: {name: one} for name, one in sections.items() if one}
                case StateRecord(name, {"text": str(text)}) if name == SUMMARY:
                    self._own[text] = Part("context", phrase("summary"), text)

    def is_turns(self, text: str) -> bool:
        """Return whether *text* is turns that are to be summed up, and no word of the person's."""
        return text.startswith(TURN_HEADING) and text not in self._own

    def system_parts(self, text: str) -> Iterator[Part]:
        """Yield the parts of the first system message: some servers take context in no other."""
        tail: list[Part] = []
        while known := next((c for c in self._sections if text.endswith(f"{_GAP}{c}")), ""):
            text = text.removesuffix(f"{_GAP}{known}")
            tail = [*self.context_parts(known), *tail]
        yield Part("system", phrase("instructions"), text)
        yield from tail

    def user_parts(self, text: str) -> Iterator[Part]:
        """Yield the parts of a message in the person's role."""
        if own := self._own.get(text):
            yield own
        elif NOTE_MARK in text:
            head, *notes = text.split(NOTE_MARK)
            if head:
                yield self._own.get(head.strip(), Part("person", phrase("person"), head))
            for note in notes:
                yield from self.context_parts(note)
        elif self.is_turns(text):
            yield Part("context", phrase("turns to summarize"), text)
        elif text.startswith((RESULT, _ANSWER_MARK)):
            yield Part("answers", phrase("tool results"), text)
        else:
            yield Part("person", phrase("sent as user messages"), text)

    def context_parts(self, text: str) -> Iterator[Part]:
        """Yield a message of context by its sections; together they are all of *text*."""
        if own := self._own.get(text):
            yield own
            return
        sections = self._sections.get(text.strip("\n"), {})
        starts = sorted((text.find(one), name) for name, one in sections.items() if one)
        marks = [(at, name) for at, name in starts if at >= 0]
        unplaced = [name for name in sections if name not in {name for _, name in marks}]
        if not marks or marks[0][0] > 0:
            marks = [(0, ", ".join(unplaced)), *marks]
        for (start, name), (end, _) in zip(marks, [*marks[1:], (len(text), "")], strict=True):
            if start < end:
                yield Part("context", _section_label(name), text[start:end])


def _section_label(name: str) -> Text:
    if not name:
        return phrase("Onefold note")
    if name.startswith(_FOCUS) and ", " not in name:
        return phrase("focus: {path}", path=visible(name.removeprefix(_FOCUS)))
    return _SECTION_LABELS.get(name, visible(name))


def parts_of(body: Json, origins: Origins) -> list[Part]:
    """Return the parts of a request, of either API, in the order in which a server reads them."""
    tools = [_tools_part(body["tools"])] if body.get("tools") else []
    if system := body.get("system"):  # Anthropic's
        first, *others = [block["text"] for block in system]
        parts = [*tools, *origins.system_parts(first)]
        for text in others:
            parts += origins.context_parts(text)
        return [*parts, *_message_parts(body["messages"], origins)]
    first_parts, messages = _first_parts(body["messages"], origins)
    return [*first_parts, *tools, *_message_parts(messages, origins)]


def asks_for_summary(body: Json, origins: Origins) -> bool:
    """Return whether a request is one beside the conversation: to sum up turns of it."""
    last = body["messages"][-1]["content"]
    text = last if isinstance(last, str) else "".join(block.get("text", "") for block in last)
    return not body.get("tools") and origins.is_turns(text)


def tool_names(body: Json) -> tuple[str, ...]:
    """Return the names of the tools that a request offers."""
    return tuple(tool.get("function", tool).get("name", "") for tool in body.get("tools", ()))


def _tools_part(tools: Sequence[Json]) -> Part:
    declared = [{k: v for k, v in tool.items() if k != "cache_control"} for tool in tools]
    text = "\n".join(json.dumps(tool, ensure_ascii=False) for tool in declared)
    return Part("tools", phrase("tools: {n:,}", n=len(tools)), text)


def _first_parts(messages: Sequence[Json], origins: Origins) -> tuple[list[Part], Sequence[Json]]:
    """Return the parts of the system message that *messages* begin with, and those behind it."""
    if not messages or messages[0]["role"] != "system":
        return [], messages
    return list(origins.system_parts(messages[0]["content"])), messages[1:]


def _message_parts(messages: Sequence[Json], origins: Origins) -> Iterator[Part]:
    names: dict[str, str] = {}
    for message in messages:
        content = message.get("content") or ()
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        match message["role"]:
            case "system":
                yield from origins.context_parts("".join(block["text"] for block in blocks))
            case "assistant":
                yield from _reply_parts(message, blocks, names)
            case "tool":
                yield _answer(names.get(message["tool_call_id"], ""), blocks)
            case _:
                for block in blocks:
                    yield from _given_parts(block, names, origins)


def _reply_parts(message: Json, blocks: Sequence[Json], names: dict[str, str]) -> Iterator[Part]:
    """Yield the parts of a reply of the model; note in *names* what its calls are called."""
    if thoughts := message.get("reasoning_content"):
        yield _thoughts(thoughts)
    for block in blocks:
        match block:
            case {"type": "text", "text": str(text)}:
                yield Part("model", phrase("model"), text)
            case {"type": "tool_use", "id": str(call_id), "name": str(name)}:
                names[call_id] = name
                yield _call(name, json.dumps(block.get("input"), ensure_ascii=False))
            case _:
                yield _thoughts(block.get("thinking") or block.get("data") or "")
    for call in message.get("tool_calls") or ():
        function = call["function"]
        names[call["id"]] = function["name"]
        yield _call(function["name"], function["arguments"])


def _given_parts(block: Json, names: Mapping[str, str], origins: Origins) -> Iterator[Part]:
    """Yield what a message in the person's role holds."""
    match block:
        case {"type": "text", "text": str(text)}:
            yield from origins.user_parts(text)
        case {"type": "tool_result", "tool_use_id": str(call_id)}:
            content = block.get("content", "")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            yield _answer(names.get(call_id, ""), blocks)
        case _:
            yield Part("person", phrase("picture"), _picture_text(block))


def _thoughts(text: str) -> Part:
    return Part("model", phrase("model's thinking"), text)


def _call(name: str, arguments: str) -> Part:
    return Part("model", phrase("call: {name}", name=visible(name)), f"{name} {arguments}")


def _answer(name: str, blocks: Sequence[Json]) -> Part:
    label: Phrase = phrase("result: {name}", name=visible(name))
    texts = (block["text"] if "text" in block else _picture_text(block) for block in blocks)
    return Part("answers", label, "\n".join(texts))


def _picture_text(block: Json) -> str:
    """Return what stands for a picture, the same for the same one: its bytes say nothing here."""
    data = json.dumps(block, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
    return f"[{len(data):,} bytes, SHA-256 {sha256(data).hexdigest()[:16]}]"
