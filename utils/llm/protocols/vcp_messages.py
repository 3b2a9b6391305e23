"""A conversation in VCP: calls in the replies' text, answers as the person's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from utils.llm.calls.vcp_block import NAME_KEY, write_pairs
from utils.llm.completion import SIGNED, Wire
from utils.llm.protocols.declarations import Schema
from utils.llm.protocols.vcp_calls import render_call
from utils.text.strict_json import read_json

RESULT = "<<<[TOOL_RESULT]>>>"
END_RESULT = "<<<[END_TOOL_RESULT]>>>"
OWN_CALL = "own_"
"""Begins the id of a call that the server made its own way, though no tools were sent: it reads
its answer in the same way."""
_NO_TEXT_FIELDS = ("tool_calls", SIGNED)


def to_text_messages(
    messages: Sequence[Wire], definitions: str, schemas: Mapping[str, Mapping[str, Schema]]
) -> list[Wire]:
    """Return *messages* without calls and answers of their own, and *definitions* at their head.

    Answers that follow each other become one message: all of a reply's are there when the next
    request is made, so what was sent once stays as it is.
    """
    head, rest = _with_definitions(messages, definitions)
    return [*head, *_without_calls(rest, schemas)]


def _with_definitions(
    messages: Sequence[Wire], definitions: str
) -> tuple[list[Wire], Sequence[Wire]]:
    """Return the system message with *definitions*, and the messages behind it."""
    if not definitions:
        return [], messages
    if messages and messages[0]["role"] == "system":
        first, *rest = messages
        if definitions in first["content"]:  # a template of the person's had a place for them
            return [first], rest
        return [{**first, "content": f"{first['content']}\n\n{definitions}"}], rest
    return [{"role": "system", "content": definitions}], messages


def _without_calls(
    messages: Sequence[Wire], schemas: Mapping[str, Mapping[str, Schema]]
) -> Iterator[Wire]:
    names: dict[str, str] = {}
    answers: list[Wire] = []
    for message in messages:
        if message["role"] == "tool" and not message["tool_call_id"].startswith(OWN_CALL):
            answers.append(message)
            continue
        if answers:
            yield _answer_message(answers, names)
            answers = []
        calls = message.get("tool_calls") or []
        names = {call["id"]: call["function"]["name"] for call in calls} or names
        is_own = bool(calls) and calls[0]["id"].startswith(OWN_CALL)
        is_text = message["role"] == "assistant" and not is_own
        yield _reply(message, schemas) if is_text else message
    if answers:
        yield _answer_message(answers, names)


def _reply(message: Wire, schemas: Mapping[str, Mapping[str, Schema]]) -> Wire:
    blocks = [_block(call["function"], schemas) for call in message.get("tool_calls") or []]
    other_fields = {key: value for key, value in message.items() if key not in _NO_TEXT_FIELDS}
    return {**other_fields, "content": "\n\n".join(filter(None, [message["content"], *blocks]))}


def _block(function: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Schema]]) -> str:
    name = function["name"]
    arguments = read_json(function["arguments"] or "{}")
    return render_call(name, arguments, schemas.get(name, {}))


def _answer_message(answers: Sequence[Wire], names: Mapping[str, str]) -> Wire:
    """Return the message that holds *answers*, with all pictures that they show."""
    content = "\n".join(
        render_result(names.get(answer["tool_call_id"], "tool"), answer["content"])
        for answer in answers
    )
    pictures = [picture for answer in answers for picture in answer.get("pictures", [])]
    return {"role": "user", "content": content, **({"pictures": pictures} if pictures else {})}


def render_result(name: str, text: str) -> str:
    """Return the answer of a call; nothing in *text* can end it, or begin a call."""
    pairs = write_pairs([(NAME_KEY, name), ("result", text)])
    return f"{RESULT}\n{pairs}\n{END_RESULT}"
