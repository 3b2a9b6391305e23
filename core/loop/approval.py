"""Approval policy: which calls need the person's yes.

`Risk` says what a tool may do at worst; the mode says what the person wants to be asked about; a
feature's `approval_reason` says what cannot be undone or confined right now. None of them makes
anything possible or impossible: that is the sandbox's part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, get_args

from core.tools import Risk, Tool
from utils.frozen import frozen
from utils.i18n import Phrase, phrase
from utils.text.git_names import is_in_git

ApprovalMode = Literal["guarded", "ask", "plan", "read-only", "all"]
MODES: tuple[ApprovalMode, ...] = get_args(ApprovalMode)
_ROUND: tuple[ApprovalMode, ...] = ("guarded", "plan", "ask", "read-only", "all")
"""The order in which a key goes round them: planning first is a key away, and the mode that never
asks the farthest.
"""
_BY_STRICTNESS: tuple[ApprovalMode, ...] = ("all", "guarded", "ask", "plan", "read-only")
_REFUSALS: dict[ApprovalMode, Phrase] = {
    "plan": phrase("In plan mode nothing is changed or run."),
    "read-only": phrase("This session is read-only."),
}
ApprovalReason = Callable[[Tool, Mapping[str, Any]], Phrase | None]
SHELL_OPERATORS = frozenset(";|&<>$`(){}[]*?~!#\n\\\"'")
"""Characters that make a command more than its words; a pattern never reaches past one."""
_DELETING = re.compile(
    r"(?<![\w.-])(?:rm|rmdir|unlink|shred|git\b[^\n;|&]*\sclean)(?![\w./-])|\s-delete(?![\w-])"
)
"""What deletes, in a command; as a word of another command it costs a question at most."""
_LAST_STAR = re.compile(r"( \\*)\*\Z")
_WITH_NETWORK, _IN_GIT, _OUTSIDE = "+network", "+git", "+outside"
_IN_BACKGROUND = "+background"
PACKAGES = "packages"
"""The pattern of every call that reads packages from the network and reaches nothing else."""
OutsidePolicy = Literal["ask", "allow", "refuse"]
"""Policy for calls that nothing confines; "allow" and "refuse" are for when nobody can be asked,
and "allow" holds in the mode `all` alone."""
_OUTSIDE_REASON = phrase(
    "It runs outside the sandbox: it can read and change everything that you can."
)
_OUTSIDE_REFUSAL = phrase(
    "Nothing runs outside the sandbox here: that needs allow_outside = true in config.toml, or "
    "ONEFOLD_ALLOW_OUTSIDE=1, and with -p --approve all as well."
)
NO_BACKGROUND_OUTSIDE = phrase(
    "Outside the sandbox nothing can run in the background or with a terminal."
)


def stricter(one: ApprovalMode, other: object) -> ApprovalMode:
    """Return the mode of the two that allows less; what is no mode counts as none."""
    return max(one, other, key=_BY_STRICTNESS.index) if other in _BY_STRICTNESS else one


class AlwaysAskReason(Phrase):
    """A reason to ask that no pattern answers."""


class PackagesReason(Phrase):
    """A reason to ask that `PACKAGES` answers: the call reads packages and reaches nothing else."""


@frozen
class Decision:
    """The verdict on one call; *pattern* is what an "always" would cover, and whether that *may
    last* longer than the session."""

    verdict: Literal["allow", "ask", "refuse"]
    why: Phrase = Phrase("")
    pattern: str = ""
    may_last: bool = False


@frozen
class KeptApproval:
    """Approval for good in a project: calls of *tool* that *pattern* covers.

    It holds only where the reason to ask is the *why* (in English, its values left open) that it
    was given for: who allowed confined runs has not allowed the same without a sandbox.
    """

    tool: str
    pattern: str
    why: str


class KeptApprovalStore(Protocol):
    """Keeps approvals for good."""

    def all(self) -> Sequence[KeptApproval]: ...
    def add(self, approval: KeptApproval) -> None: ...
    def remove(self, approval: KeptApproval) -> None: ...


class Approval:
    """The policy of one session: a mode, and the patterns that were allowed for good."""

    def __init__(self, mode: ApprovalMode, approval_reason: ApprovalReason) -> None:
        self.after_plan: ApprovalMode = "guarded"
        """The mode in which a plan is done."""
        self._after_plan_of_round: ApprovalMode | None = None
        self._mode: ApprovalMode = "guarded"
        self.mode = mode
        self.outside: OutsidePolicy = "ask"
        self._approval_reason = approval_reason
        self.patterns: list[str] = []
        self.only_tools: frozenset[str] | None = None
        """The tools that the task at hand may use; None for all."""
        self.kept: KeptApprovalStore | None = None
        """The approvals that last; None where none can."""

    @property
    def mode(self) -> ApprovalMode:
        return self._mode

    @mode.setter
    def mode(self, mode: ApprovalMode) -> None:
        self.after_plan = self._next_after_plan() if mode in _REFUSALS else mode
        self._mode = mode

    def _next_after_plan(self) -> ApprovalMode:
        """Return the mode in which a plan is done that is made now."""
        return "ask" if self._mode == "read-only" else self.after_plan

    def go_round(self) -> None:
        """Go on to the next mode; those passed on the way, until `settle`, count for nothing."""
        self._after_plan_of_round = self._after_plan_of_round or self._next_after_plan()
        self.mode = _ROUND[(_ROUND.index(self._mode) + 1) % len(_ROUND)]
        if self._mode == "plan":
            self.after_plan = self._after_plan_of_round

    def settle(self) -> None:
        """Be told that the mode is used as it is."""
        self._after_plan_of_round = None

    @property
    def is_read_only(self) -> bool:
        """Whether nothing is changed or run, whoever would say yes."""
        return self._mode in _REFUSALS

    def allow_always(self, pattern: str) -> None:
        """Allow from now on what matches *pattern* (see `subject` and `covers`)."""
        if pattern not in self.patterns:
            self.patterns.append(pattern)

    def keep(self, tool: Tool, decision: Decision) -> None:
        """Allow from now on, in every session of the project, what *decision* was to cover.

        Raises `UserError` when it cannot be kept.
        """
        if self.kept and decision.may_last:
            self.kept.add(KeptApproval(tool.name, decision.pattern, decision.why.template))

    def decide(
        self, tool: Tool, arguments: Mapping[str, Any], *, was_asked: bool = False
    ) -> Decision:
        """Return whether this call may run, must be asked about, or is refused.

        It is asked about again if it *was_asked* about and there was no answer.
        """
        if self.only_tools is not None and tool.name not in self.only_tools:
            names = ", ".join(sorted(self.only_tools))
            return Decision("refuse", phrase("This task may use only: {tools}.", tools=names))
        if tool.risk is Risk.READ or tool.spec.touches_nothing:
            return Decision("allow")
        refusal = _REFUSALS.get(self.mode)
        if refusal and (tool.risk is not Risk.NETWORK or tool.spec.changes_files):
            return Decision("refuse", refusal)
        if tool.spec.is_outside(arguments):
            return self._decide_outside(tool, arguments)
        why = self._reason(tool, arguments)
        if why is None and was_asked:
            why = phrase("You were asked about it before Onefold ended.")
        if isinstance(why, AlwaysAskReason):
            return Decision("ask", why)
        is_for_packages = isinstance(why, PackagesReason)
        patterns = [one for one in self.patterns if one != PACKAGES or is_for_packages]
        if why is None or any(covers(pattern, tool, arguments) for pattern in patterns):
            return Decision("allow")
        lasting = self.kept if _may_last(tool, arguments) else None
        for one in lasting.all() if lasting else ():
            is_same = (one.tool, one.why) == (tool.name, why.template)
            if is_same and covers(one.pattern, tool, arguments):
                return Decision("allow")
        pattern = PACKAGES if is_for_packages else pattern_for(tool, arguments)
        return Decision("ask", why, pattern, may_last=lasting is not None)

    @property
    def outside_refusal(self) -> Phrase | None:
        """Why nothing may run outside the sandbox here, None where it is asked about or allowed."""
        is_allowed = self.outside == "allow" and self.mode == "all"
        return None if is_allowed or self.outside == "ask" else _OUTSIDE_REFUSAL

    def _decide_outside(self, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
        """Return the verdict on a call that nothing confines: no mode and no wide pattern helps."""
        if _runs_on(arguments):
            return Decision("refuse", NO_BACKGROUND_OUTSIDE)
        if self.outside == "allow" and self.mode == "all":
            return Decision("allow")
        if self.outside_refusal:
            return Decision("refuse", self.outside_refusal)
        pattern = pattern_for(tool, arguments)
        if pattern in self.patterns:
            return Decision("allow")
        return Decision("ask", _OUTSIDE_REASON, pattern)

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


def _may_last(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether a yes to a call may outlive the session: it is not about what leaves the
    machine or the sandbox, what is gone then, or what git obeys."""
    name = subject(tool, arguments).partition(" ")[0]
    is_lasting = tool.risk in (Risk.WRITE, Risk.RUN) and not tool.spec.is_exact
    return is_lasting and name == tool.name and not _deletes(tool, arguments)


