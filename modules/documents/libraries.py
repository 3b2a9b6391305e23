"""The libraries for documents: which are wanted for what, and the command that brings them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from modules.documents.problems import DocumentError
from utils.i18n import phrase
from utils.system.installation import is_installed
from utils.system.own_command import install_command

_ROOT = Path(__file__).parents[2]
_READING: dict[str, tuple[str, ...]] = {
    "docx": ("lxml",),
    "pptx": ("pptx",),
    "xlsx": ("openpyxl",),
    "pdf": ("pypdfium2",),
    "odt": ("lxml",),
    "odp": ("lxml",),
    "ods": ("lxml",),
    "epub": ("lxml",),
    "ipynb": (),
}
_CHECKING = ("pypdfium2", "openpyxl", "pptx")
_MAKING: dict[str, tuple[str, ...]] = {
    "docx": ("docx",),
    "pptx": ("pptx",),
    "xlsx": ("openpyxl",),
    "pdf": ("fpdf", "uharfbuzz"),
    "html": (),
}


def needed_libraries(job: str, kind: str) -> Sequence[str]:
    """Return the packages that *job* imports for documents of *kind*."""
    match job:
        case "read":
            return _READING[kind]
        case "make" | "change":
            return _MAKING[kind]
        case "render":
            return ("pypdfium2", "PIL")
        case _:
            return _CHECKING


def libraries_folder(job: str, kind: str) -> str:
    """Return the folder of the packages for *job*, which are not imported here.

    Raises `DocumentError` with the command that brings them, where one is missing.
    """
    folder = ""
    for name in needed_libraries(job, kind):
        spec = find_spec(name)
        if spec is None or not spec.origin:
            raise DocumentError(
                phrase(
                    "Documents need packages that are not installed ({package}). "
                    "Install them: {command}",
                    package=name,
                    command=command_for_libraries(),
                )
            )
        folder = str(Path(spec.origin).parents[1])
    return folder


def command_for_libraries() -> str:
    """Return the command that installs the packages for documents."""
    if is_installed(_ROOT):
        return "pip install 'onefold[documents]'"
    return install_command(_ROOT / "requirements-extras.txt")
