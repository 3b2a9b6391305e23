"""The model's tools for the files and folders of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from stat import S_ISDIR
from typing import Annotated, Any, Protocol

from core.cards import Card, Change, DiffCard, Hit, SearchCard, TextCard
from core.feature import Feature, command
from core.hooks import FlagsCalls, PreparesContext, PreviewsCalls
from core.loop.approval import AlwaysAskReason
from core.tool_spec import OtherNames
from core.tools import Outcome, Risk, Tool, ToolError, tool
from modules.documents.kinds import MAX_DOCUMENT_BYTES
from modules.files.editing.edit_operations import (
    EditOperation,
    EditResult,
    apply_edit,
    refuse_placeholders,
)
from modules.files.editing.edit_operations import EditRequest as Asked
from modules.files.editing.read_state import ReadState
from modules.files.editing.text_file import NotEncodable, NotRoundTrip, TextFile
from modules.files.preview import FilePreviews
from modules.files.project import BinaryFile, ContentChanged, MissingPath, Project
from modules.pictures.formats import MAX_PICTURE_FILE_BYTES
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.git_names import is_in_git
from utils.text.globs import glob_filter
from utils.text.line_diff import Difference, text_diff
from utils.text.lines import lines_of, with_count
from utils.text.nearest import nearest_paths

_MAX_FOUND = 200
_MAX_CARD_LINES = 400
_TEXT_DOCUMENTS = (".ipynb", ".pdf")
"""Documents that may be text, but are not read as such."""
_MAX_CHANGES = 1_000
_IN_PARTS = "create_file, then modify_file with append"
_EDITORS = "str replace editor, str replace based edit tool, text editor, file editor"
_REPLACE = {"operation": "replace"}
_WRITING_TOOLS = frozenset(
    {
        *("create_file", "modify_file", "rename_file", "create_folder"),
        *("delete_file", "delete_folder"),
    }
)
_GIT_REASON = phrase(
    "It changes a file of git's own, which git may obey or run; undo does not hold these."
)


class KeptOutputs(Protocol):
    """Long outputs of other tools, kept under addresses."""

    def read(self, address: str) -> str:
        """Return the output kept at *address*. Raises `ToolError` if there is none."""


class ShownPictures(Protocol):
    """Shows the model what is no text but a picture."""

    def read_outcome(self, path: str, data: bytes) -> Outcome | None:
        """Return the answer for the file *path* of the bytes *data*, None if it is no picture."""


class DocumentTexts(Protocol):
    """Gives the text of what is no text but a document: a PDF, slides, a sheet."""

    def read_text(self, name: str, data: bytes) -> str | None:
        """Return the text of the file *name* of the bytes *data*, None if it is no document."""


class FileProtection(Protocol):
    """What is not to be touched. Everything raises `ToolError` where it would be."""

    def refuse_edit(self, path: str, old: str, new: str) -> None:
        """Be told that the text *old* of the file *path* is to become *new*."""

    def refuse_move(self, path: str) -> None:
        """Be told that *path*, a file or a folder, is to go from its place."""


class PersonsEditor(Protocol):
    """The editor that the person has the project open in."""

    def text_of(self, path: str) -> str | None:
        """Return the text of *path* as it is shown there; None where that is not known."""

    def take_over(self, path: str, before: str, data: bytes) -> None:
        """Be told that *path*, which held the text *before*, was just written and holds *data*."""


class FileManager(Feature, PreviewsCalls, PreparesContext, FlagsCalls):
    """Tools on files. A file is never overwritten in a version that the model has not seen."""

    def __init__(
        self,
        project: Project,
        outputs: KeptOutputs | None = None,
        note_of: Callable[[str], Text] | None = None,
        readers: Mapping[str, Callable[[str], str]] | None = None,
        pictures: ShownPictures | None = None,
        *,
        documents: Callable[[], DocumentTexts] | None = None,
        protection: FileProtection | None = None,
        on_edit: Callable[[str, str, str], None] = lambda *_: None,
        find_notes: Callable[[], None] = lambda: None,
    ) -> None:
        """*note_of* gives the note on a file, "" for none; *find_notes* lets notes follow files.

        *readers* give the text at an address, by its first part: what is at @history/N. *on_edit*
        is called with the path and the texts before and after of each edit that was made to the
        letter of its call. *documents* are asked for at the first file that is no text.
        """
        self._documents = documents
        self._readers = readers or {}
        self._on_edit = on_edit
        self._pictures = pictures
        self._protection = protection
        self._project = project
        self._outputs = outputs
        self._note_of = note_of or (lambda _: "")
        self._find_notes = find_notes
        self.editor: PersonsEditor | None = None
        self._read_state = ReadState()
        self._intents = intents = FilePreviews(project, self._note_of, _exists_already)
        self._previews: Mapping[Callable[..., Any], Callable[..., Card]] = {
            self.create_file: intents.create_file,
            self.modify_file: intents.modify_file,
            self.rename_file: intents.rename_file,
            self.delete_file: intents.delete_file,
            self.delete_folder: intents.delete_folder,
        }

    def preview(self, tool: Tool, arguments: Mapping[str, Any]) -> Card | None:
        preview = self._previews.get(tool.function)
        return preview and self._intents.card(preview, arguments)

    def before_request(self) -> None:
        self._read_state.confirm_shown()

    @tool(
        Risk.READ,
        phrase("List a folder."),
        verb=phrase("List"),
        icon="folder",
        subject="{path}",
        explores="folders",
        other_names=(
            OtherNames("ls, list dir, list directory, list folder, dir, tree, directory tree"),
        ),
    )
    def list_files(self, path: str = ".", depth: int = 2) -> Outcome:
        """Show the tree of a folder with sizes and notes; ignored files are left out."""
        from modules.files.listing import FolderListing  # for calls only

        folder = self._project.resolve(path)
        if depth < 1:
            raise ToolError(phrase("depth counts from 1."))
        self._find_notes()
        listing = FolderListing.of(self._project, folder, depth, self._note_of)
        count = with_count(len(listing.visible_files), "file")
        head = f"{visible(folder) or '.'}/ ({count})"
        return Outcome("\n".join([head, *listing.lines]), listing.card(folder))

    @command(
        "/tree",
        "Show the files of the project.",
        is_concurrent=True,
    )
    def tree(self, rest: str) -> Card:
        return self.list_files(rest or ".", depth=3).card

    @tool(
        Risk.READ,
        phrase("Read a file, or lines of it."),
        verb=phrase("Read"),
        icon="book",
        subject="{path}",
        opens="path",
        explores="files",
        other_names=(
            OtherNames("read, view, cat, open file, view file, cat file, file read, show file"),
            OtherNames("get file contents, get file content, read text file, read file content"),
            OtherNames(_EDITORS, when=("command", "view")),
        ),
    )
    def read_file(
        self,
        path: Annotated[str, "Relative to the project, or an address @output/N."],
        start_line: int = 1,
        end_line: Annotated[int | None, "Inclusive."] = None,
    ) -> Outcome:
        """Read a text file, its lines numbered as in 12│text; a long one by parts."""
        from modules.files.paging import read_part  # for calls only

        if reader := self._readers.get(path.partition("/")[0]):
            return read_part(path, TextFile.new(reader(path)), start_line, end_line)
        if path.startswith("@output/") and self._outputs is not None:
            return read_part(path, TextFile.new(self._outputs.read(path)), start_line, end_line)
        name = self._existing_path(path)
        if name.lower().endswith(_TEXT_DOCUMENTS):
            document = self._document_outcome(name, start_line, end_line)
            if document is not None:
                return document
        try:
            return self._read_text(name, start_line, end_line)
        except BinaryFile:
            if (document := self._document_outcome(name, start_line, end_line)) is not None:
                return document
            if (picture := self._picture_outcome(name)) is not None:
                return picture
            raise

    def _read_text(self, name: str, start_line: int, end_line: int | None) -> Outcome:
        from modules.files.paging import read_excerpt, read_part  # for calls only

        if end_line is not None and 1 <= start_line <= end_line:
            with self._project.read_from(name, start_line) as excerpt:
                if excerpt is not None:
                    text_format, stream, size = excerpt
                    return read_excerpt(
                        visible(name), text_format, stream, start_line, end_line, size
                    )
        with self._project.read_lines(name) as lines:
            if lines is not None:
                return read_part(
                    visible(name), lines, start_line, end_line, str(self._note_of(name))
                )
        file = self._project.read_text(name)
        outcome = read_part(visible(name), file, start_line, end_line, str(self._note_of(name)))
        self._read_state.record_shown(name, file.data)
        return outcome

    def _document_outcome(self, name: str, start_line: int, end_line: int | None) -> Outcome | None:
        """Return the answer for a document, None for what is none."""
        from modules.files.paging import read_part  # for calls only

        if self._documents is None:
            return None
        with self._project.open_stream(name) as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
        text = self._documents().read_text(visible(name), data)
        if text is None:
            return None
        return read_part(
            visible(name), TextFile.new(f"{text}\n"), start_line, end_line, str(self._note_of(name))
        )

    def _picture_outcome(self, name: str) -> Outcome | None:
        """Return the answer for a picture, None for what is none."""
        if self._pictures is None:
            return None
        with self._project.open_stream(name) as stream:
            data = stream.read(MAX_PICTURE_FILE_BYTES + 1)
        return self._pictures.read_outcome(visible(name), data)

    @tool(
        Risk.READ,
        phrase("Find files by name."),
        verb=phrase("Find files"),
        icon="search",
        subject="{pattern}  {path}",
        explores="searches",
        other_names=(OtherNames("glob, glob files, glob search, file glob search, find file"),),
    )
    def find_files(
        self, pattern: Annotated[str, "Glob: *.py, src/**/test_*.{js,ts}"], path: str = "."
    ) -> Outcome:
        """Find files by name; a pattern without / fits at any depth."""
        folder = self._project.resolve(path)
        start = len(folder) + 1 if folder else 0
        files = self._project.files(folder)
        matches = glob_filter(pattern)
        found = [name for name in files if matches(name[start:])]
        hits = tuple(Hit(visible(name), 0, "") for name in found[:_MAX_FOUND])
        card = SearchCard(pattern, hits, len(found))
        if not found:
            matches_any_case = glob_filter(pattern, ignore_case=True)
            others = [visible(name) for name in files if matches_any_case(name[start:])][:10]
            hint = f" With other upper or lower case: {', '.join(others)}." if others else ""
            return Outcome(f"None of {with_count(len(files), 'file')} fits {pattern}.{hint}", card)
        cut_note = f" (the first {_MAX_FOUND})" if len(found) > _MAX_FOUND else ""
        lines = [f"{with_count(len(found), 'file')}{cut_note}:", *(hit.path for hit in hits)]
        return Outcome("\n".join(lines), card)

    @tool(
        Risk.WRITE,
        phrase("Write a whole file."),
        verb=phrase("Create"),
        icon="file",
        subject="{path}",
        opens="path",
        unredacted=("content",),
        when_cut=_IN_PARTS,
        other_names=(
            OtherNames("write, create, write file, write to file, save file, new file, file write"),
            OtherNames("write text file, create new file, add file, make file"),
            OtherNames(_EDITORS, when=("command", "create")),
        ),
    )
    def create_file(self, path: str, content: str, overwrite: bool = False) -> Outcome:
        """Create a file, with missing folders. Only with overwrite it replaces one."""
        name = self._path_inside(path)
        self._refuse_own_name(name)
        if path.endswith("/"):
            raise ToolError(
                phrase("{path} names a folder; a file needs a name.", path=visible(path))
            )
        if self._project.stat(name) is not None:
            return self._overwrite(name, content, overwrite)
        file = TextFile.new(content)
        data = _encode(file, None)
        try:
            self._writable_project(name).write_bytes(name, data, make_folders=True, expected=None)
        except ContentChanged:
            raise ToolError(_exists_already(visible(name))) from None
        self._read_state.record_known(name, data)
        change = text_diff("", file.text)
        encoding_note = f", {file.format_name}" if not file.is_utf8_lf else ""
        line_count = with_count(len(lines_of(file.text)), "line")
        text = f"Created {visible(name)} ({line_count}{encoding_note})."
        note = self._told_editor(name, "", data)
        text += f" {note}" if note else ""
        return Outcome(text, _diff_card(name, change, note), changes=(Change("created", name),))

    @tool(
        Risk.WRITE,
        phrase("Change a part of a file."),
        verb=phrase("Change"),
        icon="edit",
        subject="{path}",
        opens="path",
        unredacted=("old", "new"),
        when_cut=_IN_PARTS,
        other_names=(
            OtherNames(
                "modify file, edit, edit file, file edit, str replace, string replace, replace, "
                "search replace, search and replace, replace in file, replace string in file",
                adds=_REPLACE,
                needs=("old", "new"),
                drops=("expected_replacements", "instruction"),
            ),
            OtherNames(
                _EDITORS, adds=_REPLACE, needs=("old", "new"), when=("command", "str_replace")
            ),
            OtherNames(
                _EDITORS,
                adds={"operation": "insert"},
                needs=("new", "start_line"),
                when=("command", "insert"),
                line_before="insert_line",
            ),
        ),
    )
    def modify_file(
        self,
        path: str,
        operation: EditOperation,
        old: Annotated[str | None, "Exact text that occurs once, unless all."] = None,
        new: str | None = None,
        all: bool = False,
        start_line: int | None = None,
        end_line: Annotated[int | None, "Inclusive."] = None,
    ) -> Outcome:
        """Change part of a text file: replace old by new; append new, or insert it before
        start_line; replace_lines start_line to end_line by new; clear all."""
        name = self._existing_path(path)
        file = self._project.read_text(name)
        self._read_state.check_known(name, file.data)
        if operation in ("replace_lines", "insert"):
            self._read_state.check_read(name, file)
        request = Asked(
            operation=operation,
            old=old,
            new=new,
            all=all,
            start_line=start_line,
            end_line=end_line,
        )
        return self._write_edit(name, file, apply_edit(file.text, request, name))

    @tool(
        Risk.WRITE,
        phrase("Rename or move a file or folder."),
        verb=phrase("Rename"),
        icon="edit",
        subject="{path} → {new_path}",
        destination="new_path",
        other_names=(OtherNames("rename, move, mv, move file, move path, rename path"),),
    )
    def rename_file(self, path: str, new_path: str) -> Outcome:
        """Rename or move a file or folder; never onto something that exists."""
        name, new_name = self._existing_path(path), self._path_inside(new_path)
        if name == new_name:
            raise ToolError(phrase("Both paths are {path}.", path=visible(name)))
        self._refuse_move(name)
        self._writable_project(name, new_name).rename(name, new_name)
        self._read_state.move(name, new_name)
        old, new = visible(name), visible(new_name)
        card = TextCard(phrase("Renamed {path} to {new_path}", path=old, new_path=new))
        return Outcome(
            f"Renamed {old} to {new}.", card, changes=(Change("renamed", name, new_name),)
        )

    @tool(
        Risk.DESTROY,
        phrase("Delete a file."),
        verb=phrase("Delete"),
        icon="delete",
        subject="{path}",
        other_names=(OtherNames("remove file, rm file, unlink, file delete"),),
    )
    def delete_file(self, path: str) -> Outcome:
        """Delete a file."""
        name = self._existing_path(path)
        if self._read_state.last_seen(name) is not None:
            self._read_state.check_known(name, self._project.read_bytes(name))
        self._refuse_move(name)
        self._writable_project(name).delete_file(name)
        self._read_state.forget(name)
        card = TextCard(phrase("Deleted {path}", path=visible(name)))
        return Outcome(f"Deleted {visible(name)}.", card, changes=(Change("deleted", name),))

    @tool(
        Risk.WRITE,
        phrase("Make a folder."),
        verb=phrase("Make folder"),
        icon="folder",
        subject="{path}",
        other_names=(
            OtherNames("mkdir, make dir, make directory, create dir, create directory, new folder"),
        ),
    )
    def create_folder(self, path: str) -> Outcome:
        """Create a folder, with those above it."""
        name = self._project.normalize(path) or self._path_inside(path)
        if self._project.stat(name) is not None:
            self._project.entries(name)  # says so if it is no folder
            raise ToolError(phrase("The folder {path} exists already.", path=visible(name)))
        self._writable_project(name).make_folder(name)
        card = TextCard(phrase("Created folder {path}", path=visible(name)))
        return Outcome(f"Created {visible(name)}/.", card, changes=(Change("created", name),))

    @tool(
        Risk.DESTROY,
        phrase("Delete a folder."),
        verb=phrase("Delete folder"),
        icon="delete",
        subject="{path}",
        other_names=(OtherNames("rmdir, remove dir, remove directory, delete directory"),),
    )
    def delete_folder(self, path: str, recursive: bool = False) -> Outcome:
        """Delete a folder; with recursive all that is in it too."""
        name = self._path_inside(path)
        entries = self._project.entries(name)
        if entries and not recursive:
            raise ToolError(
                phrase(
                    "{path} is not empty, {count} inside ({names}). "
                    "recursive=true deletes them too.",
                    path=visible(name),
                    count=len(entries),
                    names=", ".join(visible(item.name) for item in entries[:5])
                    + (", …" if len(entries) > 5 else ""),
                )
            )
        self._refuse_move(name)
        files = self._project.files(name) if entries else []
        self._writable_project(name).delete_folder(name, recursive=recursive)
        self._read_state.forget(name)
        title = phrase("Deleted folder {path}", path=visible(name))
        count = len(files)
        body = phrase("1 file") if count == 1 else phrase("{n:,} files", n=count)
        card = TextCard(title, body)
        changed_paths = files if 0 < len(files) <= _MAX_CHANGES else [name]
        changes = tuple(Change("deleted", path) for path in changed_paths)
        message = f"Deleted {visible(name)}/ with {with_count(len(files), 'file')}."
        return Outcome(message, card, changes=changes)

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.name not in _WRITING_TOOLS:
            return None
        names = [str(arguments.get(argument, "")) for argument in ("path", "new_path")]
        for name in names:
            try:
                path = self._project.resolve(name)
            except ToolError:  # the tool itself will say it
                continue
            if is_in_git(path):
                return _GIT_REASON
            if self._project.is_in_repository(path):  # no pattern says that it is one
                return AlwaysAskReason(_GIT_REASON.template)
        if self.editor is None:
            return None
        from modules.unsaved_edits import unsaved_reason  # in an editor only

        return unsaved_reason(self._project, names, self.editor.text_of)

    def _writable_project(self, *names: str) -> Project:
        """Return the project for a call on *names* that may run: see `approval_reason`."""
        if any(map(self._project.is_in_repository, names)):
            return self._project.with_git_writable()
        return self._project

    def _path_inside(self, path: str) -> str:
        """Return *path* made normal, which must not be the project itself."""
        if name := self._project.resolve(path):
            return name
        raise ToolError(phrase("The path names the project folder itself; name what is in it."))

    def _existing_path(self, path: str) -> str:
        """Return *path* made normal; where nothing is there, say what was probably meant."""
        name = self._path_inside(path)
        folder = self._project.stat(name.rpartition("/")[0])
        goes_through_a_file = folder is not None and not S_ISDIR(folder.st_mode)
        if goes_through_a_file or self._project.stat(name) is not None:
            return name
        missing = phrase("There is no {path}.", path=visible(name))
        if not (nearest := nearest_paths(name, self._project.files())):
            raise MissingPath(missing)
        candidates = ", ".join(map(visible, nearest))
        raise MissingPath(
            phrase("{problem} Did you mean {near}?", problem=missing, near=candidates)
        )

    def _refuse_move(self, name: str) -> None:
        if self._protection is not None:
            self._protection.refuse_move(name)

    def _refuse_own_name(self, name: str) -> None:
        """Refuse a file in a folder that is to be, and is called as the project is.

        Hardly anybody means that; who does makes the folder first.
        """
        first, _, path_inside = name.partition("/")
        if path_inside and first == self._project.name and self._project.stat(first) is None:
            raise ToolError(
                phrase(
                    "You are in {project} already: did you mean {path}? To have a folder "
                    "{project} in it, make that with create_folder first.",
                    project=visible(first),
                    path=visible(path_inside),
                )
            )

    def _overwrite(self, name: str, content: str, overwrite: bool) -> Outcome:
        if not overwrite:
            raise ToolError(_exists_already(visible(name)))
        file = self._project.read_text(name)
        self._read_state.check_known(name, file.data)
        self._read_state.check_read(name, file)
        text = content.replace("\r\n", "\n")
        refuse_placeholders(text, file.text, is_shorter=text.count("\n") < file.text.count("\n"))
        return self._write_edit(name, file, EditResult(text))

    def _write_edit(self, name: str, file: TextFile, edit: EditResult) -> Outcome:
        """Write what was *edit* in place of what *file* held and tell of the difference."""
        shown_path, text, note = visible(name), edit.text, edit.tolerated
        data = _encode(file, text)
        if data == file.data:
            return Outcome(
                f"{shown_path} has that content already.",
                TextCard("", _already_so_message(shown_path)),
            )
        if self._protection is not None:
            self._protection.refuse_edit(name, file.text, text)
        status = self._project.stat(name)
        try:
            self._writable_project(name).write_bytes(name, data, expected=file.data)
        except ContentChanged:
            self._read_state.check_known(name, self._project.read_bytes(name))
            raise ToolError(_concurrent_change_message(shown_path)) from None
        self._read_state.record_known(name, data)
        if note is None:
            self._on_edit(name, file.text, text)
        change = text_diff(file.text, text)
        message = f"Changed {shown_path} (+{change.added} -{change.removed})"
        message += f"; it has {with_count(len(lines_of(text)), 'line')} now."
        if (places := len(edit.replacements)) > 1:
            message += f" {places} places were changed."
        if note is not None:
            message += f" Not exact, but clear: {note}."
        if status is not None and status.st_nlink > 1:
            message += " It had other names (hard links); they keep the old content."
        if changed := self._told_editor(name, file.text, data):
            message += f" {changed}"
        card = _diff_card(name, change, changed or note)
        return Outcome(message, card, changes=(Change("modified", name),))

    def _told_editor(self, name: str, before: str, data: bytes) -> Phrase | None:
        """Tell the editor of *data*, just written; return what is to be known of what it saved."""
        if self.editor is None or is_in_git(name):
            return None
        self.editor.take_over(name, before, data)
        try:
            is_as_written = self._project.read_bytes(name) == data
        except ToolError:  # gone, or no file any more
            is_as_written = False
        return None if is_as_written else _changed_since_message(visible(name))


def _encode(file: TextFile, text: str | None) -> bytes:
    try:
        return file.encode(text)
    except NotEncodable as error:
        raise ToolError(
            phrase(
                "The file is in {encoding}, which has no {char} (U+{code}); nothing was done. "
                "Use other characters, or convert the file first.",
                encoding=error.encoding,
                char=visible(error.char),
                code=f"{ord(error.char):04X}",
            )
        ) from None
    except NotRoundTrip:
        raise ToolError(
            phrase(
                "The file has bytes that {encoding} would not keep; change it with Python.",
                encoding=file.format_name,
            )
        ) from None


def _diff_card(name: str, change: Difference, note: Phrase | None = None) -> DiffCard:
    return DiffCard(
        visible(name), change.truncated(_MAX_CARD_LINES), change.added, change.removed, note or ""
    )


def _exists_already(path: str) -> Phrase:
    return phrase(
        "{path} exists already. modify_file changes part of it; overwrite=true replaces it.",
        path=path,
    )


def _changed_since_message(path: str) -> Phrase:
    return phrase(
        "{path} was changed when the editor saved it, or by another program; read it again before "
        "the next change.",
        path=path,
    )


def _already_so_message(path: str) -> Phrase:
    return phrase("{path} is unchanged", path=path)


def _concurrent_change_message(path: str) -> Phrase:
    return phrase("{path} is being changed by somebody else; try again.", path=path)
