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

from utils.text.strict_json import is_json, read_json

_LONGEST = 64
"""More characters than any opening marker has, blanks and doubled bars included."""

_CANDIDATE = re.compile(r"<\s*/?\s*(?:[｜|]|\Z)")
_DSML_NAMES = "calls|tool_calls|function_calls|invoke|parameter"
_MARKERS = (
    *(f"<{slash}|DSML|{name}" for slash in ("", "/") for name in _DSML_NAMES.split("|")),
    "<|tool_calls_begin|",
)

_BARS = r"\s*[｜|]{1,2}\s*"
_TAG = re.compile(
    rf"<\s*(?P<slash>/?){_BARS}DSML{_BARS}(?P<name>{_DSML_NAMES})\b(?P<attributes>[^<>]*)>"
)
_ATTRIBUTE = re.compile(r'([a-z]+)\s*=\s*"([^"]*)"')
_PARAMETER_END = re.compile(rf"<\s*/{_BARS}DSML{_BARS}parameter\s*>")


def _mark(words: str) -> str:
    return rf"<{_BARS}{words.replace('_', '[▁_ ]')}{_BARS}>"


_OLD_BEGIN = re.compile(_mark("tool_calls_begin"))
_OLD_END = re.compile(_mark("tool_calls_end"))
_OLD_CALL_BEGIN = re.compile(_mark("tool_call_begin"))
_OLD_CALL = re.compile(
    rf"{_OLD_CALL_BEGIN.pattern}\s*(?:function\s*{_mark('tool_sep')})?\s*(?P<name>[\w.-]+)\s*"
    rf"(?:{_mark('tool_sep')})?\s*(?:```json)?\s*(?P<arguments>\{{.*?\}})\s*(?:```)?\s*"
    rf"{_mark('tool_call_end')}",
    re.DOTALL,
)

MARKUP = rf"<{_BARS}DSML{_BARS}(?:{_DSML_NAMES})\b|{_OLD_BEGIN.pattern}|<\s*｜\s*tool▁call▁begin"
"""What markup begins with, as a pattern."""

_FENCE = re.compile(r"[\s>]*(`{3,}|~{3,})")
_CLOSED_FENCE = re.compile(r"(?ms)^[ \t>]*(`{3,}|~{3,})[^\n]*\n.*?^[ \t>]*\1[`~]*[ \t]*$")
_CLOSED_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")


@dataclass(frozen=True, slots=True)
class Recovered:
    """One call read back from markup; *arguments* is a JSON object as text."""

    name: str
    arguments: str


class MarkupGuard:
    """Lets a reply's text through up to the first call markup in it, however it is cut up.

    Markup inside a code fence or between backticks passes: that is an answer *about* markup. If
    such code turns out at the end never to have been closed, `has_leaked` says so.
    """

    def __init__(self) -> None:
        self._waiting = ""
        self._markup: list[str] = []
        self._code = _CodeTracker()
        self._passed: list[str] = []
        self._saw_marker_in_code = False

    def feed(self, text: str) -> str:
        """Return what may be shown now."""
        if self._markup:
            self._markup.append(text)
            return ""
        text = self._waiting + text
        self._waiting = ""
        end = self._first_hold(text)
        held, passed = text[end:], text[:end]
        if held and _is_marker(held):
            self._markup.append(held)
        else:
            self._waiting = held
        self._passed.append(passed)
        self._code.read(passed)
        return passed

    def close(self) -> str:
        """Let go of what might have become a marker and did not; return it."""
        rest, self._waiting = self._waiting, ""
        self._passed.append(rest)
        return rest

    def release(self) -> str:
        """Let go of the markup as well: it is shown and not made; return it."""
        markup, self._markup = self.markup, []
        self._passed.append(markup)
        return markup

    @property
    def text(self) -> str:
        """All that was let through."""
        return "".join(self._passed)

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
        return any(_is_marker(text[found.start() :]) for found in _CANDIDATE.finditer(text))

    def _first_hold(self, text: str) -> int:
        """Return where in *text* a marker starts, or might once more text has come."""
        for found in _CANDIDATE.finditer(text):
            start = found.start()
            if _is_marker(text[start:]):
                if not self._code.is_open_after(text[:start]):
                    return start
                self._saw_marker_in_code = True
            elif len(text) - start < _LONGEST and _may_become_marker(text[start:]):
                return start
        return len(text)


