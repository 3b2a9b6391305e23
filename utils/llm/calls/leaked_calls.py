"""Call markup that leaked into a reply's text: kept off the screen, and read back as calls.

DeepSeek's models write their calls in a markup of their own, which the server turns into
`tool_calls`. Sometimes it lets the markup through as text: with one bar or two, full-width or not,
with or without blanks, in the form of this model generation or of an older one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from utils.llm.calls.code_tracker import CodeTracker
from utils.text.strict_json import is_json, read_json

_MAX_MARKER_LENGTH = 64
"""More characters than any opening marker has, blanks and doubled bars included."""

_CANDIDATE = re.compile(r"<\s*/?\s*(?:[｜|]|\Z)")
_DSML_NAMES = "calls|tool_calls|function_calls|invoke|parameter"
_MARKERS = (
    *(f"<{slash}|DSML|{name}" for slash in ("", "/") for name in _DSML_NAMES.split("|")),
    "<|tool_calls_begin|",
)

_BAR_PATTERN = r"\s*[｜|]{1,2}\s*"
_TAG = re.compile(
    rf"<\s*(?P<slash>/?){_BAR_PATTERN}DSML{_BAR_PATTERN}(?P<name>{_DSML_NAMES})\b(?P<attributes>[^<>]*)>"
)
_ATTRIBUTE = re.compile(r'([a-z]+)\s*=\s*"([^"]*)"')
_CALL_TAG = re.compile(
    rf"<{_BAR_PATTERN}DSML{_BAR_PATTERN}invoke\s[^<>]*>\s*(?=<{_BAR_PATTERN}DSML)"
)
"""The begin of another call; no value holds it, for its first end would be that of the value."""
_REMAINS = re.compile(
    rf"<\s*/{_BAR_PATTERN}DSML|<\s*/\s*｜"
    r'|name\s*=\s*"[^"]*"\s*string\s*=\s*"(?:true|false)"\s*>'
)
"""What a value holds whose own end is damaged, so that the next one was taken for it."""
_PARAMETER_END = re.compile(rf"<\s*/{_BAR_PATTERN}DSML{_BAR_PATTERN}parameter\s*>")


def _old_marker(words: str) -> str:
    return rf"<{_BAR_PATTERN}{words.replace('_', '[▁_ ]')}{_BAR_PATTERN}>"


_OLD_BEGIN = re.compile(_old_marker("tool_calls_begin"))
_OLD_END = re.compile(_old_marker("tool_calls_end"))
_OLD_CALL_BEGIN = re.compile(_old_marker("tool_call_begin"))
_OLD_CALL = re.compile(
    rf"{_OLD_CALL_BEGIN.pattern}\s*(?:function\s*{_old_marker('tool_sep')})?\s*(?P<name>[\w.-]+)\s*"
    rf"(?:{_old_marker('tool_sep')})?\s*(?:```json)?\s*(?P<arguments>\{{.*?\}})\s*(?:```)?\s*"
    rf"{_old_marker('tool_call_end')}",
    re.DOTALL,
)

MARKUP = (
    rf"<{_BAR_PATTERN}DSML{_BAR_PATTERN}(?:{_DSML_NAMES})\b|{_OLD_BEGIN.pattern}"
    r"|<\s*｜\s*tool▁call▁begin"
)
"""Pattern of the beginning of markup."""

_CLOSED_FENCE = re.compile(r"(?ms)^[ \t>]*(`{3,}|~{3,})[^\n]*\n.*?^[ \t>]*\1[`~]*[ \t]*$")
_CLOSED_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


@dataclass(frozen=True, slots=True)
class RecoveredCall:
    """One call read back from markup; *arguments* is a JSON object as text."""

    name: str
    arguments: str


class MarkupGuard:
    """Passes a reply's text up to the first call markup in it, however it is cut up.

    Markup inside a code fence or between backticks passes: that is an answer *about* markup. If
    such code turns out at the end never to have been closed, `has_leaked` says so. One that is off
    lets everything pass.
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self._is_on = is_on
        self._pending = ""
        self._markup: list[str] = []
        self._code = CodeTracker()
        self._released: list[str] = []
        self._saw_marker_in_code = False

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        if not self._is_on:
            self._released.append(text)
            return text
        if self._markup:
            self._markup.append(text)
            return ""
        text = self._pending + text
        self._pending = ""
        end = self._marker_start(text)
        held_text, released = text[end:], text[:end]
        if held_text and _is_marker(held_text):
            self._markup.append(held_text)
        else:
            self._pending = held_text
        self._released.append(released)
        self._code.read(released)
        return released

    def close(self) -> str:
        """Return the pending text, which did not become a marker."""
        pending, self._pending = self._pending, ""
        self._released.append(pending)
        return pending

    def release(self) -> str:
        """Return the markup as text: it is an example and no call."""
        markup, self._markup = self.markup, []
        self._released.append(markup)
        return markup

    @property
    def text(self) -> str:
        """All text that was released."""
        return "".join(self._released)

    @property
    def markup(self) -> str:
        """All that is held back from the first marker on."""
        return "".join(self._markup)

    @property
    def has_leaked(self) -> bool:
        """Whether markup passed as code that was never closed, and so was none."""
        if not self._saw_marker_in_code:
            return False
        text = _CLOSED_SPAN.sub("", _CLOSED_FENCE.sub("", self.text))
        return any(_is_marker(text[match.start() :]) for match in _CANDIDATE.finditer(text))

    def _marker_start(self, text: str) -> int:
        """Return where in *text* a marker starts, or might once more text has come."""
        for match in _CANDIDATE.finditer(text):
            start = match.start()
            if _is_marker(text[start:]):
                if not self._code.is_open_after(text[:start]):
                    return start
                self._saw_marker_in_code = True
            elif len(text) - start < _MAX_MARKER_LENGTH and _may_become_marker(text[start:]):
                return start
        return len(text)


