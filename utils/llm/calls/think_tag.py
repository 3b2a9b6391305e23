"""Thinking that a server leaves in the text, in a tag at its start."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from utils.llm.calls.code_tracker import CodeTracker

_TAGS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought\n": "<channel|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
}
"""Begins of thoughts and their ends, of all the models that are known."""
_ANSWER_TOKENS = (
    "<|start|>assistant<|channel|>final<|message|>",
    "<|channel|>final<|message|>",
    "<|START_RESPONSE|>",
    "<|begin_of_solution|>",
    "<|begin_of_box|>",
)
"""What gpt-oss and others put before their answer, with a thought before it or without."""
_ANSWER_HEADS = (*_ANSWER_TOKENS, "<answer>", "<response>")
"""The same, and the tags that are only that behind a thought."""

_LONE_END = re.compile(r"</think(?:ing)?>[ \t]*(?:\n\s*|\Z)")
"""End of a thought whose begin the server put into the prompt."""
_END_TOKENS = (
    *(f"<|{name}|>" for name in ("im_end", "eot_id", "eom_id", "endoftext", "end_of_text")),
    *("<|end|>", "<|return|>", "</s>", "<end_of_turn>", "<｜end▁of▁sentence｜>"),
    *("<|END_RESPONSE|>", "<|end_of_solution|>", "<|end_of_box|>", "[e~["),
)
"""Tokens that end a reply, of servers that let them through."""


def part_answer(text: str) -> tuple[str, str]:
    """Return the thought that a whole *text* begins with untold, and the answer behind it.

    The tokens of the model that end it belong to neither.
    """
    text = _without_end(text, _END_TOKENS)
    for tag in ("answer", "response"):
        if f"<{tag}>" not in text:  # its begin was taken off
            text = _without_end(text, (f"</{tag}>",))
    end = _LONE_END.search(text)
    if end is None or "<think" in text[: end.start()]:
        return "", text
    thought = text[: end.start()].rstrip()
    if CodeTracker().is_open_after(thought):
        return "", text
    return thought, text[end.end() :]


def _without_end(text: str, tokens: tuple[str, ...]) -> str:
    """Return *text* without the *tokens* at its end and the white space round them.

    Time is linear in the text.
    """
    end = len(text)
    is_found = False
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        token = next((one for one in tokens if text.endswith(one, 0, end)), "")
        if not token:
            return text[:end] if is_found else text
        end -= len(token)
        is_found = True


class _State(Enum):
    START = 0
    THINKING = 1
    GAP = 2
    TEXT = 3


class ThinkTag:
    """Parts a text that comes in pieces into the thought in the tag at its start, and the rest.

    Time is linear in the text, however it is cut up.
    """

    def __init__(self) -> None:
        self._state = _State.START
        self._pending = ""
        self._begin = self._end = ""
        self._thinking: list[str] = []

    @property
    def is_done(self) -> bool:
        """Whether all that is to come is the rest."""
        return self._state is _State.TEXT

    def feed(self, text: str) -> tuple[str, str]:
        """Return what of the thought and what of the rest is known now."""
        if self._state is _State.TEXT:
            return "", text
        text, self._pending = self._pending + text, ""
        if self._state is _State.START:
            start = text.lstrip()
            if any(begin.startswith(start) for begin in (*_TAGS, *_ANSWER_TOKENS)):
                self._pending = text
                return "", ""
            return self._from_start(start, text)
        return self._feed_within(text)

    def _from_start(self, start: str, text: str) -> tuple[str, str]:
        """Take in the beginning of a *text*, which is *start* behind its white space."""
        if not (begin := _begin_of(start)):
            self._state = _State.TEXT
            head = _head_of(start, _ANSWER_TOKENS)
            return "", start.removeprefix(head).lstrip() if head else text.lstrip("\r\n")
        self._open(begin)
        return self._feed_within(start.removeprefix(begin))

    def _open(self, begin: str) -> None:
        self._begin, self._end = begin, _TAGS[begin]
        self._state = _State.THINKING
        self._thinking = []

    def _feed_within(self, text: str) -> tuple[str, str]:
        """Take in *text* within a thought or behind it, where another one may begin."""
        thoughts: list[str] = []
        while True:
            if self._state is _State.THINKING:
                thought, text = self._split_thinking(text)
                thoughts.append(thought)
            if self._state is _State.THINKING:
                return "".join(thoughts), ""
            if not (begin := _begin_of(text.lstrip())):
                return "".join(thoughts), self._skip_gap(text)
            self._open(begin)
            text = text.lstrip().removeprefix(begin)
            thoughts.append("\n\n")

    def close(self, *, is_thought: bool) -> str:
        """Return the text that was held back.

        Where the tag has no end that is all of it, tag and all, unless it *is_thought* all the
        same: the reply was cut off in it, or there are calls beside it.
        """
        if self._state is not _State.THINKING:
            return self._pending
        if not is_thought:
            return self._begin + "".join(self._thinking) + self._pending
        return ""

    def _split_thinking(self, text: str) -> tuple[str, str]:
        """Return the thought in *text*, and what comes behind the end of its tag."""
        before, end, behind = text.partition(self._end)
        if end:
            self._state = _State.GAP
            return before, behind
        lengths = range(len(self._end) - 1, -1, -1)
        overlap = next(n for n in lengths if text.endswith(self._end[:n]))
        self._pending = text[len(text) - overlap :]
        thought = text[: len(text) - overlap]
        self._thinking.append(thought)
        return thought, ""

    def _skip_gap(self, text: str) -> str:
        """Return *text* without what stands between the tag and the answer."""
        text = text.lstrip()
        heads = (*_TAGS, *_ANSWER_HEADS)
        if any(len(text) < len(head) and head.startswith(text) for head in heads):
            self._pending = text
            return ""
        text = text.removeprefix(_head_of(text, _ANSWER_HEADS)).lstrip()
        if text:
            self._state = _State.TEXT
        return text


def _head_of(text: str, heads: Sequence[str]) -> str:
    return next((head for head in heads if text.startswith(head)), "")


def _begin_of(text: str) -> str:
    """Return the begin of a thought with which *text* begins, "" where it is none."""
    return next((begin for begin in _TAGS if text.startswith(begin)), "")
