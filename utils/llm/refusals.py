"""Reading refusals: which part of a request a server does not take."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from utils.i18n import Phrase, phrase
from utils.llm.server_profile import PLAIN, CallContent, ServerProfile
from utils.text.strict_json import read_json

_USUAL_LARGEST = 8192
"""Tokens of output that most servers allow, where one refuses more and does not say how many."""
_LEAST_REPLY = 256
"""Tokens; a window that leaves fewer for the reply is too small for the prompt."""
_LONGEST_TEXT = 8192
"""Characters of a refusal that are read; some servers send the whole request back."""
_MOST_DIGITS = 12
_LISTED = re.compile(
    r"[,;.]? ?(expected one of|(allowed|supported|valid|permitted|known) (fields|parameters|keys"
    r"|properties|arguments|names)\b).*",
    re.IGNORECASE | re.DOTALL,
)
"""What a server takes, named behind what it does not."""
_TEMPLATE = re.compile(r"template|jinja|raise_exception|TemplateError", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request refused: the HTTP *status* and what the body says, field names included."""

    status: int
    text: str

    @classmethod
    def of(cls, status: int, body: str) -> Refusal:
        """Read the *body* of an answer; what it repeats of the request is left out."""
        try:
            text = words_in(read_json(body))
        except ValueError:
            text = body
        return cls(status, _LISTED.sub("", text[:_LONGEST_TEXT]))

    @property
    def may_be_shape(self) -> bool:
        """Whether another shape of the same request may help."""
        return self.status in (400, 422) or (
            self.status in (406, 415, 500, 501) and self._names_a_shape
        )

    @property
    def _names_a_shape(self) -> bool:
        return bool(_TEMPLATE.search(self.text)) or any(h.asks(self.text) for h in _HABITS)


def words_in(value: Any) -> str:
    """Return the strings of an error in their order, without kinds and what it echoes."""
    words: list[str] = []
    todo = [value]
    while todo:
        match todo.pop():
            case dict() as told:
                kept = [one for name, one in told.items() if name not in ("input", "type", "url")]
                todo += reversed(kept)
            case list() as parts if all(isinstance(one, str | int) for one in parts):
                words.append(".".join(map(str, parts)))
            case list() as parts:
                todo += reversed(parts)
            case str() as word:
                words.append(word)
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class _Habit:
    """One thing that servers refuse: how they say it, and the profile without it.

    *change* returns the same profile where it has that already.
    """

    pattern: str
    change: Callable[[ServerProfile, str], ServerProfile]

    def asks(self, text: str) -> bool:
        return re.search(self.pattern, text, re.IGNORECASE | re.DOTALL) is not None


def _window(profile: ServerProfile, text: str) -> ServerProfile:
    """Take the window that *text* names, then ask for less and less output."""
    found = window_named(text)
    if not found:
        return profile
    if not profile.window or found < profile.window:
        return replace(profile, window=found)
    output = min(profile.max_output or found, found) // 2
    return replace(profile, max_output=output) if output >= _LEAST_REPLY else profile


def _is_full(text: str) -> bool:
    """Return whether the prompt alone fills the window, by what *text* says of both."""
    window = window_named(text)
    return window > 0 and _prompt_named(text) + _LEAST_REPLY > window


def _prompt_named(text: str) -> int:
    """Return the tokens of the prompt as *text* counts them, 0 if it does not."""
    for pattern in (
        r"([\d,]+) (?:tokens )?(?:in|from) (?:the|your) (?:messages|input|prompt)",
        r"([\d,]+) input tokens",
        r"request \(([\d,]+) tokens",
        r"prompt is too long: ([\d,]+)",
        r"resulted in ([\d,]+) tokens",
        r"(?:contains?|input|prompt|length) \(?(?:at least )?([\d,]+)(?: input)? ?(?:tokens|\))",
        r"input token count \(([\d,]+)",
        r"keep the first ([\d,]+)",
        r"([\d,]+) of text input",
    ):
        if found := re.search(pattern, text, re.IGNORECASE):
            return _number(found[1])
    return 0


def window_named(text: str) -> int:
    """Return the tokens that the server's window has by its own words, 0 if they do not say."""
    for pattern in (
        r"maximum context length (?:is|of) ([\d,]+)",
        r"available context size \(([\d,]+)",
        r"context (?:length|window|size|limit)[^\d]{0,40}([\d,]{4,})",
        r'n_ctx"?\s*[=:]\s*([\d,]+)',
        r"max_model_len[^\d]{0,20}([\d,]+)",
        r"input tokens? .*?(?:limit|maximum)[^\d]{0,30}([\d,]{4,})",
        r"> ?([\d,]{4,}) maximum",
        r"([\d,]{4,}) maximum context length",
        r"maximum model length of ([\d,]+)",
        r"maximum prompt length is ([\d,]+)",
        r"configured limit of ([\d,]+)",
        r"maximum number of tokens allowed \(([\d,]+)",
        r"input length should be \[\d+, ?([\d,]+)",
        r"model token limit: ([\d,]+)",
        r"cannot exceed ([\d,]+)",
        r"max size: ([\d,]+) tokens",
    ):
        if found := re.search(pattern, text, re.IGNORECASE):
            return _number(found[1])
    return 0


