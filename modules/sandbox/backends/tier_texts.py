"""The tiers of confinement in words: their names, and what each does not protect."""

from __future__ import annotations

from modules.sandbox.backends.advice import advice_for
from modules.sandbox.types import Report, TierName
from utils.i18n import Phrase, phrase


def report_of(
    tier: TierName, failure: str | None, *, has_group: bool, allow_limits_only: bool
) -> Report:
    """Return the report of a machine whose best is *tier*; see `KnownTier` for *failure*."""
    return Report(
        tier,
        tier_name(tier, has_group=has_group),
        unprotected(tier, has_group=has_group),
        None if failure is None else advice_for(failure),
        tier is not TierName.LIMITS_ONLY or allow_limits_only,
    )


def tier_name(tier: TierName, *, has_group: bool = False) -> Phrase:
    """Return the name for people; with a control group, A is called A+."""
    match tier:
        case TierName.BUBBLEWRAP if has_group:
            return phrase("A+: bubblewrap and a control group")
        case TierName.BUBBLEWRAP:
            return phrase("A: bubblewrap")
        case TierName.BUBBLEWRAP_WITHOUT_PROC:
            return phrase("B: bubblewrap without /proc")
        case TierName.LANDLOCK:
            return phrase("C: Landlock")
        case TierName.SEATBELT:
            return phrase("M: Seatbelt (never tested by its makers)")
        case TierName.LIMITS_ONLY:
            return phrase("D: limits only")


_LATE_MEMORY_AND_DISK = phrase(
    "memory and disk use beyond the limits for up to a second, until it is noticed"
)
_LATE_DISK = phrase("disk use beyond the limit for up to a second, until it is noticed")
_WITH_NAMESPACES = (
    phrase("the number of files it makes"),
    phrase("files that your other programs run later: hooks, editor tasks, nested repositories"),
    phrase("sockets that your other programs keep inside the project"),
    phrase("errors in the kernel itself"),
)
_WITH_LANDLOCK = (
    phrase("names, sizes and times of files outside the project"),
    phrase("permissions and times of files outside the project, which it can change"),
    phrase("the project's .git while a program runs; git's settings and hooks are restored"),
    phrase("the command lines of your other programs"),
    phrase(".env files: a program reads their real values, though what it prints stays hidden"),
    *_WITH_NAMESPACES,
)
_WITH_SEATBELT = (
    phrase("anything for certain: this sandbox was written from documentation and never tested"),
    phrase("names, sizes and times of files outside the project"),
    phrase("memory and disk use beyond the limits until it is noticed"),
    phrase("processes that have left their group: these may outlive the call"),
    phrase("files that your other programs run later: hooks, editor tasks, nested repositories"),
    phrase("errors in the kernel itself"),
)
_WITH_NOTHING = (
    phrase("anything but time, output and file size: programs can do all that you can"),
)


def unprotected(tier: TierName, *, has_group: bool = False) -> tuple[Phrase, ...]:
    """Return everything that programs of *tier* may still reach."""
    noticed_late = _LATE_DISK if has_group else _LATE_MEMORY_AND_DISK
    match tier:
        case TierName.BUBBLEWRAP | TierName.BUBBLEWRAP_WITHOUT_PROC:
            return (noticed_late, *_WITH_NAMESPACES)
        case TierName.LANDLOCK:
            return (*_WITH_LANDLOCK, noticed_late)
        case TierName.SEATBELT:
            return _WITH_SEATBELT
        case TierName.LIMITS_ONLY:
            return _WITH_NOTHING
