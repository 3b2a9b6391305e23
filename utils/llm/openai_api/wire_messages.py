"""The messages of a request in the form that a server takes.

The history is the same for every server. Each rewriting here maps a history that goes on to
messages that go on, so that a provider's prefix cache goes on serving.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Collection, Iterator, Sequence
from itertools import repeat
from operator import contains
from typing import Any

from utils.llm.completion import SIGNED, Wire
from utils.llm.openai_api.signatures import signed_message
from utils.llm.profiles.server_profile import CallContent, ServerProfile
from utils.pictures import (
    Picture,
    PictureGone,
    ReadPicture,
    missing_note,
    read_no_picture,
    unseen_note,
)

_SYSTEM_NOTE = "[Note from the system]\n"
"""Prefix of a system message that is sent in another role."""

_STOPPED_REPLY = "(stopped)"
"""Reply of a stopped task, which has none of its own, where roles must alternate."""


_PICTURES_INTRO = "[Pictures that the calls above read: {names}]"
"""Text before the pictures of a call: its answer itself can hold none in this API."""

_LOOKING_REPLY = "(looking at it)"
"""The reply before them, where roles must alternate."""

_LATER = "is_later"
"""Marks, while they are arranged, the messages that nothing sent before may be joined with."""


def arrange_messages(
    messages: Sequence[Wire], profile: ServerProfile, ends: Collection[int] = ()
) -> Sequence[Wire]:
    """Return *messages* in the order and the roles that a server of *profile* takes.

    They are not changed themselves. A system message that cannot be one is marked as a note. *ends*
    are the lengths of earlier requests, of the beginning of *messages*: what comes after one is
    not joined to what was sent in it.
    """
    if profile.alternating and ends:
        messages = [{**m, _LATER: True} if n in ends else m for n, m in enumerate(messages)]
    if not profile.tool_messages:
        messages = list(_calls_as_text(messages))
    elif profile.tool_names:
        messages = list(_with_names(messages))
    if not profile.parallel_calls:
        messages = list(_one_call_each(messages))
    if any(map(contains, messages, repeat("pictures"))):  # of each request: without a loop of ours
        messages = list(_with_pictures(messages, profile))
    if profile.system_messages != "anywhere" or profile.alternating:
        messages = _system_first(messages, profile)
    return messages


def serialize_message(
    message: Wire, profile: ServerProfile, read_picture: ReadPicture = read_no_picture
) -> Wire:
    """Return one message with the fields that a server of *profile* takes.

    *read_picture* gives the bytes of its pictures.
    """
    if isinstance(message["content"], list):
        parts = [_wire_part(part, read_picture) for part in message["content"]]
        return {**message, "content": parts}
    if message["role"] == "tool" and profile.call_ids == "short":
        return {**message, "tool_call_id": _short_id(message["tool_call_id"])}
    if message["role"] != "assistant":
        return message
    message = dict(message)
    # DeepSeek answers 400 to a reply without its thoughts in a thinking call, and takes them, be
    # they empty, in any other; always sent, the bytes are the same in both.
    signed = message.pop(SIGNED, None)
    if signed and profile.signatures == "sent":
        message = signed_message(message, signed)
    thoughts = message.pop("reasoning_content", None) or ""
    if profile.reasoning_content:
        message["reasoning_content"] = thoughts
    calls = message.get("tool_calls")
    if calls and profile.call_ids == "short":
        message["tool_calls"] = [{**call, "id": _short_id(call["id"])} for call in calls]
    if calls and not message["content"]:
        _set_content(message, profile.call_content)
    return message


def with_own_pictures(message: Wire, profile: ServerProfile, read_picture: ReadPicture) -> Wire:
    """Return one message with its pictures in its own content, be it the answer of a call."""
    if "pictures" not in message:
        return message
    other_fields = {name: value for name, value in message.items() if name != "pictures"}
    return {**other_fields, "content": _own_content(message, profile, read_picture)}


def _own_content(
    message: Wire, profile: ServerProfile, read_picture: ReadPicture
) -> str | list[Wire]:
    pictures = message["pictures"]
    if not profile.pictures:
        return "\n".join(
            [message["content"], *(unseen_note(Picture(**picture)) for picture in pictures)]
        )
    parts = (_wire_part(_picture_part(picture), read_picture) for picture in pictures)
    return [_text_part(message["content"]), *parts]


def _with_pictures(messages: Sequence[Wire], profile: ServerProfile) -> Iterator[Wire]:
    """Yield *messages* with their pictures in the content of the person's messages.

    Those that calls showed follow in one of their own, behind all answers of the reply. Where the
    server takes none, a note in the text stands for each.
    """
    pending: list[Wire] = []
    for message in messages:
        if message["role"] != "tool" and pending:
            yield from _picture_message(pending, profile)
            pending = []
        pictures = message.get("pictures", [])
        if not pictures:
            yield message
            continue
        message = {name: value for name, value in message.items() if name != "pictures"}
        if not profile.pictures:
            notes = [unseen_note(Picture(**picture)) for picture in pictures]
            yield {**message, "content": "\n".join([message["content"], *notes])}
        elif message["role"] == "tool":
            pending += pictures
            yield message
        else:
            yield {
                **message,
                "content": [_text_part(message["content"]), *map(_picture_part, pictures)],
            }
    yield from _picture_message(pending, profile)


def _picture_message(pictures: Sequence[Wire], profile: ServerProfile) -> Iterator[Wire]:
    """Yield the message that holds the pictures which calls have *pictures*, if there are any."""
    if not pictures:
        return
    if profile.alternating:
        yield {"role": "assistant", "content": _LOOKING_REPLY}
    names = ", ".join(picture["name"] for picture in pictures)
    parts = [_text_part(_PICTURES_INTRO.format(names=names)), *map(_picture_part, pictures)]
    yield {"role": "user", "content": parts}


def _text_part(text: str) -> Wire:
    return {"type": "text", "text": text}


def _picture_part(picture: Wire) -> Wire:
    """Return the part that `_wire_part` fills with the bytes, once, when it is serialized."""
    return {"type": "picture", "picture": picture}


def _wire_part(part: Wire, read_picture: ReadPicture) -> Wire:
    if part["type"] != "picture":
        return part
    picture = Picture(**part["picture"])
    try:
        data = b64encode(read_picture(picture.digest)).decode("ascii")
    except PictureGone:
        return _text_part(missing_note(picture))
    return {"type": "image_url", "image_url": {"url": f"data:{picture.media_type};base64,{data}"}}


def _join_contents(first: Any, second: Any) -> Any:
    """Return two contents as one: texts as text, parts behind each other."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    parts = [
        [_text_part(content)] if isinstance(content, str) else content
        for content in (first, second)
    ]
    return [*parts[0], *parts[1]]


