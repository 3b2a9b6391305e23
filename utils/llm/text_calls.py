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
_END_TOKEN = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return)\|>|</s>|<\|end▁of▁sentence\|>)\Z"
)
_MOST_BROKEN = 200
"""Blocks that are no call before the one that is: each is read to the end of the text."""
_BETWEEN = re.compile(r"[ \t\n;,]*")
_LONGEST_END_TOKEN = 32
_LONGEST_SENTENCE = 400
_FENCED = re.compile(r"(?ms)^[ \t>]*(`{3,32}|~{3,32})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]{0,1000}?(?<!`)\1(?!`)")
_QUOTE = re.compile(r"(?m)^[ \t]*>.*$")
_SHOWS = re.compile(
    r"\b(for example|for instance|an? example|examples?:|e\.g\.|such as\W*\Z|looks? like"
    r"|(syntax|markup)\b(?!\s+(errors?|in)\b|\s+of\b(?! an? (\S+ )?call))"
    r"|(in|of) (this|the following|the same) (format|form)|format (is|for|like|of an? \S*\s?call|:)"
    r"|illustrat\w+|demonstrat\w+|hypothetical\w*"
    r"|(do not|does not|don't|never) (call|run|execute|use|write|send|output|emit))\b"
    r"|例如|比如|示例|例子|格式|语法|样子|写法|形如|不要(调用|运行|执行|写)",
    re.IGNORECASE,
)
"""What is said of a call that is shown and not made."""
_DOUBTS = re.compile(
    r"\b(would|could|might|can) (call|write|type|run|paste)\b|\bmay I\b|\bshould you\b"
    r"|\byourself\b|\bis (it|this) (ok|okay|fine)\b|^#+ .*\b(examples?|usage|how to)\b"
    r"|\b(once|when|after) you (agree|approve|confirm)\b"
    r"|\b(please confirm|let me know|your (approval|permission|confirmation))\b"
    r"|\b(won't|will not|cannot|can't|must not|refuse to|avoid|never)"
    r" (do|call|run|execute|use|write|send|this|that)\b"
    r"|\b(make|made|makes|get|trick) me\b|\b(prompt injection|injected|malicious)\b"
    r"|(你|用户)可以|(不会|不能|拒绝)(调用|运行|执行)|请确认",
    re.IGNORECASE,
)
"""What is said of a call that nobody has decided on, or somebody against."""
_PROPOSES = re.compile(
    r"\b(would|could|might) (call|write|use|send|look|be)\b|\b(should|shall) I\b"
    r"|\b(if you (want|like|agree|prefer)|do you want)\b|要不要|是否要|如果你(想|同意|愿意)",
    re.IGNORECASE,
)
"""The same, wherever in the last paragraph it is said."""
_CITES = re.compile(
    r"(\b((says?|said|contain(s|ed)?|holds?|held|reads|shows?|showed|wrote|printed|returned|answered"
    r"|replied|looked as follows|ends? with|instead of)"
    r"|(already|previously|earlier)\s(I\s)?(ran|called|executed|tried|used)"
    r"|(output|result|answer|response|content|line|log|reply|message|text)s?(\s+(was|is|were|of\b.*))?"
    r"|line \d+ of .*|last (answer|reply|call) .*|found (this|it|the following)( in .*)?"
    r"|this (shape|snippet)|sample|usage|template|schema|quote|snippet|observation"
    r"|typical call)|(内容|写着|显示|返回|输出|写道)(是|为|了)?)\s*[:：]?\s*\Z",
    re.IGNORECASE,
)
"""How a sentence ends that gives the words of somebody else."""
_INTENDS = re.compile(
    r"\b(let me|let's|I'll|I will|I am going to|I'm going to|I need to|I want to|I have to|so I"
    r"|now I|next,? I|to (see|check|find|look|read|fix|change|update|mend|add|write))\b"
    r"|\AI (?!already|previously|earlier|ran|called|tried|executed|found|used|got)\w+"
    r"|让我|我来|我要|我会|我将|现在",
    re.IGNORECASE,
)
"""What a sentence holds that says what the model does next, whatever its last word."""
_TAG_LINE = re.compile(r"(?m)^[ \t]*<(?P<name>[a-z][\w-]*)(?:\s[^<>\n]*)?>")
"""A tag that begins a line: while it is open, what follows is somebody's text."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says (*said*) and the *calls* behind it; none of them runs unless *is_sure*."""

    said: str
    calls: tuple[TextCall, ...]
    is_sure: bool