def _deletes(tool: Tool, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call is one of a tool that deletes, or a command that does."""
    if tool.risk is Risk.DESTROY:
        return True
    return tool.spec.is_shell and _DELETING.search(tool.spec.program_of(arguments)) is not None


def _runs_on(arguments: Mapping[str, Any]) -> bool:
    """Return whether what a call starts may run on after it."""
    return bool(arguments.get("background") or arguments.get("tty"))


def subject(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the call as the one line that patterns are held against.

    With the network, or in git's own folder, it is another one: approval to run is no approval to
    reach out, nor is approval to write one to change what git obeys. Outside it is the program to
    the letter, with all that stands around it.
    """
    if tool.spec.is_outside(arguments):
        return f"{tool.name}{_OUTSIDE} {tool.spec.program_of(arguments)}"
    paths = [str(arguments[name]) for name in ("path", "new_path") if name in arguments]
    if any(map(is_in_git, paths)):
        return " ".join([f"{tool.name}{_IN_GIT}", *paths])
    name = tool.name
    if arguments.get("network"):
        name += _WITH_NETWORK
    if _runs_on(arguments):
        name += _IN_BACKGROUND
    if tool.spec.is_exact:
        return " ".join([name, *(f"{key}={value}" for key, value in sorted(arguments.items()))])
    return f"{name} {next(iter(arguments.values()), '')}".rstrip()


def pattern_for(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the widest pattern that a plain "always" to this call should cover.

    A command without shell operators is covered by its first two words; any other command, what
    deletes and what changes git's own files, only to the letter; of other tools, every call.
    """
    line = subject(tool, arguments)
    own_name = line.partition(" ")[0]
    is_exact = tool.spec.is_exact or _deletes(tool, arguments)
    if is_exact or own_name.endswith((_IN_GIT, _OUTSIDE)):
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
    at its end with a backslash before it. What nothing confines is covered in no other way.
    `PACKAGES` covers calls with the network; which of these it answers is for `Approval` to say.
    """
    if pattern == PACKAGES:
        return bool(arguments.get("network")) and not tool.spec.is_outside(arguments)
    line = subject(tool, arguments)
    is_exact = tool.spec.is_exact or tool.spec.is_outside(arguments)
    if is_exact or not pattern.endswith(" *"):
        return pattern == _exact_pattern(line)
    start = pattern.removesuffix(" *")
    name, _, command = line.partition(" ")
    if tool.spec.is_shell and SHELL_OPERATORS & set(command):
        return start == name
    return line == start or line.startswith(f"{start} ")
