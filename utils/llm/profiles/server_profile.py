"""Profile of a server, the shape of requests that it takes for one model; and a store of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any, Literal, Protocol, get_args, get_type_hints

from utils.frozen import frozen

CacheFigures = Literal[
    "prompt_cache_hit_tokens",
    "prompt_tokens_details",
    "cached_tokens",
    "cache_read_input_tokens",
    "none",
]
OutputLimit = Literal["max_tokens", "max_completion_tokens", "none"]
SystemMessages = Literal["anywhere", "first", "none"]
CallContent = Literal["text", "null", "absent", "named"]
Signatures = Literal["none", "sent", "refused"]
ProtocolName = Literal["native", "vcp"]


@frozen(kw_only=True)
class ServerProfile:
    """The shape of the requests that a server takes; the defaults are DeepSeek's own API.

    *protocol* is how tools, calls and answers are told: in all but "native" they stand in the text,
    and no tools are sent. *thinking* is DeepSeek's switch, *reasoning_effort* how hard a thinking
    call thinks, and *reasoning_content* the thoughts on earlier replies. *output_limit* is the name
    under which the largest reply is asked for, *max_output* its largest value in tokens and
    *window* what prompt and reply may have together; 0 is "not known". *system_messages* says where
    they may stand,
    *alternating* that roles must, *parallel_calls* whether one reply may hold several calls.
    *call_ids* is "short" where an id must be nine letters and digits, *call_content* what stands
    beside calls that come without text; "named" says what is called. *tool_messages* is whether
    calls and their answers may be messages of their own; else they are told as text. *tool_names*
    is whether an answer has to name its tool.
    *tool_choice* is what is said of the choice of tools: "none" where a server reads no calls, so
    that they come as text. *plain_schema* leaves out of the tools' schemas what not everybody
    understands. *pictures* is whether a message may hold parts that are pictures. *signatures* is
    "sent" where replies come signed, and are sent back so. *thinks_by* and
    *rests_by* are how Claude is told to think and not to, "" where that is known of the model
    without asking. *cache_figures* is where the server counts the tokens that its cache had, "none"
    where what it says is not to be believed. *below_v1* is whether the API is found below `/v1` of
    the address. *probed* is whether the server was looked at for what it says of the model; that is
    done once.
    """

    thinking: bool = True
    reasoning_effort: bool = True
    reasoning_content: bool = True
    stream: bool = True
    stream_options: bool = True
    output_limit: OutputLimit = "max_tokens"
    max_output: int = 0
    window: int = 0
    system_messages: SystemMessages = "anywhere"
    alternating: bool = False
    parallel_calls: bool = True
    call_ids: Literal["any", "short"] = "any"
    call_content: CallContent = "text"
    tool_messages: bool = True
    tool_names: bool = False
    tool_choice: Literal["unsaid", "auto", "none"] = "unsaid"
    protocol: ProtocolName = "native"
    plain_schema: bool = False
    thinks_by: Literal["", "adaptive", "enabled"] = ""
    rests_by: Literal["", "disabled", "between_tools", "effort"] = ""
    pictures: bool = False
    signatures: Signatures = "none"
    cache_figures: CacheFigures = "prompt_cache_hit_tokens"
    below_v1: bool = False
    probed: bool = False

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> ServerProfile:
        """Return the profile that *table* describes, the defaults where it is silent.

        Raises `ValueError` that names what no profile has.
        """
        hints = _types()
        for name, value in table.items():
            if name not in hints:
                raise ValueError(f"{name} is none of {', '.join(hints)}")
            choices = get_args(hints[name])
            is_valid = value in choices if choices else type(value) is hints[name]
            if not is_valid or (type(value) is int and value < 0):
                raise ValueError(f"{name} cannot be {value!r}")
        return cls(**table)

    @classmethod
    def choices(cls, name: str) -> tuple[str, ...]:
        """Return the words that the field *name* can be, none where it is a number."""
        kind = _types()[name]
        return ("yes", "no") if kind is bool else get_args(kind)

    @classmethod
    def parse_value(cls, name: str, text: str) -> Any:
        """Return the value of the field *name* that a person *text*. Raises `ValueError`.

        Truth is "yes" or "no", as it is shown.
        """
        kind = _types().get(name)
        value: Any = text
        if kind is bool:
            value = {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)
        elif kind is int and text.isascii() and text.isdecimal():
            value = int(text[:12])
        return getattr(cls.parse({name: value}), name)

    def said(self, name: str) -> str:
        """Return the value of the field *name* as people say it: what `value` takes back."""
        return _said(getattr(self, name))

    @property
    def changes(self) -> dict[str, Any]:
        """Fields that differ from the defaults, by name, in the form that `parse` takes."""
        return self.changes_from(ServerProfile())

    def changes_from(self, before: ServerProfile) -> dict[str, Any]:
        """Return what differs from *before*, by name."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in pairs if value != getattr(before, name)}

    @property
    def summary(self) -> str:
        """Text for people about the fields that differ from the defaults; "" for none."""
        return _summary(replace(self, probed=False).changes)

    def changes_since(self, before: ServerProfile) -> str:
        """Return a text for people about the fields that changed since *before*."""
        return _summary(dict(self.changes.items() - before.changes.items()))


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(ServerProfile)


def _summary(changes: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_said(value)}" for name, value in sorted(changes.items()))


def _said(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


USUAL_PROFILE = ServerProfile()
"""One for every model of DeepSeek's API: it is asked for several times a step."""
MINIMAL_PROFILE = ServerProfile(
    thinking=False,
    reasoning_effort=False,
    reasoning_content=False,
    stream_options=False,
    system_messages="first",
    alternating=True,
    plain_schema=True,
)
"""Profile that every server of this API takes: for one that refuses without a reason."""


class ProfileStore(Protocol):
    """Store of the profiles of servers, by address and model."""

    def find(self, base_url: str, model: str, usual: ServerProfile) -> ServerProfile:
        """Return what is known; what is *usual* of the model where nothing is."""

    def save(
        self,
        base_url: str,
        model: str,
        changes: Mapping[str, Any],
        *,
        only_new: bool = False,
    ) -> None:
        """Keep *changes* of fields beside what is kept; None lets go of a field.

        With *only_new* fields stay as they are of which something is kept. A failure of the disk
        loses it, and it is learnt again.
        """

    def forget(self, base_url: str, model: str) -> None:
        """Drop what was kept."""


def changed(
    kept: Mapping[str, Any], changes: Mapping[str, Any], *, only_new: bool
) -> dict[str, Any]:
    """Return the fields *kept* after *changes*, as `ProfileStore.save` means them."""
    after = {**changes, **kept} if only_new else {**kept, **changes}
    return {name: value for name, value in after.items() if value is not None}


class ProfilesInMemory:
    """Profiles that last as long as the process."""

    def __init__(self) -> None:
        self._profiles: dict[tuple[str, str], Mapping[str, Any]] = {}

    def find(self, base_url: str, model: str, usual: ServerProfile) -> ServerProfile:
        return replace(usual, **self._profiles.get((base_url, model), {}))

    def save(
        self,
        base_url: str,
        model: str,
        changes: Mapping[str, Any],
        *,
        only_new: bool = False,
    ) -> None:
        kept = self._profiles.get((base_url, model), {})
        self._profiles[base_url, model] = changed(kept, changes, only_new=only_new)

    def forget(self, base_url: str, model: str) -> None:
        self._profiles.pop((base_url, model), None)