def _normalized(text: str) -> str:
    """Return the start of *text* without what varies between the ways to write a marker."""
    plain = re.sub(r"\s+", "", text[:_MAX_MARKER_LENGTH]).replace("｜", "|").replace("▁", "_")
    return plain.replace("||", "|")


def _is_marker(text: str) -> bool:
    return _normalized(text).startswith(_MARKERS)


def _may_become_marker(text: str) -> bool:
    start = _normalized(text)
    return any(marker.startswith(start) for marker in _MARKERS)


def read_calls(markup: str) -> list[RecoveredCall] | None:
    """Return the calls that *markup* holds, or None unless it is whole from its first tag on.

    What follows the end of the calls is left out.
    """
    return calls_at(markup, 0)[0]


def calls_at(text: str, start: int) -> tuple[list[RecoveredCall] | None, int]:
    """Return the calls of the markup at *start*, None if it is not whole, and its end."""
    is_old = _OLD_BEGIN.match(text, start)
    calls, end = _read_old(text, start) if is_old else _read_dsml(text, start)
    return calls or None, end


def _read_dsml(markup: str, start: int) -> tuple[list[RecoveredCall] | None, int]:
    outer = _TAG.match(markup, start)
    if outer is None or outer["slash"] or outer["name"] == "parameter":
        return None, start
    if outer["name"] == "invoke":
        call, end = _read_invoke(markup, outer)
        return [call] if call else None, end
    calls: list[RecoveredCall] = []
    position = outer.end()
    while tag := _tag_at(markup, position):
        if tag["name"] != "invoke":
            is_end = tag["slash"] and tag["name"] == outer["name"]
            return calls if is_end else None, tag.end()
        call, position = _read_invoke(markup, tag)
        if call is None:
            break
        calls.append(call)
    return None, position


def _read_invoke(markup: str, opening: re.Match[str]) -> tuple[RecoveredCall | None, int]:
    """Read the call whose tag is *opening*; return it, None if it is not whole, and its end."""
    name = dict(_ATTRIBUTE.findall(opening["attributes"])).get("name")
    arguments: dict[str, Any] = {}
    position = opening.end()
    if opening["slash"] or name is None:
        return None, position
    while tag := _tag_at(markup, position):
        if tag["name"] == "invoke" and tag["slash"]:
            return RecoveredCall(name, json.dumps(arguments, ensure_ascii=False)), tag.end()
        end = _PARAMETER_END.search(markup, tag.end())
        if tag["name"] != "parameter" or tag["slash"] or end is None:
            break
        is_damaged = (one.search(markup, tag.end(), end.start()) for one in (_CALL_TAG, _REMAINS))
        if any(is_damaged):  # the end of its own was cut off
            break
        attributes = dict(_ATTRIBUTE.findall(tag["attributes"]))
        try:
            arguments[attributes["name"]] = _parse_value(
                attributes["string"], markup[tag.end() : end.start()]
            )
        except (KeyError, ValueError):
            break
        position = end.end()
    return None, position


def _parse_value(is_string: str, text: str) -> Any:
    return text if is_string == "true" else read_json(text)


def _tag_at(markup: str, position: int) -> re.Match[str] | None:
    """Return the tag at *position*, white space before it aside."""
    while position < len(markup) and markup[position].isspace():
        position += 1
    return _TAG.match(markup, position)


def _read_old(markup: str, start: int) -> tuple[list[RecoveredCall] | None, int]:
    """Read the markup of the R1 and V3 generations."""
    end = _OLD_END.search(markup, start)
    if end is None:
        return None, start
    calls = list(_OLD_CALL.finditer(markup, start, end.start()))
    call_count = len(_OLD_CALL_BEGIN.findall(markup, start, end.start()))
    if len(calls) < call_count or not all(is_json(call["arguments"]) for call in calls):
        return None, end.end()
    return [RecoveredCall(call["name"], call["arguments"]) for call in calls], end.end()
