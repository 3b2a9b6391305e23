"""The rules of ATIF v1.8 (RFC 0001 of Harbor), as far as text without pictures meets them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_STRING, _NUMBER, _OBJECT, _LIST = str, (int, float), dict, list
_TRAJECTORY = {
    "schema_version": _STRING,
    "session_id": _STRING,
    "trajectory_id": _STRING,
    "agent": _OBJECT,
    "steps": _LIST,
    "notes": _STRING,
    "final_metrics": _OBJECT,
    "extra": _OBJECT,
}
_AGENT = {
    "name": _STRING,
    "version": _STRING,
    "model_name": _STRING,
    "tool_definitions": _LIST,
    "extra": _OBJECT,
}
_STEP = {
    "step_id": int,
    "timestamp": _STRING,
    "source": _STRING,
    "model_name": _STRING,
    "reasoning_effort": (str, float),
    "message": _STRING,
    "reasoning_content": _STRING,
    "tool_calls": _LIST,
    "observation": _OBJECT,
    "metrics": _OBJECT,
    "is_copied_context": bool,
    "llm_call_count": int,
    "extra": _OBJECT,
}
_CALL = {
    "tool_call_id": _STRING,
    "function_name": _STRING,
    "arguments": _OBJECT,
    "extra": _OBJECT,
}
_RESULT = {"source_call_id": _STRING, "content": _STRING, "extra": _OBJECT}
_METRICS = {
    "prompt_tokens": int,
    "completion_tokens": int,
    "cached_tokens": int,
    "cost_usd": _NUMBER,
    "extra": _OBJECT,
}
_TOTALS = {
    "total_prompt_tokens": int,
    "total_completion_tokens": int,
    "total_cached_tokens": int,
    "total_cost_usd": _NUMBER,
    "total_steps": int,
    "extra": _OBJECT,
}
_OF_THE_AGENT = {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}


def broken_rules(trajectory: Mapping[str, Any]) -> list[str]:
    """Return what of *trajectory* breaks a rule, each in a few words; nothing where none does."""
    return [
        *_shape("trajectory", trajectory, _TRAJECTORY, "schema_version", "agent", "steps"),
        *([] if trajectory["schema_version"] == "ATIF-v1.8" else ["another version"]),
        *_shape("agent", trajectory["agent"], _AGENT, "name", "version"),
        *_shape("final_metrics", trajectory.get("final_metrics", {}), _TOTALS),
        *([] if trajectory["steps"] else ["no step"]),
        *(found for one in enumerate(trajectory["steps"], 1) for found in _of_step(*one)),
    ]


def _of_step(number: int, step: Mapping[str, Any]) -> Iterator[str]:
    where = f"step {number}"
    yield from _shape(where, step, _STEP, "step_id", "source", "message")
    if step["step_id"] != number:
        yield f"{where} has the number {step['step_id']}"
    if step["source"] not in ("system", "user", "agent"):
        yield f"{where} is of {step['source']}"
    if step["source"] != "agent" and (foreign := _OF_THE_AGENT & set(step)):
        yield f"{where} is not the agent's and has {foreign}"
    yield from _shape(f"{where}: metrics", step.get("metrics", {}), _METRICS)
    calls = step.get("tool_calls", [])
    for call in calls:
        yield from _shape(f"{where}: call", call, _CALL, "tool_call_id", "function_name")
        if "arguments" not in call:
            yield f"{where}: a call without arguments"
    known = {call["tool_call_id"] for call in calls}
    for result in step.get("observation", {"results": []})["results"]:
        yield from _shape(f"{where}: result", result, _RESULT)
        if result.get("source_call_id", None) not in {None, *known}:
            yield f"{where}: a result of no call"


def _shape(
    where: str, value: Mapping[str, Any], fields: Mapping[str, Any], *needed: str
) -> Iterator[str]:
    yield from (f"{where} has no {name}" for name in needed if name not in value)
    for name, content in value.items():
        if name not in fields:
            yield f"{where} has {name}"
        elif not isinstance(content, fields[name]) or (
            fields[name] is int and isinstance(content, bool)
        ):
            yield f"{where}: {name} is {content!r}"