def _set_content(message: Wire, content: CallContent) -> None:
    """Set the content of a reply that has calls and no text, as the server takes it."""
    match content:
        case "null":
            message["content"] = None
        case "absent":
            del message["content"]
        case "named":
            names = ", ".join(call["function"]["name"] for call in message["tool_calls"])
            message["content"] = f"({names})"


def _calls_as_text(messages: Sequence[Wire]) -> Iterator[Wire]:
    """Yield *messages* with each call in its reply's text, and each answer as the person's."""
    names: dict[str, str] = {}
    for message in messages:
        if calls := message.get("tool_calls"):
            names = {call["id"]: call["function"]["name"] for call in calls}
            call_text = "\n".join(map(_call_as_text, calls))
            text = f"{message['content']}\n{call_text}" if message["content"] else call_text
            message = {name: value for name, value in message.items() if name != "tool_calls"}
            yield {**message, "content": text}
        elif message["role"] == "tool":
            name = names.get(message["tool_call_id"], "tool")
            other_fields = {key: value for key, value in message.items() if key != "tool_call_id"}
            text = f"[Answer of {name}]\n{message['content']}"
            yield {**other_fields, "role": "user", "content": text}
        else:
            yield message


def _with_names(messages: Sequence[Wire]) -> Iterator[Wire]:
    """Yield *messages* with the name of its tool in each answer."""
    names: dict[str, str] = {}
    for message in messages:
        names |= {call["id"]: call["function"]["name"] for call in message.get("tool_calls") or ()}
        is_answer = message["role"] == "tool"
        yield {**message, "name": names[message["tool_call_id"]]} if is_answer else message


def _call_as_text(call: Wire) -> str:
    """Return *call* in the form that most models are taught, and that is read as a call again."""
    function = call["function"]
    name = json.dumps(function["name"], ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {function["arguments"]}}}\n</tool_call>'


def _short_id(call_id: str) -> str:
    """Return nine letters and digits that are always the same for *call_id*."""
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _one_call_each(messages: Sequence[Wire]) -> Iterator[Wire]:
    """Yield *messages* with each call in a reply of its own, its answer behind it."""
    pending: list[Wire] = []
    for message in messages:
        calls: list[Wire] = message.get("tool_calls") or []
        if len(calls) > 1:
            first, *others = calls
            pending = [{**message, "content": "", "tool_calls": [call]} for call in others]
            yield {**message, "tool_calls": [first]}
            continue
        yield message
        if pending and message["role"] == "tool":
            yield pending.pop(0)


def _system_first(messages: Sequence[Wire], profile: ServerProfile) -> list[Wire]:
    """Put the system messages at the start into one; those behind become notes of the person."""
    start = 0
    while start < len(messages) and messages[start]["role"] == "system":
        start += 1
    role = "user" if profile.system_messages == "none" else "system"
    text = "\n\n".join(message["content"] for message in messages[:start])
    fitted: list[Wire] = [{"role": role, "content": text}] if start else []
    for message in messages[start:]:
        _append_alternating(fitted, message, profile.alternating)
    return fitted


def _append_alternating(fitted: list[Wire], message: Wire, alternating: bool) -> None:
    """Add one message behind those at the start, where roles must alternate by joining it.

    Where it may not join what was sent already, a reply that never came stands between them.
    """
    if is_later := _LATER in message:
        message = {name: value for name, value in message.items() if name != _LATER}
    is_note = message["role"] == "system"
    if is_note:
        message = {"role": "user", "content": f"{_SYSTEM_NOTE}{message['content']}"}
    last = fitted[-1] if fitted else {"role": ""}
    if alternating and message["role"] == "user":
        joins = last["role"] == "user" or (is_note and last["role"] == "tool")
        if joins and not is_later:
            fitted[-1] = {**last, "content": _join_contents(last["content"], message["content"])}
            return
        if last["role"] in ("user", "tool"):  # the task was stopped before there was a reply
            fitted.append({"role": "assistant", "content": _STOPPED_REPLY})
    fitted.append(message)
