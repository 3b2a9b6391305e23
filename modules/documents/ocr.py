"""OCR of scanned pages by tesseract, where it is installed, in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modules.documents.contained_run import ContainedRuns
from modules.documents.worker_process import run_worker
from utils.i18n import UserError
from utils.system.programs import system_program

_MAX_PAGES = 20
"""Scanned pages of one document that are read: each takes some seconds."""
_COMMAND = """\
languages=$({program} --list-langs 2>/dev/null | tail -n +2 | \
grep -E '^(chi_sim|chi_tra|eng|deu|fra|spa|jpn|kor|rus|ara|heb)$' | paste -sd+)
for page in page-*.png; do
    timeout 60 {program} "$page" "${{page%.png}}" -l "${{languages:-eng}}" >/dev/null 2>&1
done
"""


def read_scanned(
    runs: ContainedRuns, name: str, data: bytes, scanned: Sequence[int]
) -> Mapping[int, str]:
    """Return the texts of the pages *scanned* of the PDF *data*, by their numbers.

    Pages that nobody could read are missing, "" is a page without text. Raises `DocumentError`.
    """
    program = system_program("tesseract")
    if program is None:
        return {}
    pictures = {f"page-{number}.png": _drawn(name, data, number) for number in scanned[:_MAX_PAGES]}
    try:
        made = runs.run(_COMMAND.format(program=program), pictures, name)
    except UserError:  # no sandbox: the pages stay unread, and are said to be
        return {}
    texts = {number: made.get(f"page-{number}.txt") for number in scanned[:_MAX_PAGES]}
    return {
        number: text.decode("utf-8", "replace").strip()
        for number, text in texts.items()
        if text is not None
    }


def _drawn(name: str, data: bytes, number: int) -> bytes:
    values = {"first": number, "last": number, "width": _WIDTH}
    return run_worker("render", "pdf", name, [data], values).files[0]


_WIDTH = 2_400
"""Pixels of the longer side of a page: about 200 an inch, which tesseract wants."""


def unread_note(number: int, *, is_tried: bool) -> str:
    """Return the mark for the model of the scanned page *number* that has no text."""
    if is_tried:
        return f"--- page {number}, scanned: OCR found no text ---"
    if system_program("tesseract") is None:
        return (
            f"--- page {number}, scanned: it has no text, and no OCR is installed "
            "(apt install tesseract-ocr tesseract-ocr-chi-sim) ---"
        )
    return f"--- page {number}, scanned: it has no text, and OCR did not read it ---"
