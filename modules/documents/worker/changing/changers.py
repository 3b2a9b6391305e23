"""Changers of one part, by kind; all that they need is loaded before the process is confined."""

from __future__ import annotations

from collections.abc import Callable

from modules.documents.outline import Outline
from modules.documents.worker.archives import Members, with_members

Changer = Callable[[bytes, str, Outline], tuple[Members, str]]
"""Gives the members of the archive that are others now, and what the changed part is called."""


def prepare_changer(kind: str) -> Changer:
    """Return what changes a part of a document of *kind*; it needs no file and no import more."""
    from modules.documents.worker.making.makers import prepare_maker

    prepare_maker(kind, "")
    match kind:
        case "docx":
            from modules.documents.worker.changing.section import change_section

            return change_section
        case "pptx":
            from modules.documents.worker.changing.slide import change_slide

            return change_slide
        case _:
            from modules.documents.worker.changing.sheet import change_sheet

            return change_sheet


def change(changer: Changer, data: bytes, part: str, outline: Outline) -> tuple[bytes, str]:
    """Return the document *data* with *part* changed, and what that is called. Raises `Problem`."""
    members, name = changer(data, part, outline)
    return with_members(data, members), name
