"""What of a reply's text may be shown while it streams: no part of a call that is written in it."""

from __future__ import annotations

import re

_MAY_OPEN = re.compile(r"[{\[<`]")
_KEYS = (
    "name|tool|tool_name|function|function_name|action|type|id|tool_calls|tool_call"
    "|tool_call_id|function_call|arguments|parameters|args|input"
)
_TAGS = (
    r"(?:\w{1,20}[:_])?(?:tool|function)_?calls?>|TOOLCALL>|tool_use>|tool_request>"
    r"|function(?:=| name)|(?:\w{1,20}:)?invoke name=|<<\[TOOL_REQUEST\]"
    r"|\|(?:python_tag|channel|start|START_ACTION|action_start|tools_prefix|recipient)\||\|tool_call"
    r"|start_function_call>"
    r"|[a-z]+_[a-z_]+>\s*<[a-z_]+>"
)
_LEAD = re.compile(
    r"(?:```(?:json[5c]?|(?:tool|function)\w*|action)?[ \t]*\n\s*)?"
    rf"[{{\[]\s*(?:\{{\s*)?\"(?:{_KEYS})\""
    rf"|\[TOOL_CALLS\]|\[[a-z_]+\(|```tool_code|<(?:{_TAGS})"
)
_LONGEST_LEAD = 64
_FENCE_OVER = re.compile(r"\n[ \t]*```[ \t]*\n\s*\S")
_FENCE_END = 80
"""Characters that the end of a fence and what follows it may be cut into."""


class CallGuard:
    """Holds a reply's text back from where it may be a call; all else passes as it comes."""

    def __init__(self) -> None:
        self._held = ""
        self._is_call = False
        self._at_line_start = True

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        if self._is_call:
            return self._hold(text)
        if not self._held and not _MAY_OPEN.search(text):
            self._at_line_start = text.endswith("\n") or (self._at_line_start and not text.strip())
            return text
        text, self._held = self._held + text, ""
        position = 0
        while found := _MAY_OPEN.search(text, position):
            start = found.start()
            begins = text[start] == "<" or self._begins_line(text, start)
            self._is_call = begins and _LEAD.match(text, start) is not None
            if self._is_call or (begins and len(text) - start < _LONGEST_LEAD):
                self._at_line_start = self._begins_line(text, start)
                self._held = text[start:]
                return text[:start]
            position = found.end()
        self._at_line_start = not text.rpartition("\n")[2].strip()
        return text

    def close(self) -> str:
        """Return what is still held back."""
        held, self._held, self._is_call = self._held, "", False
        return held

    def _hold(self, text: str) -> str:
        """Keep *text*; let all go when talk follows a fence, for then it was shown, not made."""
        end = max(0, len(self._held) - _FENCE_END)
        self._held += text
        if not self._held.startswith("```") or not _FENCE_OVER.search(self._held, end):
            return ""
        self._at_line_start = not self._held.rpartition("\n")[2].strip()
        return self.close()

    def _begins_line(self, text: str, start: int) -> bool:
        line, has_break = text[:start].rpartition("\n")[2], "\n" in text[:start]
        return not line.strip() and (has_break or self._at_line_start)
