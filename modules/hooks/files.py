"""Files of hooks: what one says, in words for people where it cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from core.feature import HookEvent
from modules.instructions.consent import content_digest
from utils.i18n import Text, UserError, phrase
from utils.text.clean import visible_text
from utils.text.strict_json import read_json

MAX_BYTES = 64_000
DEFAULT_SECONDS, MAX_SECONDS = 10, 600
_EVENTS: tuple[HookEvent, ...] = get_args(HookEvent)
_MAX_HOOKS = 50
_MAX_MATCHER = 200
_MAX_CHOICES = 4  # repeats and groups together, each of which a match may try in many ways
_ESCAPED = re.compile(r"\\.", re.DOTALL)
_CHOICES = re.compile(r"[*+?{](?<!\(\?)|\(")
_REPEATED_GROUP = re.compile(r"\)[*+{]")


@dataclass(frozen=True, slots=True)
class Hook:
    """A *command* at an *event*, for the tools whose whole names *matcher* matches, "" for all."""

    event: HookEvent
    matcher: str
    command: str
    seconds: float

    def matches(self, tool: str) -> bool:
        """Return whether it is for *tool*; at the end of a task each hook is."""
        every = self.event == "Stop" or self.matcher in ("", "*")
        return every or re.fullmatch(self.matcher, tool) is not None

    def shown(self) -> str:
        """Return it for a person to judge: all that would run."""
        tools = f" {self.matcher}" if self.matcher and self.event != "Stop" else ""
        return visible_text(f"{self.event}{tools} ({self.seconds:g} s): {self.command}")


@dataclass(frozen=True, slots=True)
class HookFile:
    """The *hooks* of the file *path*, the person's own where it *is_own*.

    *problem* is why none of them can be used; *unknown* are events that never come here.
    """

    path: str
    is_own: bool
    hooks: tuple[Hook, ...] = ()
    unknown: tuple[str, ...] = ()
    digest: str = ""
    problem: Text = ""


def parsed(path: str, data: bytes, *, is_own: bool) -> HookFile:
    """Return what the file *path* says in *data*; one that is wrong has a problem and no hook."""
    digest = content_digest("hooks", data)
    try:
        if len(data) > MAX_BYTES:
            raise UserError(phrase("it is larger than {n} kB", n=MAX_BYTES // 1000))
        events = _events(data)
        hooks = tuple(_hooks(events))
        if len(hooks) > _MAX_HOOKS:
            raise UserError(phrase("it has more than {n} hooks", n=_MAX_HOOKS))
    except UserError as error:
        return HookFile(path, is_own, digest=digest, problem=error.message)
    unknown = tuple(visible_text(name[:40]) for name in events if name not in _EVENTS)
    return HookFile(path, is_own, hooks, unknown, digest)


def _events(data: bytes) -> Mapping[str, Any]:
    try:
        document = read_json(data)
    except ValueError as error:
        raise UserError(phrase("it is not valid JSON: {why}", why=str(error))) from None
    events = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(events, dict):
        raise UserError(phrase('it has no "hooks" object'))
    return events


def _hooks(events: Mapping[str, Any]) -> Iterator[Hook]:
    for event in _EVENTS:
        for number, group in enumerate(_list(events.get(event, []), event), 1):
            place = f"{event} {number}"
            if not isinstance(group, dict):
                raise UserError(phrase("{place} must be an object", place=place))
            matcher = _matcher(group.get("matcher", ""), place)
            for entry in _list(group.get("hooks"), f"{place}, hooks"):
                yield _hook(event, matcher, entry, place)


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise UserError(phrase("{place} must be a list", place=place))
    return value


def _hook(event: HookEvent, matcher: str, entry: Any, place: str) -> Hook:
    if not isinstance(entry, dict) or entry.get("type") != "command":
        raise UserError(phrase('{place}: only hooks of type "command" are supported', place=place))
    command = entry.get("command")
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        raise UserError(phrase("{place}: a hook needs a command", place=place))
    seconds = entry.get("timeout", DEFAULT_SECONDS)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= MAX_SECONDS:
        raise UserError(
            phrase(
                "{place}: timeout must be a number of seconds, up to {n:,}",
                place=place,
                n=MAX_SECONDS,
            )
        )
    return Hook(event, matcher, command.encode("utf-8", "replace").decode(), seconds)


def _matcher(matcher: Any, place: str) -> str:
    """Return *matcher* where it is a pattern that takes no time to speak of."""
    if not isinstance(matcher, str):
        raise UserError(phrase("{place}: matcher must be text", place=place))
    if matcher in ("", "*"):
        return matcher
    plain = _ESCAPED.sub("x", matcher)
    choices = len(_CHOICES.findall(plain))
    if len(matcher) > _MAX_MATCHER or choices > _MAX_CHOICES or _REPEATED_GROUP.search(plain):
        raise UserError(phrase("{place}: matcher is too long or repeats too much", place=place))
    try:
        re.compile(matcher)
    except (re.error, OverflowError, RecursionError) as error:
        raise UserError(
            phrase("{place}: matcher is not a valid pattern: {why}", place=place, why=str(error))
        ) from None
    return matcher
