"""Guard of a streaming reply's text: no part of a call that is written in it is shown."""

from __future__ import annotations

import re

_POSSIBLE_START = re.compile(r"[{\[<`]")
_KEYS = (
    "name|tool|tool_name|function|function_name|action|type|id|tool_calls|tool_call"
    "|tool_call_id|function_call|arguments|parameters|args|input"
)
_TAGS = (
    r"(?:\w{1,20}[:_])?(?:tool|function)_?calls?>|TOOLCALL>|tool_code>|tool_use>|tool_request>"
    r"|function(?:=| name)|(?:\w{1,20}:)?invoke name=|<<\[TOOL_REQUEST\]"
    r"|\|(?:python_tag|channel|start|START_ACTION|action_start|tools_prefix|recipient|from|python_start)\||\|tool_call"
    r"|start_function_call>|(?:tool|tool_call|tool_use|function_call) name="
    r"|[a-z]+_[a-z_]+>\s*<[a-z_]+>"
)
_CALL_START = re.compile(
    r"(?:```[ \t]*(?:json[5c]?|(?:tool|function)\w*|action)?[ \t]*\n\s*)?"
    rf"[{{\[]\s*(?:\{{\s*)?\"(?:{_KEYS})\""
    rf"|\[TOOL_CALLS\]|\[[a-z_]+\(|```tool_code|<(?:{_TAGS})"
)
_MAX_START_LENGTH = 64
_FENCE_OVER = re.compile(r"\n[ \t]*```[ \t]*\n\s*\S")
_FENCE_END = 80
"""Characters that the end of a fence and what follows it may be cut into."""


class CallGuard:
    """Holds back a reply's text from where it may be a call; all else passes as it comes."""

    def __init__(self) -> None:
        self._held_text = ""
        self._is_call = False
        self._at_line_start = True

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        if self._is_call:
            return self._hold_back(text)
        if not self._held_text and not _POSSIBLE_START.search(text):
            self._at_line_start = text.endswith("\n") or (self._at_line_start and not text.strip())
            return text
        text, self._held_text = self._held_text + text, ""
        position = 0
        while match := _POSSIBLE_START.search(text, position):
            start = match.start()
            begins = text[start] == "<" or self._begins_line(text, start)
            self._is_call = begins and _CALL_START.match(text, start) is not None
            if self._is_call or (begins and len(text) - start < _MAX_START_LENGTH):
                self._at_line_start = self._begins_line(text, start)
                self._held_text = text[start:]
                return text[:start]
            position = match.end()
        self._at_line_start = not text.rpartition("\n")[2].strip()
        return text

    def close(self) -> str:
        """Return what is still held back."""
        held_text, self._held_text, self._is_call = self._held_text, "", False
        return held_text

    def _hold_back(self, text: str) -> str:
        """Hold *text* back; release all when text follows a fence, for then it was an example."""
        end = max(0, len(self._held_text) - _FENCE_END)
        self._held_text += text
        if not self._held_text.startswith("```") or not _FENCE_OVER.search(self._held_text, end):
            return ""
        self._at_line_start = not self._held_text.rpartition("\n")[2].strip()
        return self.close()

    def _begins_line(self, text: str, start: int) -> bool:
        line, has_break = text[:start].rpartition("\n")[2], "\n" in text[:start]
        return not line.strip() and (has_break or self._at_line_start)
