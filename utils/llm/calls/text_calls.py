"""Calls that a model wrote as text: meant, merely shown, or undecidable.

A call is meant when it is whole, nothing around it explains or quotes it (`call_context`), and it
is no copy of what the model read. Of what is not sure nothing runs: the model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from utils.llm.calls.call_context import announces, is_example, is_intended
from utils.llm.calls.code_tracker import FENCED, QUOTE, SPAN
from utils.llm.calls.tagged_calls import Reader
from utils.llm.calls.text_call_syntax import SYNTAXES
from utils.llm.calls.text_call_values import TextCall, has_no_placeholders, is_quoted
from utils.llm.calls.vcp_block import OPENING

ToolFit = Literal["fits", "misfits", "unknown"]
"""Whether a call names a tool there is, and its arguments are what that takes."""
CheckFit = Callable[[str, Mapping[str, Any]], ToolFit]

_MAX_CALLS = 32
"""Calls that one text can mean; a model that goes round and round writes more."""
_END_TOKEN = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return|stop|END_OF_TURN_TOKEN)\|>"
    r"|</s>|<end_of_turn>|<[|｜]end▁of▁sentence[|｜]>|\n[*_]{0,3}Observation:[*_]{0,3})\Z"
)
"""What a model writes behind its call and means nobody to read; ReAct's word is for the answer."""
_EMPTY_TAGS = re.compile(r"\A\s*(?:<(tools|tool_call|tool_calls)>\s*</\1>\s*){1,9}")
"""What Qwen's small models write before a call outside of it."""
_MAX_BROKEN_BLOCKS = 200
"""Blocks that are no call before the one that is: each is read to the end of the text."""
_SEPARATOR = re.compile(r"[ \t\n;,]*")
_MAX_END_TOKEN_LENGTH = 32
_BLOCK = re.compile(
    r"[ \t]*(?P<fence>`{3,32}|~{3,32})(?P<label>\w*)[ \t]*\n(?P<body>.*?)\n[ \t]*(?P=fence)\s*",
    re.DOTALL,
)
_CALL_LABEL = re.compile(r"(?:tool|function)_?(?:calls?|use|code)?|action")
_MARKUP_LABELS = ("", "xml", "json", "text", "plaintext")


@dataclass(frozen=True, slots=True)
class FoundCalls:
    """Text of a reply and the *calls* behind it; none of them runs unless *is_sure*."""

    text: str
    calls: tuple[TextCall, ...]
    is_sure: bool


def find_calls(text: str, check_fit: CheckFit, sources: Iterable[str] = ()) -> FoundCalls | None:
    """Return the calls that *text* holds, None where it holds none, or merely shows some.

    *sources* are texts that the model read: a call that stands in one is quoted.
    """
    stripped = _without_end_tokens(_EMPTY_TAGS.sub("", text))
    found = _find_in(stripped, check_fit) or _in_last_fence(stripped, check_fit)
    if found and found.is_sure and is_quoted(found.calls, sources):
        return replace(found, is_sure=False)
    return found


def _find_in(text: str, check_fit: CheckFit) -> FoundCalls | None:
    is_broken, failed, read_to = False, 0, 0
    for start, reader, opening in _call_openings(text):
        if start < read_to:
            continue
        calls, end = _read_sequence(text, reader, opening)
        fits = {check_fit(call.name, call.arguments) for call in calls or ()}
        if fits == {"unknown"} and not (end == len(text) and "<" in opening[0]):
            read_to = end
            continue
        if calls is None and not _names_tool(text[start : start + 200], check_fit):
            is_broken = is_broken or "<" in opening[0]
            failed += 1
            if failed > _MAX_BROKEN_BLOCKS:
                return None
            continue
        before, gap, after = (
            text[:start].rstrip(),
            _indent_before(text, opening),
            text[end:].strip(),
        )
        if is_example(before, after):
            return None
        found_calls = tuple(calls or ())
        is_whole = (
            fits == {"fits"} and len(found_calls) <= _MAX_CALLS and has_no_placeholders(found_calls)
        )
        is_sure = is_whole and not is_broken and is_intended(before, gap, after)
        if fits == {"unknown"} and not is_intended(before, gap, after):
            return None
        return FoundCalls(f"{before}\n\n{after}".strip(), found_calls, is_sure)
    return None


