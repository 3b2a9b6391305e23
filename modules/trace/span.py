"""A span, and its line of OTLP JSON."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from utils.llm.completion import Usage

INTERNAL, CLIENT = 1, 3
_ERROR = 2
Value = str | int | float


@dataclass
class Span:
    """A span that is under way; its ids are hexadecimal, its time in nanoseconds."""

    name: str
    kind: int
    trace_id: str
    parent_id: str
    attributes: dict[str, Value]
    started_at: int = field(default_factory=time.time_ns)
    span_id: str = field(default_factory=lambda: secrets.token_hex(8))

    def child(self, name: str, kind: int, attributes: dict[str, Value]) -> Span:
        """Begin a span below this one."""
        return Span(name, kind, self.trace_id, self.span_id, attributes)

    def to_otlp(self, error: str = "") -> dict[str, Any]:
        """Return it, over now, as a whole request of OTLP in its JSON form; numbers of 64 bits are
        text there. *error* is how it ended, "" where nothing went wrong."""
        told = {
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "parentSpanId": self.parent_id,
            "name": self.name,
            "kind": self.kind,
            "startTimeUnixNano": str(self.started_at),
            "endTimeUnixNano": str(time.time_ns()),
            "attributes": _attributes(
                {**self.attributes, "error.type": error} if error else self.attributes
            ),
            "status": {"code": _ERROR} if error else {},
        }
        scope = {"scope": {"name": "onefold"}, "spans": [told]}
        resource = {"attributes": _attributes({"service.name": "onefold"})}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}


def usage_attributes(usage: Usage) -> dict[str, Value]:
    return {
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_hit_tokens,
    }


def _attributes(values: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Value) -> dict[str, Value]:
    if isinstance(value, str):
        return {"stringValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"doubleValue": value}
