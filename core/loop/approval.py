"""Approval policy: which calls need the person's yes.

`Risk` says what a tool may do at worst; the mode says what the person wants to be asked about; a
feature's `approval_reason` says what cannot be undone or confined right now. None of them makes
anything possible or impossible: that is the sandbox's part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.tools import Risk, Tool
from utils.i18n import Phrase, phrase
from utils.text.git_names import is_in_git

ApprovalMode = Literal["guarded", "ask", "read-only", "all"]
MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)
_BY_STRICTNESS: tuple[ApprovalMode, ...] = ("all", "guarded", "ask", "read-only")
ApprovalReason = Callable[[Tool, Mapping[str, Any]], Phrase | None]
SHELL_OPERATORS = frozenset(";|&<>$`(){}[]*?~!#\n\\\"'")
"""Characters that make a command more than its words; a pattern never reaches past one."""
_LAST_STAR = re.compile(r"( \\*)\*\Z")
_WITH_NETWORK, _IN_GIT = "+network", "+git"
PACKAGES = "packages"
"""The pattern of every call that reads packages from the network and reaches nothing else."""


def stricter(one: ApprovalMode, other: object) -> ApprovalMode:
    """Return the mode of the two that allows less; what is no mode counts as none."""
    return max(one, other, key=_BY_STRICTNESS.index) if other in _BY_STRICTNESS else one


class AlwaysAskReason(Phrase):
    """A reason to ask that no pattern answers."""


class PackagesReason(Phrase):
    """A reason to ask that `PACKAGES` answers: the call reads packages and reaches nothing else."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one call; *pattern* is what an "always" would cover."""

    verdict: Literal["allow", "ask", "refuse"]
    why: Phrase = Phrase("")
    pattern: str = ""


class Approval:
    """The policy of one session: a mode, and the patterns that were allowed for good."""

    def __init__(self, mode: ApprovalMode, approval_reason: ApprovalReason) -> None:
        self.mode = mode
        self._approval_reason = approval_reason
        self.patterns: list[str] = []

    def allow_always(self, pattern: str) -> None:
        """Allow from now on what matches *pattern* (see `subject` and `covers`)."""
        if pattern not in self.patterns:
            self.patterns.append(pattern)

    def decide(
        self, tool: Tool, arguments: Mapping[str, Any], *, was_asked: bool = False
    ) -> Decision:
        """Return whether this call may run, must be asked about, or is refused.

        It is asked about again if it *was_asked* about and there was no answer.
        """
        if tool.risk is Risk.READ or tool.spec.touches_nothing:
            return Decision("allow")
        if self.mode == "read-only" and tool.risk is not Risk.NETWORK:
            return Decision("refuse", phrase("This session is read-only."))
        why = self._reason(tool, arguments)
        if why is None and was_asked:
            why = phrase("You were asked about it before Onefold ended.")
        if isinstance(why, AlwaysAskReason):
            return Decision("ask", why)
        is_for_packages = isinstance(why, PackagesReason)
        patterns = [one for one in self.patterns if one != PACKAGES or is_for_packages]
        if why is None or any(covers(pattern, tool, arguments) for pattern in patterns):
            return Decision("allow")
        return Decision("ask", why, PACKAGES if is_for_packages else pattern_for(tool, arguments))

    def _reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        """Return why to ask, or None when the mode lets the call pass."""
        if self.mode == "all":
            return None
        if reason := tool.spec.always_ask or self._approval_reason(tool, arguments):
            return reason
        if tool.risk is Risk.NETWORK:
            return phrase("It sends something to the network.")
        if self.mode == "ask":
            return phrase("You asked to be asked before every change and every run.")
        return None


def subject(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the call as the one line that patterns are held against.

    With the network, or in git's own folder, it is another one: approval to run is no approval to
    reach out, nor is approval to write one to change what git obeys.
    """
    paths = [str(arguments[name]) for name in ("path", "new_path") if name in arguments]
    if any(map(is_in_git, paths)):
        return " ".join([f"{tool.name}{_IN_GIT}", *paths])
    name = f"{tool.name}{_WITH_NETWORK}" if arguments.get("network") else tool.name
    return f"{name} {next(iter(arguments.values()), '')}".rstrip()


def pattern_for(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the widest pattern that a plain "always" to this call should cover.

    A command without shell operators is covered by its first two words; any other command, what
    deletes and what changes git's own files, only to the letter; of other tools, every call.
    """
    line = subject(tool, arguments)
    own_name = line.partition(" ")[0]
    if own_name.endswith(_IN_GIT) or tool.risk is Risk.DESTROY:
        return _exact_pattern(line)
    if not tool.spec.is_shell:
        return f"{own_name} *"
    command = tool.spec.program_of(arguments)
    if SHELL_OPERATORS & set(command):
        return _exact_pattern(line)
    return f"{own_name} {' '.join(command.split()[:2])} *"


def _exact_pattern(line: str) -> str:
    """Return the pattern that covers *line* alone."""
    return _LAST_STAR.sub(r"\1\\*", line)


def covers(pattern: str, tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether *pattern* covers the call of *tool* with *arguments*.

    A pattern that ends in " *" covers what begins with the words before it; for a command only
    when nothing in it could run a second one. Any other covers the one call that it spells, a star
    at its end with a backslash before it. `PACKAGES` covers calls with the network; which of these
    it answers is for `Approval` to say.
    """
    if pattern == PACKAGES:
        return bool(arguments.get("network"))
    line = subject(tool, arguments)
    if not pattern.endswith(" *"):
        return pattern == _exact_pattern(line)
    start = pattern.removesuffix(" *")
    name, _, command = line.partition(" ")
    if tool.spec.is_shell and SHELL_OPERATORS & set(command):
        return start == name
    return line == start or line.startswith(f"{start} ")
