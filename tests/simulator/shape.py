"""The types in a request's body: what the API's deserializer takes, before any rule is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

ROLES = ("system", "user", "assistant", "tool", "latest_reminder")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max")
_THINKING = ("adaptive", "enabled", "disabled")
_FORMATS = ("json_object", "json_schema", "regex", "text")

Check = Callable[[str, Any], None]


class WrongShape(Exception):
    """The body is no request; says where and why."""


def check_shape(body: Any) -> None:
    """Raise `WrongShape` unless *body* can be read as a chat-completions request."""
    _object(
        "request",
        body,
        needed={"model": _string, "messages": _list_of(_message)},
        optional={
            "tools": _list_of(_tool),
            "tool_choice": _tool_choice,
            "thinking": _with(needed={"type": _one_of(*_THINKING)}),
            "reasoning_effort": _one_of(*EFFORTS),
            "stream": _boolean,
            "stream_options": _with(optional={"include_usage": _boolean}),
            "max_tokens": _natural,
            "temperature": _number,
            "top_p": _number,
            "frequency_penalty": _number,
            "presence_penalty": _number,
            "n": _natural,
            "seed": _natural,
            "stop": _stop,
            "logprobs": _boolean,
            "top_logprobs": _natural,
            "response_format": _with(needed={"type": _one_of(*_FORMATS)}),
        },
    )


def _object(
    where: str,
    value: Any,
    *,
    needed: Mapping[str, Check] | None = None,
    optional: Mapping[str, Check] | None = None,
) -> None:
    """Check the fields of *value*; an optional one may be null, others than named may be there."""
    if not isinstance(value, dict):
        raise WrongShape(f"{where}: invalid type: {value!r}, expected an object")
    for name, check in (needed or {}).items():
        if name not in value:
            raise WrongShape(f"{where}: missing field `{name}`")
        check(f"{where}.{name}", value[name])
    for name, check in (optional or {}).items():
        if value.get(name) is not None:
            check(f"{where}.{name}", value[name])


def _with(
    needed: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None
) -> Check:
    return lambda where, value: _object(where, value, needed=needed, optional=optional)


def _list_of(check: Check) -> Check:
    def check_all(where: str, value: Any) -> None:
        if not isinstance(value, list):
            raise WrongShape(f"{where}: invalid type: {value!r}, expected a sequence")
        for index, item in enumerate(value):
            check(f"{where}[{index}]", item)

    return check_all


def _one_of(*allowed: str) -> Check:
    def check(where: str, value: Any) -> None:
        if value not in allowed:
            variants = ", ".join(f"`{name}`" for name in allowed)
            raise WrongShape(f"{where}: unknown variant `{value}`, expected one of {variants}")

    return check


def _is(expected: str, *kinds: type) -> Check:
    def check(where: str, value: Any) -> None:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise WrongShape(f"{where}: invalid type: {value!r}, expected {expected}")

    return check


_string = _is("a string", str)
_boolean = _is("a boolean", bool)
_number = _is("f32", int, float)


def _natural(where: str, value: Any) -> None:
    _is("u32", int)(where, value)
    if not 0 <= value < 2**32:
        raise WrongShape(f"{where}: invalid value: integer `{value}`, expected u32")


def _stop(where: str, value: Any) -> None:
    if not isinstance(value, str):
        _list_of(_string)(where, value)


def _content(where: str, value: Any) -> None:
    if not isinstance(value, str | list):
        raise WrongShape(f"{where}: content should be a string or a list")
    if isinstance(value, list):
        _list_of(_with(needed={"type": _string}, optional={"text": _string}))(where, value)


def _message(where: str, value: Any) -> None:
    _object(where, value, needed={"role": _one_of(*ROLES)})
    if value["role"] == "assistant":
        calls = _list_of(_call)
        text = {"content": _content, "reasoning_content": _string, "tool_calls": calls}
        _object(where, value, optional=text)
        return
    _object(where, value, needed={"content": _content})
    if value["role"] == "tool":
        _object(where, value, needed={"tool_call_id": _string})


def _call(where: str, value: Any) -> None:
    function = _with(needed={"name": _string, "arguments": _string})
    fields = {"id": _string, "type": _one_of("function"), "function": function}
    _object(where, value, needed=fields)


def _tool(where: str, value: Any) -> None:
    function = _with(
        needed={"name": _string}, optional={"description": _string, "strict": _boolean}
    )
    _object(where, value, needed={"type": _one_of("function"), "function": function})


def _tool_choice(where: str, value: Any) -> None:
    if value in ("none", "auto", "required"):
        return
    if not isinstance(value, dict):
        raise WrongShape(f"{where}: expected one of `none`, `auto`, `required` or a tool")
    function = _with(needed={"name": _string})
    _object(where, value, needed={"type": _one_of("function"), "function": function})