def _in_last_fence(text: str, check_fit: CheckFit) -> FoundCalls | None:
    """Return the calls of another form than JSON that the code block at the end of a reply is.

    Code is text, unless the words before it announce a deed or its label says that it is a call.
    """
    start, end = max((match.span() for match in FENCED.finditer(text)), default=(0, 0))
    block = _BLOCK.fullmatch(text, start, end)
    if block is None or text[end:].strip() or OPENING.search(block["body"]):
        return None  # what VCP shows in code is shown
    before = text[:start].rstrip()
    is_call = _CALL_LABEL.fullmatch(block["label"]) is not None
    if not (is_call or announces(before)) or is_example(before, ""):
        return None
    inner = _find_in(block["body"].strip(), check_fit)
    if inner is None or not inner.calls:
        return None
    is_sure = (
        inner.is_sure and not inner.text and is_intended(before, text[len(before) : start], "")
    )
    return FoundCalls(
        before, inner.calls, is_sure and (is_call or block["label"] in _MARKUP_LABELS)
    )


def _without_end_tokens(text: str) -> str:
    """Return *text* without the end tokens of a reply."""
    bare = text.rstrip()
    while match := _END_TOKEN.search(bare, max(0, len(bare) - _MAX_END_TOKEN_LENGTH)):
        bare = bare[: match.start()].rstrip()
    if bare.endswith("}\n```") and bare.count("```") == 1:  # the end of a fence that never began
        bare = bare[:-3].rstrip()
    return bare


def _indent_before(text: str, opening: re.Match[str]) -> str:
    """Return the white space right before *opening*, that which it begins with included."""
    indent = len(opening[0]) - len(opening[0].lstrip(" \t"))
    before = text[: opening.start()]
    return text[len(before.rstrip()) : opening.start() + indent]


def _call_openings(text: str) -> Iterator[tuple[int, Reader, re.Match[str]]]:
    """Yield the places where a call may begin, in order; code and quotations are text."""
    code = [found.span() for form in (FENCED, SPAN, QUOTE) for found in form.finditer(text)]
    found = [
        (opening.start(), reader, opening)
        for form, reader in SYNTAXES
        for opening in form.finditer(text)
    ]
    spans = iter(sorted(code))
    span, code_end = next(spans, None), 0
    for start, reader, opening in sorted(found, key=lambda item: item[0]):
        is_fence = "fence" in opening.re.groupindex
        while span and (span[0] < start or (span[0] == start and not is_fence)):
            code_end, span = max(code_end, span[1]), next(spans, None)
        if start >= code_end:
            yield start, reader, opening


def _read_sequence(
    text: str, reader: Reader, opening: re.Match[str]
) -> tuple[list[TextCall] | None, int]:
    """Return the calls from *opening* on, as far as one follows the other, and where they end."""
    calls, end = reader(text, opening)
    while calls is not None and len(calls) <= _MAX_CALLS:
        between = _SEPARATOR.match(text, end)
        position = between.end() if between else end
        following = [
            (next_reader, match)
            for form, next_reader in SYNTAXES
            if (match := form.match(text, position))
        ]
        if not following:
            break
        reader, opening = following[0]
        more, after = reader(text, opening)
        if more is None:
            return None, after
        calls, end = [*calls, *more], after
    return calls, end


def _names_tool(text: str, check_fit: CheckFit) -> bool:
    """Return whether the start of a broken block names a tool that there is."""
    words = re.findall(r"[\w.-]+", text[:200])
    return any(check_fit(word, {}) != "unknown" for word in words[:8])
