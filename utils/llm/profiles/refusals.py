"""Parser of refusals: the part of a request that a server does not take."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, get_args

from utils.frozen import frozen
from utils.i18n import Phrase, phrase
from utils.llm.profiles.server_profile import MINIMAL_PROFILE, CallContent, ServerProfile
from utils.text.strict_json import read_json

_COMMON_MAX_OUTPUT = 8192
"""Tokens of output that most servers allow, where one refuses more and does not say how many."""
_MIN_REPLY_TOKENS = 256
"""Tokens; a window that leaves fewer for the reply is too small for the prompt."""
_MAX_TEXT_LENGTH = 8192
"""Characters of a refusal that are read; some servers send the whole request back."""
_MAX_DIGITS = 12
_ALLOWED_LIST = (
    r"(?is)[,;.]? ?(expected one of|(allowed|supported|valid|permitted|known) "
    r"(fields|parameters|keys|properties|arguments|names)\b).*"
)
"""List of what a server takes, named behind what it does not."""
_PARAMETER = (
    r"\b(stream_options|max_tokens|max_completion_tokens|tool_choice|reasoning_effort"
    r"|reasoning_content)\b|\bparameters?\W{1,3}thinking\b"
)
"""Parameters of ours, by names that are no words of any language."""
_TEMPLATE_WORDS = r"(?i)template|jinja|raise_exception|TemplateError"


@frozen
class Refusal:
    """A request refused: the HTTP *status* and what the body says, field names included."""

    status: int
    text: str

    @classmethod
    def parse(cls, status: int, body: str) -> Refusal:
        """Read the *body* of an answer; what it repeats of the request is left out."""
        try:
            text = error_strings(read_json(body))
        except ValueError:
            text = body
        return cls(status, re.sub(_ALLOWED_LIST, "", text[:_MAX_TEXT_LENGTH]))

    @property
    def is_adaptable(self) -> bool:
        """Whether another shape of the same request may help, by what it says."""
        if self.status in (403, 404, 413):  # usually of something else than the request's shape
            return "support tool" in self.text or re.search(_PARAMETER, self.text) is not None
        return self.status in (400, 422) or (
            self.status in (406, 415, 500, 501) and self._names_quirk
        )

    @property
    def _names_quirk(self) -> bool:
        return bool(re.search(_TEMPLATE_WORDS, self.text)) or any(
            h.matches(self.text) for h in _QUIRKS
        )


def error_strings(value: Any) -> str:
    """Return the strings of an error in their order, without kinds and what it echoes."""
    words: list[str] = []
    stack = [value]
    while stack:
        match stack.pop():
            case dict() as table:
                values = [
                    item for name, item in table.items() if name not in ("input", "type", "url")
                ]
                stack += reversed(values)
            case list() as parts if all(isinstance(item, str | int) for item in parts):
                words.append(".".join(map(str, parts)))
            case list() as parts:
                stack += reversed(parts)
            case str() as word:
                words.append(word)
    return " ".join(words)


@frozen
class _Quirk:
    """One quirk of servers: the pattern of its refusals, and the profile without it.

    *adapt* returns the same profile where it has that already.
    """

    pattern: str
    adapt: Callable[[ServerProfile, str], ServerProfile]

    def matches(self, text: str) -> bool:
        return re.search(self.pattern, text, re.IGNORECASE | re.DOTALL) is not None


def _adapt_window(profile: ServerProfile, text: str) -> ServerProfile:
    """Adopt the window that *text* names, then ask for less and less output."""
    match = parse_window(text)
    if not match:
        return profile
    if not profile.window or match < profile.window:
        return replace(profile, window=match)
    output = min(profile.max_output or match, match) // 2
    return replace(profile, max_output=output) if output >= _MIN_REPLY_TOKENS else profile


def _is_window_full(text: str) -> bool:
    """Return whether the prompt alone fills the window, by what *text* says of both."""
    window = parse_window(text)
    return window > 0 and _parse_prompt_tokens(text) + _MIN_REPLY_TOKENS > window


def _parse_prompt_tokens(text: str) -> int:
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
        r"given: ([\d,]+)",
    ):
        if match := re.search(pattern, text, re.IGNORECASE):
            return _number(match[1])
    return 0


def parse_window(text: str) -> int:
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
        r"must have less than ([\d,]+) tokens",
        r"max_new_tokens\W{1,3}must be <= ([\d,]+)",
        r"prompt token count .{0,40}limit of ([\d,]+)",
        r"while limit is ([\d,]+)",
    ):
        if match := re.search(pattern, text, re.IGNORECASE):
            return _number(match[1])
    return 0


def _number(digits: str) -> int:
    """Return the number in *digits*, of which commas may be all; no server means an endless one."""
    return int(digits.replace(",", "")[:_MAX_DIGITS] or 0)


def _adapt_output(profile: ServerProfile, text: str) -> ServerProfile:
    """Take the largest output that *text* names, or one that is smaller than the last try."""
    names_other = re.search(r"max_tokens.*(not supported|unsupported|instead|deprecated)", text)
    if names_other and "max_completion_tokens" in text and profile.output_limit == "max_tokens":
        return replace(profile, output_limit="max_completion_tokens")
    if profile.output_limit == "max_completion_tokens" and _is_unknown_parameter(
        text, "max_completion_tokens"
    ):
        return replace(profile, output_limit="none")
    if profile.output_limit == "max_tokens" and _is_unknown_parameter(text, "max_tokens"):
        return replace(profile, output_limit="max_completion_tokens")
    largest = _parse_max_output(text) or _COMMON_MAX_OUTPUT
    if not profile.max_output or largest < profile.max_output:
        return replace(profile, max_output=largest)
    if profile.max_output > 1024:
        return replace(profile, max_output=profile.max_output // 2)
    return replace(profile, output_limit="none")


def _is_unknown_parameter(text: str, name: str) -> bool:
    """Return whether *text* says that there is no parameter *name*."""
    words = r"unrecognized|unknown|unexpected|unsupported|not supported|extra|not permitted"
    pattern = rf"({words})[^.]{{0,60}}{name}|{name}[^.]{{0,80}}({words})"
    return re.search(pattern, text, re.IGNORECASE) is not None


def _parse_max_output(text: str) -> int:
    """Return the most tokens of output that *text* allows, 0 if it names none."""
    if exclusive := re.search(r"to ([\d,]+) \(exclusive\)", text):
        return _number(exclusive[1]) - 1
    for pattern in (
        r"at most ([\d,]+)",
        r"(?:less than or equal to|<=|no more than|not exceed|up to) ?`?([\d,]+)",
        r"not be (?:greater|more|larger|higher) than ([\d,]+)",
        r"\[ ?\d+ ?, ?([\d,]+) ?\]",
        r"between \d+ and ([\d,]+)",
        r"> ([\d,]+),? which is the maximum",
        r"exceeds (?:the )?(?:limit|maximum)?(?: of )?([\d,]+)",
        r"exceeds the maximum[^\d]{0,30} of ([\d,]+)",
        r"(?:maximum|limit|max)[^\d]{0,40}(?:is|of|:|=) ?([\d,]+)",
    ):
        if match := re.search(pattern, text, re.IGNORECASE):
            return _number(match[1])
    return 0


def _adapt_system_messages(profile: ServerProfile, text: str) -> ServerProfile:
    """Put system messages first, or nowhere where that is done or the role is not known."""
    unknown = r"system.{0,40}(not supported|unsupported|not allowed|invalid)|"
    unknown += r"(not support|unsupported|unknown|invalid|unexpected).{0,30}\bsystem\b"
    if profile.system_messages != "anywhere" or re.search(unknown, text, re.IGNORECASE):
        return replace(profile, system_messages="none")
    return replace(profile, system_messages="first")


def _adapt_roles(profile: ServerProfile, _: str) -> ServerProfile:
    """Let roles alternate; where that was no help, neither tools nor the system have one there."""
    if profile.alternating and not profile.tool_messages:
        return replace(profile, system_messages="none")
    if profile.alternating:
        return replace(profile, tool_messages=False)
    system = "first" if profile.system_messages == "anywhere" else profile.system_messages
    return replace(profile, alternating=True, system_messages=system)


def _adapt_call_content(profile: ServerProfile, _: str) -> ServerProfile:
    """Take the next of what may stand beside calls without a text."""
    choices = get_args(CallContent)
    current = choices.index(profile.call_content)
    return replace(profile, call_content=choices[min(current + 1, len(choices) - 1)])


def _adapt_content_or_calls(profile: ServerProfile, _: str) -> ServerProfile:
    """Say nothing beside calls; where that is no help, calls have no messages of their own."""
    if profile.call_content != "absent":
        return replace(profile, call_content="absent")
    return replace(profile, tool_messages=False)


def _adapt_tool_choice(profile: ServerProfile, text: str) -> ServerProfile:
    """Say what *text* wants of the choice of tools; nothing where that itself is refused."""
    if profile.tool_choice != "unsaid":
        return replace(profile, tool_choice="unsaid")
    if re.search(r"requires --|enable-auto|tool-call-parser", text):
        return replace(profile, tool_choice="none")
    return replace(profile, tool_choice="auto")


def _adapt_reasoning_content(profile: ServerProfile, text: str) -> ServerProfile:
    """Leave out the thoughts on earlier replies, or no more where they are missed.

    Where they are there, be they empty, and missed all the same, no thinking is asked for.
    """
    if not re.search(r"reasoning_content.{0,40}(missing|required|must be)|missing", text):
        return replace(profile, reasoning_content=False)
    if not profile.reasoning_content:
        return replace(profile, reasoning_content=True)
    return replace(profile, thinking=False)


def _refuse_signatures(profile: ServerProfile, _: str) -> ServerProfile:
    """Send no signatures back where any were; else the text asks for what nobody has."""
    is_sent = profile.signatures == "sent"
    return replace(profile, signatures="refused") if is_sent else profile


def _set_fields(**changes: Any) -> Callable[[ServerProfile, str], ServerProfile]:
    return lambda profile, _: replace(profile, **changes)


_QUIRKS: Sequence[_Quirk] = (
    _Quirk(
        r"(maximum|available|model'?s?) (context|input)|context (length|window|size)|n_ctx"
        r"|prompt is too long|max_model_len|inputs. tokens|must have less than [\d,]+ tokens",
        _adapt_window,
    ),
    _Quirk(
        r"auto.{0,4} tool choice requires|enable-auto-tool-choice"
        r"|tool_choice.{0,40}(required|missing|must be)",
        _adapt_tool_choice,
    ),
    _Quirk(
        r"thought.?signature|reasoning_details|encrypted_content|extra_content",
        _refuse_signatures,
    ),
    _Quirk(r"reasoning_content", _adapt_reasoning_content),
    _Quirk(
        r"reasoning[_.]?effort|reasoning\.effort",
        _set_fields(reasoning_effort=False),
    ),
    _Quirk(r"stream_options|include_usage", _set_fields(stream_options=False)),
    _Quirk(r"\bstream(ing)?\b", _set_fields(stream=False)),
    _Quirk(
        r"(?<![a-z_])thinking(?!_)",
        _set_fields(thinking=False),
    ),
    _Quirk(
        r"max[_ ]tokens|max_completion_tokens|max_new_tokens|max.?output.?tokens|maximum output"
        r"|(output|completion) tokens",
        _adapt_output,
    ),
    _Quirk(r"either content or tool_calls.{0,20}not both", _adapt_content_or_calls),
    _Quirk(
        r"(?:messages|contents|tool|function_response)\b.{0,40}\bname\b.{0,40}"
        r"(?:required|missing|empty|must be set)|tool messages?.{0,30}\bname\b",
        _set_fields(tool_names=True),
    ),
    _Quirk(
        r"\balternat(e|es|ing)\b.{0,40}\b(user|assistant|roles?)\b|roles? must alternate",
        _adapt_roles,
    ),
    _Quirk(
        r"\btool\b.{0,12} roles?\b|roles?\W{1,4}tool\b.{0,40}(support|unknown|invalid|allowed)"
        r"|(unknown|unsupported|invalid|unexpected|only support).{0,30}\brole\W{1,4}tool\b"
        r"|only user.{0,20}assistant.{0,20}roles?"
        r"|\btool\W{1,3}is not one of|role.{0,40}should be.{0,20}system.{0,20}user"
        r"|role.{0,60}should be.{0,30}user.{0,8}(or|and) .?assistant"
        r"|tool_calls.{0,40}(extra|not permitted|unsupported|not supported|unknown|unexpected)"
        r"|(extra|unsupported|unknown|unexpected).{0,40}\btool_calls",
        _set_fields(tool_messages=False),
    ),
    _Quirk(
        r"\bsystem\b.{0,60}(messages?|prompts?|roles?|instruction)|roles?\b.{0,60}\bsystem\b",
        _adapt_system_messages,
    ),
    _Quirk(
        r"(after|following|followed by|before).{0,40}\b(role|user|tool|assistant)\b"
        r"|(expected|last|unexpected).{0,20}\broles?\b",
        _adapt_roles,
    ),
    _Quirk(
        r"single tool.?calls?|one tool.?call|parallel|multiple (tool|function).?calls?",
        _set_fields(parallel_calls=False),
    ),
    _Quirk(
        r"(tool.?(call|use).{0,12}\bid|toolUseId)\b.{0,80}(length|9|alphanumeric|a-z|pattern"
        r"|characters)",
        _set_fields(call_ids="short"),
    ),
    _Quirk(
        r"additionalProperties|\bdefault\b.{0,40}(schema|field|propert|not|unknown)"
        r"|(unknown|unsupported|invalid).{0,40}(schema|\bdefault\b)",
        _set_fields(plain_schema=True),
    ),
    _Quirk(
        r"content.{0,60}(empty|blank|at least 1|min_length|must not be|non-?whitespace|null\b"
        r"|none\b|required|missing|valid string)"
        r"|(empty|blank|null|missing).{0,30}content|must have a text"
        r"|messages?\b.{0,60}must not be empty",
        _adapt_call_content,
    ),
    _Quirk(
        r"not support(ed)?.{0,12}\b(tools?|functions?)\b(?!_choice)(?! (role|messages?))"
        r"|\b(tool|function)s?[ _-]?(use|calls?|calling)?\b.{0,20}\bnot (be )?(supported|enabled"
        r"|available|allowed)"
        r"|no endpoints found that support tool|tools param requires"
        r"|(unrecognized|unknown|unexpected|unsupported|extra).{0,40}\btools\b"
        r"|\btools\b.{0,40}(extra|not permitted|unrecognized|unknown|unexpected|unsupported)",
        _set_fields(protocol="vcp"),
    ),
    _Quirk(
        r"too many (tools|functions)"
        r"|\b(tools|functions)\b.{0,60}(at most|too long|maximum|exceed|limit)"
        r"|(maximum|limit|more than).{0,40}\b(tools|functions)\b",
        _set_fields(protocol="vcp"),
    ),
)


def adapted_profile(
    profile: ServerProfile, refusal: Refusal, *, may_guess: bool
) -> ServerProfile | None:
    """Return *profile* adapted to *refusal*, None if that changes nothing.

    One habit a refusal, each at most once: a profile only ever asks for less. A refusal that
    names nothing of ours teaches the plainest shape, if one *may_guess*, a failure (500) as well;
    one of a prompt that fills the window alone teaches nothing.
    """
    if not refusal.is_adaptable and not (may_guess and refusal.status == 500):
        return None
    matching = [quirk for quirk in _QUIRKS if quirk.matches(refusal.text)]
    if matching[:1] == [_QUIRKS[0]] and _is_window_full(refusal.text):
        return None
    for quirk in matching:
        if (adapted := quirk.adapt(profile, refusal.text)) != profile:
            return adapted
    if matching or not may_guess:
        return None
    plain = replace(
        MINIMAL_PROFILE,
        output_limit=profile.output_limit,
        max_output=min(profile.max_output or _COMMON_MAX_OUTPUT, _COMMON_MAX_OUTPUT),
        window=profile.window,
        protocol=profile.protocol,
    )
    return plain if plain != profile else None


_PICTURE_WORDS = (
    r"(?is)image|picture|vision|multi-?modal|mmproj"
    r"|content.{0,80}((be|valid|expected|not) (a )?(string|str)\b|string_type)"
    r"|(expected|invalid type|must be).{0,40}(a |valid )?string"
)
"""Words of servers that take no pictures: vLLM, llama.cpp, Ollama, OpenRouter, DeepSeek, …"""


def without_pictures(profile: ServerProfile, refusal: Refusal) -> ServerProfile | None:
    """Return the profile that the *refusal* of a request with pictures teaches, None if nothing.

    A size that is complained about says nothing of the model.
    """
    is_about_pictures = refusal.status in (400, 404, 415, 422, 500, 501) and re.search(
        _PICTURE_WORDS, refusal.text
    )
    if not profile.pictures or not is_about_pictures:
        return None
    return replace(profile, pictures=False)


def adaptation_notice(before: ServerProfile, after: ServerProfile, host: str) -> Phrase:
    """Return the notice that the profile was adapted."""
    if after == replace(before, pictures=False):
        return phrase(
            "{host} does not accept pictures for this model. Sending their type and size instead.",
            host=host,
        )
    if after.protocol != before.protocol:
        return phrase(
            "{host} does not support tools for this model. Using text calls instead ({protocol}).",
            host=host,
            protocol=after.protocol,
        )
    return phrase(
        "{host} needs a different request format ({names}). Using it from now on.",
        host=host,
        names=after.changes_since(before),
    )
