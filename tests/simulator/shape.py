"""Type checks of a request's body, as the API's deserializer makes them before any rule."""

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
        needed={"model": _string, "messages": _list_check(_parse_message)},
        optional={
            "tools": _list_check(_tool),
            "tool_choice": _tool_choice,
            "thinking": _object_check(needed={"type": _enum_check(*_THINKING)}),
            "reasoning_effort": _enum_check(*EFFORTS),
            "stream": _boolean,
            "stream_options": _object_check(optional={"include_usage": _boolean}),
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
            "response_format": _object_check(needed={"type": _enum_check(*_FORMATS)}),
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


def _object_check(
    needed: Mapping[str, Check] | None = None, optional: Mapping[str, Check] | None = None
) -> Check:
    return lambda where, value: _object(where, value, needed=needed, optional=optional)


def _list_check(check: Check) -> Check:
    def check_all(where: str, value: Any) -> None:
        if not isinstance(value, list):
            raise WrongShape(f"{where}: invalid type: {value!r}, expected a sequence")
        for index, item in enumerate(value):
            check(f"{where}[{index}]", item)

    return check_all


def _enum_check(*allowed: str) -> Check:
    def check(where: str, value: Any) -> None:
        if value not in allowed:
            variants = ", ".join(f"`{name}`" for name in allowed)
            raise WrongShape(f"{where}: unknown variant `{value}`, expected one of {variants}")

    return check


def _type_check(expected: str, *kinds: type) -> Check:
    def check(where: str, value: Any) -> None:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise WrongShape(f"{where}: invalid type: {value!r}, expected {expected}")

    return check


_string = _type_check("a string", str)
_boolean = _type_check("a boolean", bool)
_number = _type_check("f32", int, float)


def _natural(where: str, value: Any) -> None:
    _type_check("u32", int)(where, value)
    if not 0 <= value < 2**32:
        raise WrongShape(f"{where}: invalid value: integer `{value}`, expected u32")


def _stop(where: str, value: Any) -> None:
    if not isinstance(value, str):
        _list_check(_string)(where, value)


def _content(where: str, value: Any) -> None:
    if not isinstance(value, str | list):
        raise WrongShape(f"{where}: content should be a string or a list")
    if isinstance(value, list):
        _list_check(_object_check(needed={"type": _string}, optional={"text": _string}))(
            where, value
        )


def _parse_message(where: str, value: Any) -> None:
    _object(where, value, needed={"role": _enum_check(*ROLES)})
    if value["role"] == "assistant":
        calls = _list_check(_call)
        text = {"content": _content, "reasoning_content": _string, "tool_calls": calls}
        _object(where, value, optional=text)
        return
    _object(where, value, needed={"content": _content})
    if value["role"] == "tool":
        _object(where, value, needed={"tool_call_id": _string})


def _call(where: str, value: Any) -> None:
    function = _object_check(needed={"name": _string, "arguments": _string})
    fields = {"id": _string, "type": _enum_check("function"), "function": function}
    _object(where, value, needed=fields)


def _tool(where: str, value: Any) -> None:
    function = _object_check(
        needed={"name": _string}, optional={"description": _string, "strict": _boolean}
    )
    _object(where, value, needed={"type": _enum_check("function"), "function": function})


def _tool_choice(where: str, value: Any) -> None:
    if value in ("none", "auto", "required"):
        return
    if not isinstance(value, dict):
        raise WrongShape(f"{where}: expected one of `none`, `auto`, `required` or a tool")
    function = _object_check(needed={"name": _string})
    _object(where, value, needed={"type": _enum_check("function"), "function": function})