def find_calls(text: str, judge: Judge) -> Reading | None:
    """Return the calls that *text* holds, None where it holds none, or merely shows some."""
    whole = _without_end_tokens(text)
    is_broken, failed, read_to = False, 0, 0
    for start, reader, opening in _openings(whole):
        if start < read_to:
            continue
        calls, end = _sequence(whole, reader, opening)
        fits = {judge(call.name, call.arguments) for call in calls or ()}
        if fits == {"unknown"}:
            read_to = end
            continue
        if calls is None and not _names_a_tool(whole[start : start + 200], judge):
            is_broken = is_broken or "<" in opening[0]
            failed += 1
            if failed > _MOST_BROKEN:
                return None
            continue
        said, rest = whole[:start].rstrip(), whole[end:].strip()
        if shows(said, rest):
            return None
        is_whole = bool(calls) and len(calls or ()) <= _MOST_CALLS and fits == {"fits"}
        is_meant = not (rest or is_broken or _is_doubtful(said, _gap(whole, said, opening)))
        return Reading(said, tuple(calls or ()), is_whole and is_meant)
    return None


def shows(before: str, after: str) -> bool:
    """Return whether the talk around a call presents it instead of making it."""
    return bool(_SHOWS.search(_paragraph(before)) or _SHOWS.search(after))


def _without_end_tokens(text: str) -> str:
    """Return *text* without what ends a reply on the wire."""
    bare = text.rstrip()
    while found := _END_TOKEN.search(bare, max(0, len(bare) - _LONGEST_END_TOKEN)):
        bare = bare[: found.start()].rstrip()
    return bare


def _gap(whole: str, said: str, opening: re.Match[str]) -> str:
    """Return the white space between what was *said* and *opening*."""
    indent = opening.end() - opening.start() - len(opening[0].lstrip(" \t"))
    return whole[len(said) : opening.start() + indent]


def _is_doubtful(said: str, gap: str) -> bool:
    """Return whether what was *said*, and the white *gap* behind it, leave a call in doubt."""
    paragraph = _paragraph(said)[-_LONGEST_SENTENCE:]
    last = _SENTENCE_END.split(paragraph)[-1]
    is_code = bool(said) and gap.rpartition("\n")[2].startswith(("    ", "\t"))
    is_cited = _CITES.search(last) and not _INTENDS.search(last)
    return (
        is_code
        or bool(is_cited or _DOUBTS.search(last))
        or _PROPOSES.search(paragraph) is not None
        or _is_held(said)
    )


def _is_held(said: str) -> bool:
    """Return whether *said* ends within a tag, a comment or a text in three quotes."""
    last = {found["name"]: found.end() for found in _TAG_LINE.finditer(said)}
    is_open = any(said.find(f"</{name}", start) < 0 for name, start in last.items())
    is_comment = said.rfind("<!--") > said.rfind("-->")
    return is_open or is_comment or any(said.count(quotes) % 2 for quotes in ('"' * 3, "'" * 3))


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
    spans = iter(sorted(code))
    span, code_end = next(spans, None), 0
    for start, reader, opening in sorted(found, key=lambda one: one[0]):
        is_fence = "fence" in opening.re.groupindex
        while span and (span[0] < start or (span[0] == start and not is_fence)):
            code_end, span = max(code_end, span[1]), next(spans, None)
        if start >= code_end:
            yield start, reader, opening


def _sequence(
    text: str, reader: Reader, opening: re.Match[str]
) -> tuple[list[TextCall] | None, int]:
    """Return the calls from *opening* on, as far as one follows the other, and where they end."""
    calls, end = reader(text, opening)
    while calls is not None and len(calls) <= _MOST_CALLS:
        between = _BETWEEN.match(text, end)
        position = between.end() if between else end
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
    r"tool_calls?>|tools>|function_calls?>|functioncall>|minimax:tool_call>|function=|invoke name="
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
