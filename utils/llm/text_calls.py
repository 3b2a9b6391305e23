"""Calls that a model wrote as text: meant, merely shown, or not to be told.

A call is meant when the reply ends with it and nothing around it explains or quotes it. What is
not whole, or followed by talk, is *unsure*: nothing of it runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from utils.llm.text_call_syntax import SYNTAXES, Reader, TextCall

Fit = Literal["fits", "misfits", "unknown"]
"""Whether a call names a tool there is, and its arguments are what that takes."""
Judge = Callable[[str, Mapping[str, Any]], Fit]

_MOST_CALLS = 32
"""Calls that one text can mean; a model that goes round and round writes more."""
_END_TOKENS = re.compile(
    r"(?:\s|<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return)\|>|</s>|<\|end▁of▁sentence\|>)+\Z"
)
_FENCED = re.compile(r"(?ms)^[ \t>]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_QUOTE = re.compile(r"(?m)^[ \t]*>.*$")
_SHOWS = re.compile(
    r"\b(for example|for instance|an? example|examples?:|e\.g\.|such as|syntax|markup|looks? like"
    r"|(in|of) (this|that|the following|the same) (format|form)|format (is|of|for|like|:)"
    r"|illustrat\w+|demonstrat\w+|hypothetical\w*"
    r"|(do not|does not|don't|never) (call|run|execute|use|write|send|output|emit))\b"
    r"|例如|比如|示例|例子|格式|语法|样子|写法|形如|不要(调用|运行|执行|写)",
    re.IGNORECASE,
)
"""What is said of a call that is shown and not made."""
_PROPOSES = re.compile(
    r"\b(would|could|might) (call|write|use|send|look|be)\b|\b(should|shall) I\b"
    r"|\b(if you (want|like|agree|prefer)|do you want)\b|要不要|是否要|如果你(想|同意|愿意)",
    re.IGNORECASE,
)
"""What is said of a call that nobody has decided on."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says (*said*) and the *calls* behind it; none of them runs unless *is_sure*."""

    said: str
    calls: tuple[TextCall, ...]
    is_sure: bool


def find_calls(text: str, judge: Judge) -> Reading | None:
    """Return the calls that *text* holds, None where it holds none, or merely shows some."""
    whole = _END_TOKENS.sub("", text)
    for start, reader, opening in _openings(whole):
        calls, end = _sequence(whole, reader, opening)
        fits = {judge(call.name, call.arguments) for call in calls or ()}
        if "unknown" in fits:
            continue
        if calls is None and not _names_a_tool(whole[start:], judge):
            continue
        said, rest = whole[:start].rstrip(), whole[end:].strip()
        if shows(said, rest):
            return None
        is_whole = bool(calls) and len(calls or ()) <= _MOST_CALLS and fits == {"fits"}
        is_meant = not rest and not _PROPOSES.search(_paragraph(said))
        return Reading(said, tuple(calls or ()), is_whole and is_meant)
    return None


def shows(before: str, after: str) -> bool:
    """Return whether the talk around a call presents it instead of making it."""
    return bool(_SHOWS.search(_paragraph(before)) or _SHOWS.search(after))


def _paragraph(text: str) -> str:
    """Return the last paragraph of *text*."""
    return text.rstrip().rsplit("\n\n", 1)[-1]


def _openings(text: str) -> Iterator[tuple[int, Reader, re.Match[str]]]:
    """Yield where a call may begin, in order; what stands in code or in a quotation is text."""
    code = [found.span() for form in (_FENCED, _SPAN, _QUOTE) for found in form.finditer(text)]
    found = [
        (opening.start(), reader, opening)
        for form, reader in SYNTAXES
        for opening in form.finditer(text)
    ]
    for start, reader, opening in sorted(found, key=lambda one: one[0]):
        is_fence = "fence" in opening.re.groupindex
        if not any(a <= start < b and not (is_fence and a == start) for a, b in code):
            yield start, reader, opening


def _sequence(
    text: str, reader: Reader, opening: re.Match[str]
) -> tuple[list[TextCall] | None, int]:
    """Return the calls from *opening* on, as far as one follows the other, and where they end."""
    calls, end = reader(text, opening)
    while calls is not None:
        position = end + len(text[end:]) - len(text[end:].lstrip(" \t\n;,"))
        following = [
            (one, match) for form, one in SYNTAXES if (match := form.match(text, position))
        ]
        if not following:
            break
        reader, opening = following[0]
        more, after = reader(text, opening)
        if more is None:
            return None, after
        calls, end = [*calls, *more], after
    return calls, end


def _names_a_tool(text: str, judge: Judge) -> bool:
    """Return whether the start of a broken block names a tool that there is."""
    words = re.findall(r"[\w.-]+", text[:200])
    return any(judge(word, {}) != "unknown" for word in words[:8])


_MAY_OPEN = re.compile(r"[{\[<`]")
_KEYS = (
    "name|tool|tool_name|function|function_name|action|type|id|tool_calls|arguments|parameters"
    "|args|input"
)
_TAGS = (
    r"tool_calls?>|function_calls?>|functioncall>|minimax:tool_call>|function=|invoke name="
    r"|\|python_tag\||\|tool_call|\|channel\||\|start\||start_function_call>"
    r"|[a-z]+_[a-z_]+>\s*<[a-z_]+>"
)
_LEAD = re.compile(
    rf"(?:```(?:json|tool_call|tool)?[ \t]*\n\s*)?[{{\[]\s*(?:\{{\s*)?\"(?:{_KEYS})\""
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
