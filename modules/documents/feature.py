"""Documents in a session: their texts for whoever reads files, their pages, and making them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from core.cards import Change, TextCard
from core.feature import Feature
from core.tools import Outcome, Risk, ToolError, tool
from modules.documents.kinds import MAX_DOCUMENT_BYTES, kind_of
from modules.files.project import ContentChanged, MissingPath, Project
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.lines import format_size

if TYPE_CHECKING:
    from modules.documents.previews import DocumentPreviews
    from modules.documents.reader import DocumentReader

_MAX_PICTURE_BYTES = 30_000_000
_LEFT_OUT = " Comments and notes for the speaker were left out: only slides have them."


class Documents(Feature):
    """Reads, makes and shows documents; who has none to do with loads nothing of it."""

    def __init__(self, project: Project, previews_folder: Path, cache_folder: Path) -> None:
        """*cache_folder* is that of the sandbox."""
        self._project = project
        self._previews_folder = previews_folder
        self._cache_folder = cache_folder

    def reader(self) -> DocumentReader:
        """Return what gives the texts of documents."""
        return self._reader

    @cached_property
    def _reader(self) -> DocumentReader:
        from modules.documents.contained_run import ContainedRuns
        from modules.documents.reader import DocumentReader

        return DocumentReader(ContainedRuns(self._cache_folder))

    @cached_property
    def previews(self) -> DocumentPreviews:
        """What draws the pages of documents."""
        from modules.documents.contained_run import ContainedRuns
        from modules.documents.previews import DocumentPreviews

        return DocumentPreviews(self._previews_folder, ContainedRuns(self._cache_folder))

    @tool(
        Risk.WRITE,
        phrase("Make a document: Word, slides, a sheet, a PDF or a page."),
        verb=phrase("Make document"),
        icon="file",
        subject="{path}  {part}",
        opens="path",
        is_listed=False,
    )
    def make_document(
        self,
        path: str,
        content: Annotated[
            str,
            "Markdown, or JSON {title, parts: [{heading, text, points, table, picture, notes}]}; "
            "# and ## begin slides and sheets, [^1] is a footnote, ![](chart.png) a picture.",
        ],
        kind: Literal["docx", "pptx", "xlsx", "pdf", "html"] | None = None,
        template: Annotated[str | None, "A document of the same kind whose look is taken."] = None,
        part: Annotated[
            str | None,
            "Of an existing document change only this: number of a slide or section, name of a "
            "sheet.",
        ] = None,
        overwrite: bool = False,
    ) -> Outcome:
        """Make a document of Markdown or a small outline. What does not fit on a slide goes on to
        the next. With part only that slide, section or sheet of the document is made anew."""
        name = self._project.resolve(path)
        before = self._existing(name)
        if part is not None:
            return self._change_part(name, before, content, part)
        if before is not None and not overwrite:
            raise ToolError(
                phrase(
                    "{path} exists already. overwrite=true replaces it; part changes one slide, "
                    "section or sheet of it.",
                    path=visible(name),
                )
            )
        return self._make(name, before, content, kind, template)

    def _make(
        self, name: str, before: bytes | None, content: str, kind: str | None, template: str | None
    ) -> Outcome:
        from modules.documents.making import OutlineReader, made_kind, make_document_bytes
        from modules.documents.outline import has_speaker
        from modules.documents.problems import DocumentError, OutsidePage

        wanted = made_kind(name, kind)
        given = None if template is None else self._read_template(template, wanted)
        reader = OutlineReader(self._read_picture)
        outline = reader.read(content)
        try:
            data = make_document_bytes(visible(name), wanted, outline, reader.pictures, given)
        except OutsidePage as error:
            if template is None:
                raise
            raise DocumentError(
                phrase(
                    "{why} The template {template} puts it there. Use another template, or none.",
                    why=error.message,
                    template=visible(template),
                )
            ) from None
        self._write(name, data, before)
        size = format_size(len(data))
        card = TextCard(phrase("Made {path}", path=visible(name)), size, document=name)
        kind_of_change: Literal["created", "modified"] = "modified" if before else "created"
        whole = "" if wanted == "html" else "; it was opened again and is whole"
        left_out = "" if wanted == "pptx" or not has_speaker(outline) else _LEFT_OUT
        return Outcome(
            f"Made {visible(name)} ({size}){whole}.{left_out}",
            card,
            changes=(Change(kind_of_change, name),),
        )

    def _change_part(self, name: str, before: bytes | None, content: str, part: str) -> Outcome:
        from modules.documents.making import OutlineReader, changed_document_bytes

        if before is None:
            raise MissingPath(phrase("There is no {path}.", path=visible(name)))
        reader = OutlineReader(self._read_picture)
        outline = reader.read(content)
        if reader.pictures:
            raise ToolError(
                phrase("One part is changed without pictures. Make the document again for them.")
            )
        data, changed = changed_document_bytes(visible(name), before, part, outline)
        self._write(name, data, before)
        card = TextCard(
            phrase("Changed {part} of {path}", part=changed, path=visible(name)),
            phrase("All other parts are as they were."),
            document=name if name.lower().endswith(".pptx") else "",
            page=int(part) if part.isdigit() else 1,
        )
        return Outcome(
            f"Changed {changed} of {visible(name)}; all other parts are as they were.",
            card,
            changes=(Change("modified", name),),
        )

    def _existing(self, name: str) -> bytes | None:
        """Return the content of the file *name*, None where there is none."""
        if not name:
            raise ToolError(phrase("The path names the project folder itself; name what is in it."))
        if self._project.stat(name) is None:
            return None
        return self._project.read_bytes(name, MAX_DOCUMENT_BYTES)

    def _read_template(self, template: str, wanted: str) -> bytes:
        from modules.documents.making import CHANGED_KINDS

        path = self._project.resolve(template)
        data = self._project.read_bytes(path, MAX_DOCUMENT_BYTES)
        if wanted in CHANGED_KINDS and kind_of(path, data) != wanted:
            raise ToolError(
                phrase(
                    "{path} cannot be the template: it is not a {kind} document.",
                    path=visible(path),
                    kind=wanted,
                )
            )
        return data

    def _read_picture(self, path: str) -> bytes:
        return self._project.read_bytes(self._project.resolve(path), _MAX_PICTURE_BYTES)

    def _write(self, name: str, data: bytes, before: bytes | None) -> None:
        try:
            self._project.write_bytes(name, data, make_folders=True, expected=before)
        except ContentChanged:
            raise ToolError(
                phrase("{path} is being changed by somebody else; try again.", path=visible(name))
            ) from None
