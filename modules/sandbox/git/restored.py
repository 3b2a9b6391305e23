"""Restored files of git, and what is said of them after a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modules.sandbox.git.alternates import ALTERNATES
from utils.i18n import Phrase, Text, phrase
from utils.text.lines import first_names


@dataclass(frozen=True, slots=True)
class Restored:
    """Changes found, by path in the project: *files* and *folders* that were restored, files
    that were *cleaned* by lines that would run something, and folders that are *lost* since this
    run: gone, or others now stand there. *objects* are files of git's objects that are lost,
    *packs* those that the run had left and were not what they say.
    """

    files: tuple[str, ...] = ()
    cleaned: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()


def restoration_notes(restored: Restored) -> Iterator[Phrase]:
    """Yield notes on what a run did to files that git obeys."""
    if restored.lost:
        yield phrase(
            "The run replaced or removed {names}: look there before you use git.",
            names=first_names(restored.lost),
        )
    if restored.objects:
        yield phrase(
            "Objects of git that the run removed could not be held before it, and are lost: "
            "{names}",
            names=first_names(restored.objects),
        )
    if restored.packs:
        yield phrase(
            "Packs of git that the run left do not hold what they say, and were taken away: "
            "{names}",
            names=first_names(restored.packs),
        )
    if restored.folders:
        yield phrase(
            "The run moved or replaced {names}, which git obeys; put back.",
            names=first_names(restored.folders),
        )
    if restored.files:
        names = first_names(restored.files)
        yield phrase("The run changed what git obeys; put back: {names}", names=names)
    if any(name.endswith(f"/{ALTERNATES}") for name in restored.files):
        yield phrase(
            "A clone of a repository on this machine has no objects of its own then: make it with "
            "git clone --no-local, without --shared and --reference."
        )
    if restored.cleaned:
        names = first_names(restored.cleaned)
        yield phrase("Lines by which git would run something were taken out: {names}", names=names)


def recovered_note(note: Phrase) -> Phrase:
    return phrase("After a run that was cut short: {what}", what=note)


def not_recovered_note(reason: Text) -> Phrase:
    return phrase(
        "A run was cut short, and what git obeys could not be put back: {why}. Look at .git/config "
        "and .git/hooks before you use git.",
        why=reason,
    )