class _CodeTracker:
    """Knows whether Markdown read so far ends inside a code fence or a code span."""

    def __init__(self) -> None:
        self._fence = ""
        self._unread: list[str] = []

    def read(self, text: str) -> None:
        self._unread.append(text)

    def is_open_after(self, text: str) -> bool:
        """Return whether what follows *text*, which follows all that was read, is code."""
        *lines, last = "".join([*self._unread, text]).split("\n")
        fence = self._fence
        for line in lines:
            fence = _fence_after(line, fence)
        self._settle()
        if fence:
            return True
        return len(re.findall(r"`+", last)) % 2 == 1

    def _settle(self) -> None:
        """Take in the whole lines among what was read, so that they are looked at once."""
        *lines, last = "".join(self._unread).split("\n")
        for line in lines:
            self._fence = _fence_after(line, self._fence)
        self._unread = [last]


def _fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after *line*, '' for none, *fence* being open before."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found[1]
    closes = found[1].startswith(fence) and not line[found.end() :].strip()
    return "" if closes else fence


def _folded(text: str) -> str:
    """Return the start of *text* without what varies between the ways to write a marker."""
    plain = re.sub(r"\s+", "", text[:_LONGEST]).replace("｜", "|").replace("▁", "_")
    return plain.replace("||", "|")


def _is_marker(text: str) -> bool:
    return _folded(text).startswith(_MARKERS)


def _may_become_marker(text: str) -> bool:
    start = _folded(text)
    return any(marker.startswith(start) for marker in _MARKERS)


def read_calls(markup: str) -> list[Recovered] | None:
    """Return the calls that *markup* holds, or None unless it is whole from its first tag on.

    What follows the end of the calls is left out.
    """
    return calls_at(markup, 0)[0]


def calls_at(text: str, start: int) -> tuple[list[Recovered] | None, int]:
    """Return the calls of the markup at *start*, None if it is not whole, and its end."""
    is_old = _OLD_BEGIN.match(text, start)
    calls, end = _read_old(text, start) if is_old else _read_dsml(text, start)
    return calls or None, end


def _read_dsml(markup: str, start: int) -> tuple[list[Recovered] | None, int]:
    outer = _TAG.match(markup, start)
    if outer is None or outer["slash"] or outer["name"] == "parameter":
        return None, start
    if outer["name"] == "invoke":
        call, end = _read_invoke(markup, outer)
        return [call] if call else None, end
    calls: list[Recovered] = []
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


def _read_invoke(markup: str, opening: re.Match[str]) -> tuple[Recovered | None, int]:
    """Read the call whose tag is *opening*; return it, None if it is not whole, and its end."""
    name = dict(_ATTRIBUTE.findall(opening["attributes"])).get("name")
    arguments: dict[str, Any] = {}
    position = opening.end()
    if opening["slash"] or name is None:
        return None, position
    while tag := _tag_at(markup, position):
        if tag["name"] == "invoke" and tag["slash"]:
            return Recovered(name, json.dumps(arguments, ensure_ascii=False)), tag.end()
        end = _PARAMETER_END.search(markup, tag.end())
        if tag["name"] != "parameter" or tag["slash"] or end is None:
            break
        about = dict(_ATTRIBUTE.findall(tag["attributes"]))
        try:
            arguments[about["name"]] = _value(about["string"], markup[tag.end() : end.start()])
        except (KeyError, ValueError):
            break
        position = end.end()
    return None, position


def _value(is_string: str, text: str) -> Any:
    return text if is_string == "true" else read_json(text)


def _tag_at(markup: str, position: int) -> re.Match[str] | None:
    """Return the tag at *position*, white space before it aside."""
    while position < len(markup) and markup[position].isspace():
        position += 1
    return _TAG.match(markup, position)


def _read_old(markup: str, start: int) -> tuple[list[Recovered] | None, int]:
    """Read the markup of the R1 and V3 generations."""
    end = _OLD_END.search(markup, start)
    if end is None:
        return None, start
    calls = list(_OLD_CALL.finditer(markup, start, end.start()))
    begun = len(_OLD_CALL_BEGIN.findall(markup, start, end.start()))
    if len(calls) < begun or not all(is_json(call["arguments"]) for call in calls):
        return None, end.end()
    return [Recovered(call["name"], call["arguments"]) for call in calls], end.end()
