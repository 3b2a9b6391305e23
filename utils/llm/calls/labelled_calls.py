"""Calls behind words: ReAct's `Action:` and its relatives, and a name above its arguments."""

from __future__ import annotations

import re

from utils.llm.calls.tagged_calls import Block, Reader
from utils.llm.calls.text_call_values import TextCall, calls_of, json_at

_MARKS = r"[*_`]{0,3}"
_NAME = rf"{_MARKS}(?P<name>[A-Za-z][\w.-]*){_MARKS}"
_FENCE_OR_NOT = r"(?P<fence>```(?:json)?[ \t]*\n)?\s*"
NAMED = (
    rf"^[ \t]*{_MARKS}(?:Action|Tool|Function)(?:[ _]?Name)?{_MARKS}:{_MARKS}[ \t]*{_NAME}"
    rf"[ \t]*\n\s*{_MARKS}(?:(?:Action|Tool|Function)[ _])?"
    rf"(?:Input|Arguments|Args|Parameters){_MARKS}:{_MARKS}\s*{_FENCE_OR_NOT}(?=\{{)"
)
"""The words of ReAct, a name behind the one and an object behind the other."""
STARRED = r"^✿FUNCTION✿:[ \t]*(?P<name>[\w.-]+)[ \t]*\n✿ARGS✿:[ \t]*(?P<fence>)(?=\{)"
"""The words of Qwen-Agent."""
_TOOL = r"(?P<name>[a-z]+_[a-z_]+)"
ABOVE = rf"^{_TOOL}[ \t]*\n(?P<fence>)(?=\{{\s*\")"
"""A name in a line of its own, as GLM-4 has it."""
HEADING = (
    rf"^(?:#{{1,6}}[ \t]+[*`]{{0,3}}|[*`]{{1,3}}){_TOOL}[*`]{{0,3}}:?[*`]{{0,3}}[ \t]*\n\s*"
    r"(?P<fence>```(?:json)?[ \t]*\n)\s*(?=\{)"
)
"""A name as a heading or in bold, over a code block with its arguments."""
_CLOSING = re.compile(r"\s*```[ \t]*$", re.MULTILINE)


def read_object(text: str, opening: re.Match[str]) -> Block:
    """Read the object of arguments behind a name, in a code block where one was opened."""
    value, end = json_at(text, opening.end())
    if opening.groupdict().get("fence"):
        closing = _CLOSING.match(text, end)
        if closing is None:
            return None, opening.end()
        end = closing.end()
    return ([TextCall(opening["name"], value)] if isinstance(value, dict) else None), end


def read_action_list(text: str, opening: re.Match[str]) -> Block:
    """Read the fenced JSON behind `Action:`, as Command-R and LangChain have it."""
    value, end = json_at(text, opening.end())
    closing = _CLOSING.match(text, end)
    return (calls_of(value), closing.end()) if closing else (None, opening.end())


LABELLED: tuple[tuple[str, Reader], ...] = (
    (r"^Action:\s*```(?P<fence>)(?:json)?\s*(?=[\[{])", read_action_list),
    (f"(?i:{NAMED})", read_object),
    (STARRED, read_object),
    (r"^>>>(?P<name>[\w.-]+)\n(?=\{)", read_object),
    (r"(?:<\|from\|>assistant\s*)?<\|recipient\|>\s*(?P<name>[\w.-]+)\s*<\|content\|>\s*(?=\{)",
     read_object),
    (ABOVE, read_object),
    (HEADING, read_object),
)  # fmt: skip
"""Each form: the pattern that opens it, and its reader."""
