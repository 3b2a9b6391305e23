"""Spans of helpers at work, each below that of the call that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from core.events import HelperEvent, StepFinished, StepStarted, ToolFinished, ToolStarted
from modules.trace.span import CLIENT, INTERNAL, Span, Value, usage_attributes
from utils.llm.completion import Usage

BeginCall = Callable[[Span | None, ToolStarted], Span]
"""Begins the span of a call below another."""
End = Callable[[Span, str], None]
"""Writes a span that is over; how it went wrong, "" for not at all."""


@dataclass
class _Helper:
    """A helper under way: its span, those below it that are open, and what it has *used*."""

    span: Span
    step: Span | None = None
    calls: dict[str, Span] = field(default_factory=dict)
    used: Usage = field(default_factory=Usage)


class HelperSpans:
    """Makes spans of what helpers do, by the calls that they are.

    A helper has one from its first step on that is made here: what one that resumes has done before
    is told once more to screens, and not written twice.
    """

    def __init__(self, begin_call: BeginCall, end: End) -> None:
        self._begin_call = begin_call
        self._end = end
        self._helpers: dict[str, _Helper] = {}

    def on_event(self, call: Span, told: HelperEvent) -> None:
        """Take what the helper tells that is the open *call*."""
        event, helper = told.event, self._helpers.get(told.parent)
        if isinstance(event, StepStarted) and helper is None:
            names = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
            helper = _Helper(call.child("invoke_agent helper", INTERNAL, {**names}))
            self._helpers[told.parent] = helper
        if helper is None:
            return
        match event:
            case StepStarted(step, thinks):
                about: dict[str, Value] = {
                    "gen_ai.operation.name": "chat",
                    "onefold.step": step,
                    "onefold.thinks": "yes" if thinks else "no",
                }
                helper.step = helper.span.child("chat", CLIENT, about)
            case StepFinished(_, usage) if helper.step:
                helper.step.attributes |= usage_attributes(usage)
                helper.used += usage
                self._end(helper.step, "")
                helper.step = None
            case ToolStarted(is_revised=False):
                helper.calls[event.call_id] = self._begin_call(helper.span, event)
            case ToolFinished(call_id, state=state) if span := helper.calls.pop(call_id, None):
                self._end(span, "" if state == "done" else state)

    def end(self, call_id: str, error: str) -> None:
        """End what the helper has open that is the call *call_id*, which ends so."""
        helper = self._helpers.pop(call_id, None)
        if helper is None:
            return
        for span in filter(None, [*helper.calls.values(), helper.step]):
            self._end(span, error or "lost")
        cost = {"onefold.cost_usd": helper.used.cost_usd}
        helper.span.attributes |= {**usage_attributes(helper.used), **cost}
        self._end(helper.span, error)
