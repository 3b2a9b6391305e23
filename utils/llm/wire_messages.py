"""The messages of a request in the form that a server takes.

The history is the same for every server. Each rewriting here maps a history that goes on to
messages that go on, so that a provider's prefix cache goes on serving.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence

from utils.completion import Wire
from utils.llm.server_profile import CallContent, ServerProfile

_NOTE = "[Note from the system]\n"
"""What begins a system message that stands in the place of another role's."""

_STOPPED = "(stopped)"
"""What stands for the reply that a stopped task has none of, where roles must alternate."""


def arranged(
    messages: Sequence[Wire], profile: ServerProfile, ends: Collection[int] = ()
) -> Sequence[Wire]:
    """Return *messages* in the order and the roles that a server of *profile* takes.

    They are not changed themselves. A system message that cannot be one is marked as a note. *ends*
    are the lengths of earlier requests, of the beginning of *messages*: what comes after one is
    not joined to what was sent in it.
    """
    later = frozenset(id(messages[end]) for end in ends if end < len(messages))
    if not profile.tool_messages:
        messages = list(_as_text(messages))
    if not profile.parallel_calls:
        messages = list(_one_call_each(messages))
    if profile.system_messages != "anywhere" or profile.alternating:
        messages = _system_first(messages, profile, later)
    return messages


def spelled(message: Wire, profile: ServerProfile) -> Wire:
    """Return one message with the fields that a server of *profile* takes."""
    if message["role"] == "tool" and profile.call_ids == "short":
        return {**message, "tool_call_id": _short(message["tool_call_id"])}
    if message["role"] != "assistant":
        return message
    message = dict(message)
    # DeepSeek answers 400 to a reply without its thoughts in a thinking call, and takes them, be
    # they empty, in any other; always sent, the bytes are the same in both.
    thoughts = message.pop("reasoning_content", None) or ""
    if profile.reasoning_content:
        message["reasoning_content"] = thoughts
    calls = message.get("tool_calls")
    if calls and profile.call_ids == "short":
        message["tool_calls"] = [{**call, "id": _short(call["id"])} for call in calls]
    if calls and not message["content"]:
        _set_content(message, profile.call_content)
    return message


def _set_content(message: Wire, content: CallContent) -> None:
    """Put what a server takes in the place of the text that a reply of calls has none of."""
    match content:
        case "null":
            message["content"] = None
        case "absent":
            del message["content"]
        case "named":
            names = ", ".join(call["function"]["name"] for call in message["tool_calls"])
            message["content"] = f"({names})"


def _as_text(messages: Sequence[Wire]) -> Iterator[Wire]:
    """Yield *messages* with each call in its reply's text, and each answer as the person's."""
    names: dict[str, str] = {}
    for message in messages:
        if calls := message.get("tool_calls"):
            names = {call["id"]: call["function"]["name"] for call in calls}
            told = "\n".join(map(_call_as_text, calls))
            text = f"{message['content']}\n{told}" if message["content"] else told
            message = {name: value for name, value in message.items() if name != "tool_calls"}
            yield {**message, "content": text}
        elif message["role"] == "tool":
            name = names.get(message["tool_call_id"], "tool")
            yield {"role": "user", "content": f"[Answer of {name}]\n{message['content']}"}
        else:
            yield message


def _call_as_text(call: Wire) -> str:
    """Return *call* in the form that most models are taught, and that is read as a call again."""
    function = call["function"]
    name = json.dumps(function["name"], ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {function["arguments"]}}}\n</tool_call>'


def _short(call_id: str) -> str:
    """Return nine letters and digits that are always the same for *call_id*."""
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _one_call_each(messages: Sequence[Wire]) -> Iterator[Wire]:
    """Yield *messages* with each call in a reply of its own, its answer behind it."""
    waiting: list[Wire] = []
    for message in messages:
        calls: list[Wire] = message.get("tool_calls") or []
        if len(calls) > 1:
            first, *others = calls
            waiting = [{**message, "content": "", "tool_calls": [call]} for call in others]
            yield {**message, "tool_calls": [first]}
            continue
        yield message
        if waiting and message["role"] == "tool":
            yield waiting.pop(0)


def _system_first(
    messages: Sequence[Wire], profile: ServerProfile, later: Collection[int]
) -> list[Wire]:
    """Put the system messages at the start into one; those behind become notes of the person.

    *later* are the messages, by `id`, before which a request ended.
    """
    start = 0
    while start < len(messages) and messages[start]["role"] == "system":
        start += 1
    role = "user" if profile.system_messages == "none" else "system"
    text = "\n\n".join(message["content"] for message in messages[:start])
    fitted: list[Wire] = [{"role": role, "content": text}] if start else []
    for message in messages[start:]:
        _append(fitted, message, profile.alternating, may_join=id(message) not in later)
    return fitted


def _append(fitted: list[Wire], message: Wire, alternating: bool, *, may_join: bool) -> None:
    """Add one message behind those at the start, where roles must alternate by joining it.

    Where it may not join what was sent already, a reply that never came stands between them.
    """
    is_note = message["role"] == "system"
    if is_note:
        message = {"role": "user", "content": f"{_NOTE}{message['content']}"}
    last = fitted[-1] if fitted else {"role": ""}
    if alternating and message["role"] == "user":
        joins = last["role"] == "user" or (is_note and last["role"] == "tool")
        if joins and may_join:
            fitted[-1] = {**last, "content": f"{last['content']}\n\n{message['content']}"}
            return
        if last["role"] in ("user", "tool"):  # the task was stopped before there was a reply
            fitted.append({"role": "assistant", "content": _STOPPED})
    fitted.append(message)