def _number(digits: str) -> int:
    """Return the number in *digits*, of which commas may be all; no server means an endless one."""
    return int(digits.replace(",", "")[:_MOST_DIGITS] or 0)


def _output(profile: ServerProfile, text: str) -> ServerProfile:
    """Take the largest output that *text* names, or one that is smaller than the last try."""
    if re.search(r"max_tokens.*(not supported|unsupported|instead|deprecated)", text) and (
        "max_completion_tokens" in text
    ):
        return replace(profile, output_limit="max_completion_tokens")
    if profile.output_limit == "max_completion_tokens" and _unknown(text, "max_completion_tokens"):
        return replace(profile, output_limit="none")
    if profile.output_limit == "max_tokens" and _unknown(text, "max_tokens"):
        return replace(profile, output_limit="max_completion_tokens")
    largest = _largest_named(text) or _USUAL_LARGEST
    if not profile.max_output or largest < profile.max_output:
        return replace(profile, max_output=largest)
    if profile.max_output > 1024:
        return replace(profile, max_output=profile.max_output // 2)
    return replace(profile, output_limit="none")


def _unknown(text: str, name: str) -> bool:
    """Return whether *text* says that there is no parameter *name*."""
    words = r"unrecognized|unknown|unexpected|unsupported|not supported|extra|not permitted"
    near = rf"({words})[^.]{{0,60}}{name}|{name}[^.]{{0,80}}({words})"
    return re.search(near, text, re.IGNORECASE) is not None


def _largest_named(text: str) -> int:
    """Return the most tokens of output that *text* allows, 0 if it names none."""
    if beyond := re.search(r"to ([\d,]+) \(exclusive\)", text):
        return _number(beyond[1]) - 1
    for pattern in (
        r"at most ([\d,]+)",
        r"(?:less than or equal to|<=|no more than|not exceed|up to) ?`?([\d,]+)",
        r"\[ ?\d+ ?, ?([\d,]+) ?\]",
        r"between \d+ and ([\d,]+)",
        r"> ([\d,]+),? which is the maximum",
        r"exceeds (?:the )?(?:limit|maximum)?(?: of )?([\d,]+)",
        r"exceeds the maximum[^\d]{0,30} of ([\d,]+)",
        r"(?:maximum|limit|max)[^\d]{0,40}(?:is|of|:|=) ?([\d,]+)",
    ):
        if found := re.search(pattern, text, re.IGNORECASE):
            return _number(found[1])
    return 0


def _system(profile: ServerProfile, text: str) -> ServerProfile:
    """Put system messages first, or nowhere where that is done or the role is not known."""
    unknown = r"system.{0,40}(not supported|unsupported|not allowed|invalid)|"
    unknown += r"(not support|unsupported|unknown|invalid|unexpected).{0,30}\bsystem\b"
    if profile.system_messages != "anywhere" or re.search(unknown, text, re.IGNORECASE):
        return replace(profile, system_messages="none")
    return replace(profile, system_messages="first")


def _alternating(profile: ServerProfile, _: str) -> ServerProfile:
    """Let roles alternate; where that was no help, neither tools nor the system have one there."""
    if profile.alternating and not profile.tool_messages:
        return replace(profile, system_messages="none")
    if profile.alternating:
        return replace(profile, tool_messages=False)
    system = "first" if profile.system_messages == "anywhere" else profile.system_messages
    return replace(profile, alternating=True, system_messages=system)


def _call_content(profile: ServerProfile, _: str) -> ServerProfile:
    """Take the next of what may stand beside calls without a text."""
    known = get_args(CallContent)
    tried = known.index(profile.call_content)
    return replace(profile, call_content=known[min(tried + 1, len(known) - 1)])


def _tool_choice(profile: ServerProfile, text: str) -> ServerProfile:
    """Say what *text* wants of the choice of tools; nothing where that itself is refused."""
    if profile.tool_choice != "unsaid":
        return replace(profile, tool_choice="unsaid")
    if re.search(r"requires --|enable-auto|tool-call-parser", text):
        return replace(profile, tool_choice="none")
    return replace(profile, tool_choice="auto")


def _without(**changes: Any) -> Callable[[ServerProfile, str], ServerProfile]:
    return lambda profile, _: replace(profile, **changes)


_HABITS: Sequence[_Habit] = (
    _Habit(
        r"(maximum|available|model'?s?) (context|input)|context (length|window|size)|n_ctx"
        r"|prompt is too long|max_model_len",
        _window,
    ),
    _Habit(
        r"auto.{0,4} tool choice requires|enable-auto-tool-choice"
        r"|tool_choice.{0,40}(required|missing|must be)",
        _tool_choice,
    ),
    _Habit(r"reasoning_content", _without(reasoning_content=False)),
    _Habit(
        r"reasoning[_.]?effort|reasoning\.effort",
        _without(reasoning_effort=False),
    ),
    _Habit(r"stream_options|include_usage", _without(stream_options=False)),
    _Habit(r"\bstream(ing)?\b", _without(stream=False)),
    _Habit(
        r"(?<![a-z_])thinking(?!_)",
        _without(thinking=False),
    ),
    _Habit(
        r"max_tokens|max_completion_tokens|max_new_tokens|max.?output.?tokens|maximum output"
        r"|(output|completion) tokens",
        _output,
    ),
    _Habit(
        r"\balternat(e|es|ing)\b.{0,40}\b(user|assistant|roles?)\b|roles? must alternate",
        _alternating,
    ),
    _Habit(
        r"\btool\b.{0,12} roles?\b|roles?\W{1,4}tool\b.{0,40}(support|unknown|invalid|allowed)"
        r"|(unknown|unsupported|invalid|unexpected|only support).{0,30}\brole\W{1,4}tool\b"
        r"|only user.{0,20}assistant.{0,20}roles?"
        r"|role.{0,40}should be.{0,20}user.{0,8}(or|and) .?assistant"
        r"|tool_calls.{0,40}(extra|not permitted|unsupported|not supported|unknown|unexpected)"
        r"|(extra|unsupported|unknown|unexpected).{0,40}\btool_calls",
        _without(tool_messages=False),
    ),
    _Habit(
        r"\bsystem\b.{0,60}(messages?|prompts?|roles?|instruction)|roles?\b.{0,60}\bsystem\b",
        _system,
    ),
    _Habit(
        r"(after|following|followed by|before).{0,40}\b(role|user|tool|assistant)\b"
        r"|(expected|last|unexpected).{0,20}\broles?\b",
        _alternating,
    ),
    _Habit(
        r"single tool.?calls?|one tool.?call|parallel|multiple (tool|function).?calls?",
        _without(parallel_calls=False),
    ),
    _Habit(
        r"tool.?call.{0,12}\bid\b.{0,80}(length|9|alphanumeric|a-z|pattern|characters)",
        _without(call_ids="short"),
    ),
    _Habit(
        r"additionalProperties|\bdefault\b.{0,40}(schema|field|propert|not|unknown)"
        r"|(unknown|unsupported|invalid).{0,40}(schema|\bdefault\b)",
        _without(plain_schema=True),
    ),
    _Habit(
        r"content.{0,60}(empty|blank|at least 1|min_length|must not be|non-?whitespace|null\b"
        r"|none\b|required|missing|valid string)"
        r"|(empty|blank|null|missing).{0,30}content|must have a text",
        _call_content,
    ),
)


def learnt(profile: ServerProfile, refusal: Refusal, *, may_guess: bool) -> ServerProfile | None:
    """Return the profile that *refusal* teaches, None if it teaches nothing new.

    One habit a refusal, each at most once: a profile only ever asks for less. A refusal that
    names nothing of ours teaches the plainest shape, if one *may_guess*; one of a prompt that
    fills the window alone teaches nothing.
    """
    if not refusal.may_be_shape:
        return None
    named = [habit for habit in _HABITS if habit.asks(refusal.text)]
    if named[:1] == [_HABITS[0]] and _is_full(refusal.text):
        return None
    for habit in named:
        if (better := habit.change(profile, refusal.text)) != profile:
            return better
    if named or not may_guess:
        return None
    plain = replace(
        PLAIN,
        output_limit=profile.output_limit,
        max_output=min(profile.max_output or _USUAL_LARGEST, _USUAL_LARGEST),
        window=profile.window,
    )
    return plain if plain != profile else None


_PICTURES = re.compile(
    r"image|picture|vision|multi-?modal|mmproj"
    r"|content.{0,80}((be|valid|expected|not) (a )?(string|str)\b|string_type)"
    r"|(expected|invalid type|must be).{0,40}(a |valid )?string",
    re.IGNORECASE | re.DOTALL,
)
"""How servers say that they take no pictures: vLLM, llama.cpp, Ollama, OpenRouter, DeepSeek, …"""


def without_pictures(profile: ServerProfile, refusal: Refusal) -> ServerProfile | None:
    """Return the profile that the *refusal* of a request with pictures teaches, None if nothing.

    A size that is complained about says nothing of the model.
    """
    says_so = refusal.status in (400, 404, 415, 422, 500, 501) and _PICTURES.search(refusal.text)
    if not profile.pictures or not says_so:
        return None
    return replace(profile, pictures=False)


def told(before: ServerProfile, after: ServerProfile, host: str) -> Phrase:
    """Return what to say when a profile was learnt."""
    if after == replace(before, pictures=False):
        return phrase(
            "{host} takes no pictures for this model; it is told their kind and size instead.",
            host=host,
        )
    return phrase(
        "{host} takes requests of another shape ({names}); they are sent so from now on.",
        host=host,
        names=after.news(before),
    )
