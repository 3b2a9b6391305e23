"""Calls that a model wrote as text: meant, merely shown, or not to be told.

A call is meant when it is whole, nothing around it explains or quotes it (`call_context`), and it
is no copy of what the model read. Of what is not sure nothing runs: the model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from utils.llm.calls.call_context import announces, is_made, shows
from utils.llm.calls.tagged_calls import Reader
from utils.llm.calls.text_call_syntax import SYNTAXES
from utils.llm.calls.text_call_values import TextCall, is_copied, is_filled_in

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
_FENCED = re.compile(r"(?ms)^[ \t>]*(`{3,32}|~{3,32})[^\n]*\n.*?(?:^[ \t>]*\1[`~]*[ \t]*$|\Z)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]{0,1000}?(?<!`)\1(?!`)")
_QUOTE = re.compile(r"(?m)^[ \t]*>(?!>>\w+\n\{).*$")
_BLOCK = re.compile(
    r"[ \t]*(?P<fence>`{3,32}|~{3,32})(?P<label>\w*)[ \t]*\n(?P<body>.*?)\n[ \t]*(?P=fence)\s*",
    re.DOTALL,
)
_CALL_LABEL = re.compile(r"(?:tool|function)_?(?:calls?|use|code)?|action")
_MARKUP_LABELS = ("", "xml", "json", "text", "plaintext")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says (*said*) and the *calls* behind it; none of them runs unless *is_sure*."""

    said: str
    calls: tuple[TextCall, ...]
    is_sure: bool


def find_calls(text: str, judge: Judge, heard: Iterable[str] = ()) -> Reading | None:
    """Return the calls that *text* holds, None where it holds none, or merely shows some.

    *heard* is what the model read of others: a call that stands in it is cited.
    """
    whole = _without_end_tokens(text)
    reading = _found(whole, judge) or _in_last_fence(whole, judge)
    if reading and reading.is_sure and is_copied(reading.calls, heard):
        return replace(reading, is_sure=False)
    return reading


def _found(whole: str, judge: Judge) -> Reading | None:
    is_broken, failed, read_to = False, 0, 0
    for start, reader, opening in _openings(whole):
        if start < read_to:
            continue
        calls, end = _sequence(whole, reader, opening)
        fits = {judge(call.name, call.arguments) for call in calls or ()}
        if fits == {"unknown"} and not (end == len(whole) and "<" in opening[0]):
            read_to = end
            continue
        if calls is None and not _names_a_tool(whole[start : start + 200], judge):
            is_broken = is_broken or "<" in opening[0]
            failed += 1
            if failed > _MOST_BROKEN:
                return None
            continue
        said, gap, rest = whole[:start].rstrip(), _gap(whole, opening), whole[end:].strip()
        if shows(said, rest):
            return None
        found = tuple(calls or ())
        is_whole = fits == {"fits"} and len(found) <= _MOST_CALLS and is_filled_in(found)
        is_sure = is_whole and not is_broken and is_made(said, gap, rest)
        if fits == {"unknown"} and not is_made(said, gap, rest):
            return None
        return Reading(f"{said}\n\n{rest}".strip(), found, is_sure)
    return None


def _in_last_fence(whole: str, judge: Judge) -> Reading | None:
    """Return the calls of another form than JSON that the code block at the end of a reply is.

    Code is text, unless the words before it announce a deed or its label says that it is a call.
    """
    start, end = max((found.span() for found in _FENCED.finditer(whole)), default=(0, 0))
    block = _BLOCK.fullmatch(whole, start, end)
    if block is None or whole[end:].strip():
        return None
    said = whole[:start].rstrip()
    is_call = _CALL_LABEL.fullmatch(block["label"]) is not None
    if not (is_call or announces(said)) or shows(said, ""):
        return None
    inner = _found(block["body"].strip(), judge)
    if inner is None or not inner.calls:
        return None
    is_sure = inner.is_sure and not inner.said and is_made(said, whole[len(said) : start], "")
    return Reading(said, inner.calls, is_sure and (is_call or block["label"] in _MARKUP_LABELS))


def _without_end_tokens(text: str) -> str:
    """Return *text* without what ends a reply on the wire."""
    bare = text.rstrip()
    while found := _END_TOKEN.search(bare, max(0, len(bare) - _LONGEST_END_TOKEN)):
        bare = bare[: found.start()].rstrip()
    return bare


def _gap(whole: str, opening: re.Match[str]) -> str:
    """Return the white space right before *opening*, that which it begins with included."""
    indent = len(opening[0]) - len(opening[0].lstrip(" \t"))
    before = whole[: opening.start()]
    return whole[len(before.rstrip()) : opening.start() + indent]


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
