"""Holds each request of a session against the one before it, in any process of the tests.

A request begins with the one before it, or Onefold itself has kept why not, and what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

ORDER_ERROR = b"order: "
"""Beginning of a recorded line that tells what is amiss with a request."""


def watch_requests(terminal_class: Any, report: Callable[[str], None]) -> None:
    """Have *report* called with a sentence on each request of such a terminal that is amiss."""
    build, announce = terminal_class.build_request, terminal_class.announce_request

    def build_request(self: Any) -> Any:
        self.built_request = build(self)
        return self.built_request

    def announce_request(self: Any, messages: Sequence[Any]) -> None:
        if messages is getattr(self, "built_request", None) and (error := _next_error(self)):
            report(error)
        announce(self, messages)

    terminal_class.build_request = build_request
    terminal_class.announce_request = announce_request


def _next_error(terminal: Any) -> str:
    """Return what is amiss with the request that was built, as seen from the last one."""
    log = terminal.history.log
    now = (
        terminal.session,
        (terminal.model.model, terminal.model.profile.protocol),
        list(terminal.tools.wire),
        list(terminal.built_request),
        len(log),
    )
    before = getattr(terminal, "last_request", None)
    terminal.last_request = now
    if before is None or before[0] != now[0]:
        return ""
    shared_length = min(len(before[3]), len(now[3]))
    same_beginning = now[3][:shared_length] == before[3][:shared_length]
    is_extended = before[1:3] == now[1:3] and same_beginning
    known_breaks = [
        record.value
        for _, record in log[before[4] :]
        if getattr(record, "name", "") == "prefix_break"
    ]
    if is_extended:
        return f"no break, but one was kept: {known_breaks}" if known_breaks else ""
    if len(known_breaks) == 1 and known_breaks[0]["reason"] and known_breaks[0]["tokens"] > 0:
        return ""
    return f"it breaks with {before[3][-2:]}, and what is kept of that is {known_breaks}"
