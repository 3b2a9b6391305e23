"""The profile of a server: what it takes for one model. And where profiles are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal, Protocol, get_args, get_type_hints

OutputLimit = Literal["max_tokens", "max_completion_tokens", "none"]
SystemMessages = Literal["anywhere", "first", "none"]
CallContent = Literal["text", "null", "absent", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProfile:
    """The shape of the requests that a server takes; the defaults are DeepSeek's own API.

    *thinking* is DeepSeek's switch, *reasoning_effort* how hard a thinking call thinks, and
    *reasoning_content* the thoughts on earlier replies. *output_limit* is the name under which the
    largest reply is asked for, *max_output* its largest value in tokens and *window* what prompt
    and reply may have together; 0 is "not known". *system_messages* says where they may stand,
    *alternating* that roles must, *parallel_calls* whether one reply may hold several calls.
    *call_ids* is "short" where an id must be nine letters and digits, *call_content* what stands
    beside calls that come without text; "named" says what is called. *tool_messages* is whether
    calls and their answers may be messages of their own; else they are told as text.
    *tool_choice* is what is said of the choice of tools: "none" where a server reads no calls, so
    that they come as text. *plain_schema* leaves out of the tools' schemas what not everybody
    understands. *pictures* is whether a message may hold parts that are pictures. *thinks_by* and
    *rests_by* are how Claude is told to think and not to, "" where that is known of the model
    without asking. *probed* is whether the server was looked at for what it says of the model; that
    is done once.
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
    tool_choice: Literal["unsaid", "auto", "none"] = "unsaid"
    plain_schema: bool = False
    thinks_by: Literal["", "adaptive", "enabled"] = ""
    rests_by: Literal["", "disabled", "between_tools", "effort"] = ""
    pictures: bool = False
    probed: bool = False

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> ServerProfile:
        """Return the profile that *table* describes, the defaults where it is silent.

        Raises `ValueError` that names what no profile has.
        """
        hints = _types()
        for name, value in table.items():
            if name not in hints:
                raise ValueError(f"{name} is none of {', '.join(hints)}")
            choices = get_args(hints[name])
            is_fit = value in choices if choices else type(value) is hints[name]
            if not is_fit or (type(value) is int and value < 0):
                raise ValueError(f"{name} cannot be {value!r}")
        return cls(**table)

    @classmethod
    def value(cls, name: str, said: str) -> Any:
        """Return the value of the field *name* that a person *said*. Raises `ValueError`.

        Truth is "yes" or "no", as it is shown.
        """
        kind = _types().get(name)
        value: Any = said
        if kind is bool:
            value = {"yes": True, "true": True, "no": False, "false": False}.get(said.lower(), said)
        elif kind is int and said.isascii() and said.isdecimal():
            value = int(said[:12])
        return getattr(cls.of({name: value}), name)

    @property
    def changes(self) -> dict[str, Any]:
        """What differs from the defaults, by name: what `of` takes back."""
        usual = ServerProfile()
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return {name: value for name, value in pairs if value != getattr(usual, name)}

    @property
    def summary(self) -> str:
        """What differs from the defaults, for people; "" where nothing does."""
        return _summary(replace(self, probed=False).changes)

    def news(self, before: ServerProfile) -> str:
        """What differs from the defaults and did not so *before*, for people."""
        return _summary(dict(self.changes.items() - before.changes.items()))


@cache
def _types() -> dict[str, Any]:
    return get_type_hints(ServerProfile)


def _summary(changes: Mapping[str, Any]) -> str:
    said = {True: "yes", False: "no"}
    named = (
        f"{name}={said[value] if isinstance(value, bool) else value}"
        for name, value in sorted(changes.items())
    )
    return ", ".join(named)


PLAIN = ServerProfile(
    thinking=False,
    reasoning_effort=False,
    reasoning_content=False,
    stream_options=False,
    system_messages="first",
    alternating=True,
    plain_schema=True,
)
"""What every server of this API takes: for one that refuses without saying what it minds."""


class ProfileStore(Protocol):
    """Where the profiles of servers are kept, by address and model."""

    def find(self, base_url: str, model: str) -> ServerProfile:
        """Return what is known; the defaults where nothing is."""

    def keep(self, base_url: str, model: str, profile: ServerProfile) -> None:
        """Keep *profile*; a failure of the disk loses it, and it is learnt again."""

    def forget(self, base_url: str, model: str) -> None:
        """Drop what was kept."""


class ProfilesInMemory:
    """Profiles that last as long as the process."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], ServerProfile] = {}

    def find(self, base_url: str, model: str) -> ServerProfile:
        return self._known.get((base_url, model), ServerProfile())

    def keep(self, base_url: str, model: str, profile: ServerProfile) -> None:
        self._known[base_url, model] = profile

    def forget(self, base_url: str, model: str) -> None:
        self._known.pop((base_url, model), None)
