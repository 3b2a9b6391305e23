"""A conversation in the messages of Anthropic's API.

The history is the same for every server. What it makes here grows at its end only, so that the
provider's prefix cache goes on serving.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utils.llm.completion import DIRECT_CALL, SIGNED, Wire

Block = dict[str, Any]
_SYSTEM_NOTE = "[Note from the system]\n"
_MISSING_START_NOTE = "[The conversation before this is left out.]"
_CONTINUE_NOTE = "[Go on.]"
_DIRECT_END_NOTE = "(done)"
"""Reply that ends calls which no model made: a task after them begins anew, and may think."""
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DATA_URL = re.compile(r"data:(image/[a-z]+);base64,(.+)", re.DOTALL)
_THINKING_TYPES = ("thinking", "redacted_thinking")


@dataclass
class Conversation:
    """The *system* blocks and the *messages* of a request.

    *has_thought* says whether all replies in the task that it ends in are of this model, and
    thought; None where there is none yet.
    """

    system: list[Block] = field(default_factory=list)
    messages: list[Wire] = field(default_factory=list)
    has_thought: bool | None = None


def to_conversation(messages: Sequence[Wire], model: str, *, signed_from: int = 0) -> Conversation:
    """Return *messages* as *model* takes them; they are not changed themselves.

    The thoughts of other models are left out, and those before message number *signed_from*.
    """
    start = 0
    while start < len(messages) and messages[start]["role"] == "system":
        start += 1
    result = Conversation([{"type": "text", "text": m["content"]} for m in messages[:start]
                         if m["content"].strip()])  # fmt: skip
    calls = _CallIds()
    for number, message in enumerate(messages[start:], start):
        match message["role"]:
            case "assistant":
                signed = _provider_reply(message, model) if number >= signed_from else None
                blocks = list(_reply_blocks(message, signed, calls))
                _append(result.messages, "assistant", blocks)
                is_thought = bool(signed and signed.get("thinking"))
                result.has_thought = is_thought and result.has_thought is not False
            case "tool":
                _append(result.messages, "user", [_tool_result(message, calls)])
            case "system":
                note = f"{_SYSTEM_NOTE}{message['content']}"
                _append(result.messages, "user", [{"type": "text", "text": note}])
            case _:
                blocks = list(_content_blocks(message["content"]))
                _add_user_message(result, blocks, ends_direct=calls.is_direct)
    if not result.messages or result.messages[-1]["role"] == "assistant":
        _append(result.messages, "user", [{"type": "text", "text": _CONTINUE_NOTE}])
    return result


def _add_user_message(result: Conversation, blocks: list[Block], *, ends_direct: bool) -> None:
    """Add a message of the user's, with which a task begins, unless one was stopped and goes on.

    *ends_direct* says that the calls before it, if any end there, were no model's.
    """
    if blocks and ends_direct and _ends_with_results(result.messages):
        _append(result.messages, "assistant", [{"type": "text", "text": _DIRECT_END_NOTE}])
    if not _ends_with_results(result.messages):
        result.has_thought = None
    _append(result.messages, "user", blocks)


def _append(messages: list[Wire], role: str, blocks: list[Block]) -> None:
    """Add *blocks*, to the last message where that has the same role."""
    if not blocks:
        return
    if not messages and role == "assistant":
        messages.append(
            {"role": "user", "content": [{"type": "text", "text": _MISSING_START_NOTE}]}
        )
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _ends_with_results(messages: Sequence[Wire]) -> bool:
    """Return whether *messages* end with the answers of calls."""
    last = messages[-1]["content"] if messages else []
    return any(block["type"] == "tool_result" for block in last)


def _provider_reply(message: Wire, model: str) -> Mapping[str, Any] | None:
    """Return what is kept of a reply's own form, if it is one of *model*.

    That is the model, whether it was told to think, and its blocks in their order: thoughts whole,
    of a text its length and of a call its id.
    """
    signed = message.get(SIGNED)
    return signed if signed and signed.get("model") == model else None


def _reply_blocks(
    message: Wire, signed: Mapping[str, Any] | None, calls: _CallIds
) -> Iterator[Block]:
    """Yield the blocks of a reply in the order in which the model made them."""
    text: str = message["content"] or ""
    uses = {call["id"]: _tool_use(call, calls) for call in message.get("tool_calls") or ()}
    for block in signed.get("blocks", ()) if signed else ():
        if block["type"] in _THINKING_TYPES:
            yield dict(block)
        elif block["type"] == "text":
            part, text = text[: block["length"]], text[block["length"] :]
            if part.strip():
                yield {"type": "text", "text": part}
        elif use := uses.pop(block["id"], None):
            if text.strip() and not any(b["type"] == "text" for b in signed["blocks"]):  # type: ignore[index]
                yield {"type": "text", "text": text}
                text = ""
            yield use
    if text.strip():
        yield {"type": "text", "text": text}
    yield from uses.values()


def _tool_use(call: Wire, calls: _CallIds) -> Block:
    function = call["function"]
    return {
        "type": "tool_use",
        "id": calls.assign(call["id"]),
        "name": function["name"],
        "input": json.loads(function["arguments"]),
    }


def _tool_result(message: Wire, calls: _CallIds) -> Block:
    block: Block = {"type": "tool_result", "tool_use_id": calls.id_of(message["tool_call_id"])}
    if content := list(_content_blocks(message["content"])):
        is_text = len(content) == 1 and content[0]["type"] == "text"
        block["content"] = content[0]["text"] if is_text else content
    return block


def _content_blocks(content: str | Sequence[Wire]) -> Iterator[Block]:
    """Yield what a message holds, its pictures included; blank texts are refused, so none."""
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        match part:
            case {"type": "text", "text": str(text)} if text.strip():
                yield {"type": "text", "text": text}
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                yield {"type": "image", "source": _image_source(url)}


def _image_source(url: str) -> Block:
    match = _DATA_URL.fullmatch(url)
    if match is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": match[1], "data": match[2]}


class _CallIds:
    """Gives each call an id that the API takes and that no other has, always the same one."""

    def __init__(self) -> None:
        self._id_by_call: dict[str, str] = {}
        self._used_ids: set[str] = set()
        self.is_direct = False
        """Whether the newest call was no model's."""

    def assign(self, call_id: str) -> str:
        """Return the id of a new call that is *call_id* in the history."""
        self.is_direct = call_id.startswith(DIRECT_CALL)
        new_id = call_id if _ID.fullmatch(call_id) else _hashed(call_id)
        number = 1
        while new_id in self._used_ids:
            number += 1
            new_id = _hashed(f"{number} {call_id}")
        self._used_ids.add(new_id)
        self._id_by_call[call_id] = new_id
        return new_id

    def id_of(self, call_id: str) -> str:
        """Return the id of the newest call that is *call_id* in the history."""
        return self._id_by_call.get(call_id, call_id)


def _hashed(text: str) -> str:
    return f"call_{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:24]}"


def set_cache_marks(request_messages: Conversation, tools: list[Block]) -> None:
    """Set the marks for the cache, of which a request may have four.

    One each is behind the tools and the first system text, which are the same in every session,
    and at the ends of the request before this one and of this. That of the request before is
    needed because the server looks back from a mark for 20 blocks only.
    """
    blocks = [tools[-1]] if tools else []
    if request_messages.system:
        blocks.append(request_messages.system[0])
    user_messages = [message for message in request_messages.messages if message["role"] == "user"]
    blocks += [message["content"][-1] for message in user_messages[-2:]]
    for block in blocks:
        block["cache_control"] = {"type": "ephemeral"}
