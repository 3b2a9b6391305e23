"""LibreOffice, where it is installed: turns documents into PDF, in the sandbox."""

from __future__ import annotations

from modules.documents.contained_run import ContainedRuns
from modules.documents.kinds import Kind
from modules.documents.problems import DocumentError
from utils.i18n import phrase
from utils.system.programs import system_program

_SECONDS = 150
_COMMAND = (
    "timeout {seconds} {program} --headless --norestore --nolockcheck --nodefault "
    "-env:UserInstallation=file:///tmp/office-profile --convert-to {form} --outdir . {file} "
    ">/dev/null 2>&1"
)
"""The profile is in the `/tmp` of the call, which goes with it."""

_ALL_SLIDES = '\'pdf:impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}\''
_FORMS: dict[Kind, str] = {"pptx": _ALL_SLIDES, "odp": _ALL_SLIDES}
"""A page is the slide of its number, also behind one that is hidden."""
_PARTS: dict[Kind, str] = {
    **dict.fromkeys(("docx", "odt"), "writer"),
    **dict.fromkeys(("xlsx", "ods"), "calc"),
    **dict.fromkeys(("pptx", "odp"), "impress"),
}
"""The part of LibreOffice for each kind, as Debian has them."""


def office_program() -> str | None:
    """Return the path of LibreOffice, None where it is not installed."""
    return system_program("soffice") or system_program("libreoffice")


def office_pdf(runs: ContainedRuns, name: str, kind: Kind, data: bytes) -> bytes:
    """Return the document *data* of *kind* as a PDF. Raises `DocumentError`, `UserError`.

    LibreOffice runs no macro then and follows no address: it has no network.
    """
    program = office_program()
    if program is None:
        raise DocumentError(phrase("LibreOffice is not installed."))
    file = f"document.{kind}"
    made = runs.run(
        _COMMAND.format(seconds=_SECONDS, program=program, form=_FORMS.get(kind, "pdf"), file=file),
        {file: data},
        name,
    )
    if "document.pdf" not in made:
        command = f"apt install libreoffice-{_PARTS[kind]}-nogui"
        raise DocumentError(
            phrase(
                "LibreOffice cannot show {name}. Its part for that may be missing: {command}",
                name=name,
                command=command,
            )
        )
    return made["document.pdf"]
