"""The sandbox in `/status`: what it lacks, what it shows, and its limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core.cards import Alarm
from modules.runs.run_texts import MAX_NAMED, join_names
from modules.sandbox.limits.capacity import exceeding
from modules.sandbox.types import MEBIBYTE, Limits, TierName
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.sandbox.late_sandbox import LateSandbox
    from modules.sandbox.toolchains.shown import Toolchains


def sandbox_status(
    sandbox: LateSandbox, limits: Limits, wanted: Limits, *, run_seconds: int, max_seconds: int
) -> Iterator[tuple[Phrase, Text]]:
    """Yield the rows about *sandbox*, whose runs have *limits*; *wanted* are those in the settings.

    A run has *run_seconds*, and *max_seconds* if it asks for so many.
    """
    report = sandbox.report()
    name, is_unconfined = report.name, report.tier is TierName.LIMITS_ONLY
    yield phrase("Sandbox"), Alarm(name.template, name.values) if is_unconfined else name
    for gap in report.does_not_protect:
        yield phrase("Not protected"), gap
    if report.advice:
        yield phrase("For a better sandbox"), report.advice
    if sandbox.is_for_agent:
        yield phrase("Limits of a run"), _limits_of_machine(limits, run_seconds, max_seconds)
        return
    yield from _shown_folders(sandbox.get().toolchains())
    yield phrase("Limits of a run"), _limits_in_words(limits, run_seconds, max_seconds)
    if exceeding_settings := exceeding(wanted, limits):
        yield (
            phrase("Everything on this machine"),
            phrase("{settings} allow more", settings=", ".join(exceeding_settings)),
        )


def _limits_of_machine(limits: Limits, run_seconds: int, max_seconds: int) -> Phrase:
    return phrase(
        "{seconds} s (up to {longest} s on request), {output} MB of output; no limits on "
        "memory, processes and disk",
        seconds=run_seconds,
        longest=max_seconds,
        output=limits.total_output // 1_000_000,
    )


def _limits_in_words(limits: Limits, run_seconds: int, max_seconds: int) -> Phrase:
    return phrase(
        "{seconds} s (up to {longest} s on request), {memory} MiB of memory, {processes} "
        "processes, {disk} MiB of disk, {tmp} MiB in /tmp, {output} MB of output",
        seconds=run_seconds,
        longest=max_seconds,
        memory=f"{limits.memory // MEBIBYTE:,}",
        processes=f"{limits.processes:,}",
        disk=f"{limits.disk_growth // MEBIBYTE:,}",
        tmp=f"{limits.tmp_size // MEBIBYTE:,}",
        output=limits.total_output // 1_000_000,
    )


def _shown_folders(toolchains: Toolchains) -> Iterator[tuple[Phrase, Text]]:
    """Yield the person's folders that programs read, and what of them is kept from them."""

    def join(paths: Sequence[Path]) -> str:
        return join_names([visible(toolchains.shortened(path)) for path in paths])

    if toolchains.folders:
        yield phrase("Shown folders"), join(toolchains.folders)
    if toolchains.covered:
        yield phrase("Hidden in them"), join(toolchains.covered)
    for path, why in toolchains.refused[:MAX_NAMED]:
        yield phrase("Not shown"), phrase("{path}: {why}", path=join([path]), why=why)
