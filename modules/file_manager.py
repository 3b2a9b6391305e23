"""The model's tools for the files and folders of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from stat import S_ISDIR
from typing import Annotated, Any, Protocol

from core.cards import Card, Change, DiffCard, Hit, SearchCard, TextCard
from core.feature import Feature, command
from core.hooks import FlagsCalls, PreparesContext, PreviewsCalls
from core.tools import Outcome, Risk, Tool, ToolError, tool
from modules.files.editing.edit_operations import EditRequest as Asked
from modules.files.editing.edit_operations import EditResult, Operation, check_whole, operate
from modules.files.editing.read_state import ReadState
from modules.files.editing.text_file import NotEncodable, NotExact, TextFile
from modules.files.intent import Intents
from modules.files.listing import FolderListing
from modules.files.paging import read_excerpt, read_part
from modules.files.project import Binary, Changed, Missing, Project
from modules.pictures.formats import LARGEST
from utils.i18n import Phrase, phrase
from utils.text.clean import visible
from utils.text.git_names import is_in_git
from utils.text.globs import glob_filter
from utils.text.line_diff import Difference, difference
from utils.text.lines import counted, lines_of
from utils.text.nearest import nearest_paths

_MOST_FOUND = 200
_CARD_LINES = 400
_MOST_CHANGES = 1_000
_IN_PARTS = "create_file, then modify_file with append"
_WRITING = frozenset(
    {
        *("create_file", "modify_file", "rename_file", "create_folder"),
        *("delete_file", "delete_folder"),
    }
)
_GIT_CONCERN = phrase(
    "It changes a file of git's own, which git may obey or run; undo does not hold these."
)


class KeptOutputs(Protocol):
    """Long outputs of other tools, kept under addresses."""

    def read(self, address: str) -> str:
        """Return the output kept at *address*. Raises `ToolError` if there is none."""


class ShownPictures(Protocol):
    """Shows the model what is no text but a picture."""

    def show(self, path: str, data: bytes) -> Outcome | None:
        """Return the answer for the file *path* of the bytes *data*, None if it is no picture."""


class FileManager(Feature, PreviewsCalls, PreparesContext, FlagsCalls):
    """Tools on files. A file is never overwritten in a version that the model has not seen."""

    def __init__(
        self,
        project: Project,
        outputs: KeptOutputs | None = None,
        notes: Callable[[str], str] | None = None,
        past: Callable[[str], str] | None = None,
        pictures: ShownPictures | None = None,
    ) -> None:
        """*notes* gives the note on a file, "" for none; *past* what stands at @history/N."""
        self._past = past
        self._pictures = pictures
        self._project = project
        self._outputs = outputs
        self._notes = notes or (lambda _: "")
        self._seen = ReadState()
        self._intents = intents = Intents(project, self._notes, _exists_already)
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
        self._seen.answered()

    @tool(
        Risk.READ,
        phrase("List a folder."),
        verb=phrase("List"),
        icon="folder",
        subject="{path}",
        explores="folders",
    )
    def list_files(self, path: str = ".", depth: int = 2) -> Outcome:
        """Show the tree of a folder with sizes and notes; ignored files are left out."""
        folder = self._project.meant(path)
        if depth < 1:
            raise ToolError(phrase("depth counts from 1."))
        listing = FolderListing.of(self._project, folder, depth, self._notes)
        count = counted(len(listing.visible_files), "file")
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
    )
    def read_file(
        self,
        path: Annotated[str, "Relative to the project, or an address @output/N."],
        start_line: int = 1,
        end_line: Annotated[int | None, "Inclusive."] = None,
    ) -> Outcome:
        """Read a text file, its lines numbered as in 12│text; a long one by parts."""
        if (path + "/").startswith("@history/") and self._past is not None:
            return read_part(path, TextFile.new(self._past(path)), start_line, end_line)
        if path.startswith("@output/") and self._outputs is not None:
            return read_part(path, TextFile.new(self._outputs.read(path)), start_line, end_line)
        name = self._there(path)
        try:
            return self._read_text(name, start_line, end_line)
        except Binary:
            if (shown := self._shown(name)) is not None:
                return shown
            raise

    def _read_text(self, name: str, start_line: int, end_line: int | None) -> Outcome:
        if end_line is not None and 1 <= start_line <= end_line:
            with self._project.read_from(name, start_line) as found:
                if found is not None:
                    form, rest, size = found
                    return read_excerpt(visible(name), form, rest, start_line, end_line, size)
        with self._project.read_lines(name) as lines:
            if lines is not None:
                return read_part(visible(name), lines, start_line, end_line, self._notes(name))
        file = self._project.read_text(name)
        outcome = read_part(visible(name), file, start_line, end_line, self._notes(name))
        self._seen.show(name, file.data)
        return outcome

    def _shown(self, name: str) -> Outcome | None:
        """Return the answer for a picture, None for what is none."""
        if self._pictures is None:
            return None
        with self._project.stream(name) as stream:
            data = stream.read(LARGEST + 1)
        return self._pictures.show(visible(name), data)

    @tool(
        Risk.READ,
        phrase("Find files by name."),
        verb=phrase("Find files"),
        icon="search",
        subject="{pattern}  {path}",
        explores="searches",
    )
    def find_files(
        self, pattern: Annotated[str, "Glob: *.py, src/**/test_*.{js,ts}"], path: str = "."
    ) -> Outcome:
        """Find files by name; a pattern without / fits at any depth."""
        folder = self._project.meant(path)
        start = len(folder) + 1 if folder else 0
        files = self._project.files(folder)
        fits = glob_filter(pattern)
        found = [name for name in files if fits(name[start:])]
        hits = tuple(Hit(visible(name), 0, "") for name in found[:_MOST_FOUND])
        card = SearchCard(pattern, hits, len(found))
        if not found:
            loose = glob_filter(pattern, ignore_case=True)
            others = [visible(name) for name in files if loose(name[start:])][:10]
            hint = f" With other upper or lower case: {', '.join(others)}." if others else ""
            return Outcome(f"None of {counted(len(files), 'file')} fits {pattern}.{hint}", card)
        cut = f" (the first {_MOST_FOUND})" if len(found) > _MOST_FOUND else ""
        lines = [f"{counted(len(found), 'file')}{cut}:", *(hit.path for hit in hits)]
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
    )
    def create_file(self, path: str, content: str, overwrite: bool = False) -> Outcome:
        """Create a file, with missing folders. Only with overwrite it replaces one."""
        name = self._named(path)
        self._refuse_own_name(name)
        if path.endswith("/"):
            raise ToolError(
                phrase("{path} names a folder; a file needs a name.", path=visible(path))
            )
        if self._project.stat(name) is not None:
            return self._overwrite(name, content, overwrite)
        file = TextFile.new(content)
        data = _encoded(file, None)
        try:
            self._to_write(name).write_bytes(name, data, make_folders=True, expect=None)
        except Changed:
            raise ToolError(_exists_already(visible(name))) from None
        self._seen.remember(name, data)
        change = difference("", file.text)
        ends = f", {file.name}" if not file.is_plain else ""
        text = f"Created {visible(name)} ({counted(len(lines_of(file.text)), 'line')}{ends})."
        return Outcome(text, _diff_card(name, change), changes=(Change("created", name),))

    @tool(
        Risk.WRITE,
        phrase("Change a part of a file."),
        verb=phrase("Change"),
        icon="edit",
        subject="{path}",
        opens="path",
        unredacted=("old", "new"),
        when_cut=_IN_PARTS,
    )
    def modify_file(
        self,
        path: str,
        operation: Operation,
        old: Annotated[str | None, "Exact text that occurs once, unless all."] = None,
        new: str | None = None,
        all: bool = False,
        start_line: int | None = None,
        end_line: Annotated[int | None, "Inclusive."] = None,
    ) -> Outcome:
        """Change part of a text file: replace old by new; append new, or insert it before
        start_line; replace_lines start_line to end_line by new; clear all."""
        name = self._there(path)
        file = self._project.read_text(name)
        self._seen.check_known(name, file.data)
        if operation in ("replace_lines", "insert"):
            self._seen.check_read(name, file)
        asked = Asked(
            operation=operation,
            old=old,
            new=new,
            all=all,
            start_line=start_line,
            end_line=end_line,
        )
        return self._changed(name, file, operate(file.text, asked, name))

    @tool(
        Risk.WRITE,
        phrase("Rename or move a file or folder."),
        verb=phrase("Rename"),
        icon="edit",
        subject="{path} → {new_path}",
        destination="new_path",
    )
    def rename_file(self, path: str, new_path: str) -> Outcome:
        """Rename or move a file or folder; never onto something that exists."""
        name, new_name = self._there(path), self._named(new_path)
        if name == new_name:
            raise ToolError(phrase("Both paths are {path}.", path=visible(name)))
        self._to_write(name, new_name).rename(name, new_name)
        self._seen.move(name, new_name)
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
    )
    def delete_file(self, path: str) -> Outcome:
        """Delete a file."""
        name = self._there(path)
        if self._seen.of(name) is not None:
            self._seen.check_known(name, self._project.read_bytes(name))
        self._to_write(name).delete_file(name)
        self._seen.forget(name)
        card = TextCard(phrase("Deleted {path}", path=visible(name)))
        return Outcome(f"Deleted {visible(name)}.", card, changes=(Change("deleted", name),))

    @tool(
        Risk.WRITE,
        phrase("Make a folder."),
        verb=phrase("Make folder"),
        icon="folder",
        subject="{path}",
    )
    def create_folder(self, path: str) -> Outcome:
        """Create a folder, with those above it."""
        name = self._project.normal(path) or self._named(path)
        if self._project.stat(name) is not None:
            self._project.entries(name)  # says so if it is no folder
            raise ToolError(phrase("The folder {path} exists already.", path=visible(name)))
        self._to_write(name).make_folder(name)
        card = TextCard(phrase("Created folder {path}", path=visible(name)))
        return Outcome(f"Created {visible(name)}/.", card, changes=(Change("created", name),))

    @tool(
        Risk.DESTROY,
        phrase("Delete a folder."),
        verb=phrase("Delete folder"),
        icon="delete",
        subject="{path}",
    )
    def delete_folder(self, path: str, recursive: bool = False) -> Outcome:
        """Delete a folder; with recursive all that is in it too."""
        name = self._named(path)
        inside = self._project.entries(name)
        if inside and not recursive:
            raise ToolError(
                phrase(
                    "{path} is not empty, {count} inside ({names}). "
                    "recursive=true deletes them too.",
                    path=visible(name),
                    count=len(inside),
                    names=", ".join(visible(item.name) for item in inside[:5])
                    + (", …" if len(inside) > 5 else ""),
                )
            )
        files = self._project.files(name) if inside else []
        self._to_write(name).delete_folder(name, recursive=recursive)
        self._seen.forget(name)
        title = phrase("Deleted folder {path}", path=visible(name))
        count = len(files)
        body = phrase("1 file") if count == 1 else phrase("{n} files", n=count)
        card = TextCard(title, body)
        named = files if 0 < len(files) <= _MOST_CHANGES else [name]
        changes = tuple(Change("deleted", path) for path in named)
        told = f"Deleted {visible(name)}/ with {counted(len(files), 'file')}."
        return Outcome(told, card, changes=changes)

    def concern(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if tool.name not in _WRITING:
            return None
        for argument in ("path", "new_path"):
            try:
                if is_in_git(self._project.meant(str(arguments.get(argument, "")))):
                    return _GIT_CONCERN
            except ToolError:  # the tool itself will say it
                continue
        return None

    def _to_write(self, *names: str) -> Project:
        """Return the project for a call on *names* that may run: see `concern`."""
        return self._project.with_git() if any(map(is_in_git, names)) else self._project

    def _named(self, path: str) -> str:
        """Return *path* made normal, which must not be the project itself."""
        if name := self._project.meant(path):
            return name
        raise ToolError(phrase("The path names the project folder itself; name what is in it."))

    def _there(self, path: str) -> str:
        """Return *path* made normal; where nothing is there, say what was probably meant."""
        name = self._named(path)
        folder = self._project.stat(name.rpartition("/")[0])
        goes_through_a_file = folder is not None and not S_ISDIR(folder.st_mode)
        if goes_through_a_file or self._project.stat(name) is not None:
            return name
        missing = phrase("There is no {path}.", path=visible(name))
        if not (near := nearest_paths(name, self._project.files())):
            raise Missing(missing)
        named = ", ".join(map(visible, near))
        raise Missing(phrase("{problem} Did you mean {near}?", problem=missing, near=named))

    def _refuse_own_name(self, name: str) -> None:
        """Refuse a file in a folder that is to be, and is called as the project is.

        Hardly anybody means that; who does makes the folder first.
        """
        first, _, rest = name.partition("/")
        if rest and first == self._project.name and self._project.stat(first) is None:
            raise ToolError(
                phrase(
                    "You are in {project} already: did you mean {path}? To have a folder "
                    "{project} in it, make that with create_folder first.",
                    project=visible(first),
                    path=visible(rest),
                )
            )

    def _overwrite(self, name: str, content: str, overwrite: bool) -> Outcome:
        if not overwrite:
            raise ToolError(_exists_already(visible(name)))
        file = self._project.read_text(name)
        self._seen.check_known(name, file.data)
        self._seen.check_read(name, file)
        text = content.replace("\r\n", "\n")
        check_whole(text, file.text, is_shorter=text.count("\n") < file.text.count("\n"))
        return self._changed(name, file, EditResult(text))

    def _changed(self, name: str, file: TextFile, done: EditResult) -> Outcome:
        """Write what was *done* in place of what *file* held and tell of the difference."""
        shown, text, note = visible(name), done.text, done.tolerated
        data = _encoded(file, text)
        if data == file.data:
            return Outcome(f"{shown} has that content already.", TextCard("", _same(shown)))
        found = self._project.stat(name)
        try:
            self._to_write(name).write_bytes(name, data, expect=file.data)
        except Changed:
            self._seen.check_known(name, self._project.read_bytes(name))
            raise ToolError(_changing(shown)) from None
        self._seen.remember(name, data)
        change = difference(file.text, text)
        told = f"Changed {shown} (+{change.added} -{change.removed})"
        told += f"; it has {counted(len(lines_of(text)), 'line')} now."
        if done.places > 1:
            told += f" {done.places} places were changed."
        if note is not None:
            told += f" Not exact, but clear: {note}."
        if found is not None and found.st_nlink > 1:
            told += " It had other names (hard links); they keep the old content."
        card = _diff_card(name, change, note)
        return Outcome(told, card, changes=(Change("modified", name),))


def _encoded(file: TextFile, text: str | None) -> bytes:
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
    except NotExact:
        raise ToolError(
            phrase(
                "The file has bytes that {encoding} would not keep; change it with Python.",
                encoding=file.name,
            )
        ) from None


def _diff_card(name: str, change: Difference, note: Phrase | None = None) -> DiffCard:
    return DiffCard(
        visible(name), change.cut(_CARD_LINES), change.added, change.removed, note or ""
    )


def _exists_already(path: str) -> Phrase:
    return phrase(
        "{path} exists already. modify_file changes part of it; overwrite=true replaces it.",
        path=path,
    )


def _same(path: str) -> Phrase:
    return phrase("{path} was already so", path=path)


def _changing(path: str) -> Phrase:
    return phrase("{path} is being changed by somebody else; try again.", path=path)
