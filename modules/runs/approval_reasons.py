"""Why a run is asked about: a weak sandbox, the network, another Python."""

from __future__ import annotations

from pathlib import Path

from core.loop.approval import PackagesReason
from modules.sandbox.types import Network, Report, TierName
from utils.i18n import Phrase, phrase
from utils.text.clean import visible


def weak_sandbox_reason(report: Report) -> Phrase | None:
    """Return why running must be asked about even where confined work is not, or None."""
    match report.tier:
        case TierName.BUBBLEWRAP | TierName.BUBBLEWRAP_WITHOUT_PROC:
            return None
        case TierName.LANDLOCK:
            return phrase(
                "Here the sandbox is a weaker one: programs can change permissions and times "
                "of files outside the project."
            )
        case TierName.SEATBELT:
            return phrase(
                "Here the sandbox is one that was written from books and never tried out."
            )
        case TierName.LIMITS_ONLY:
            return phrase("Here programs run without a sandbox: they can do all that you can.")


def network_reason(network: Network, report: Report) -> Phrase:
    """Return why a run with the network is asked about."""
    hosts = ", ".join(network.names())
    if report.tier not in ("A", "B"):
        return phrase("It may reach these hosts and send them what it reads: {hosts}", hosts=hosts)
    if network.hosts:
        return phrase(
            "It may read packages from the usual indexes and yours, and reach these hosts and "
            "send them what it reads: {hosts}",
            hosts=", ".join(network.hosts),
        )
    reason = phrase(
        "It may read packages from the usual indexes and yours ({hosts}); what it asks for can "
        "tell them of what it reads.",
        hosts=hosts,
    )
    return PackagesReason(reason.template, reason.values)


def other_python(prefix: Path) -> Phrase:
    """Return why programs may not simply use the Python in *prefix*."""
    return phrase(
        "The project's environment names another Python than before: programs would be able to "
        "read {path}.",
        path=visible(str(prefix)),
    )
