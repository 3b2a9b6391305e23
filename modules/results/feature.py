"""Results in a session: handed over by the model or declared by the person."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, get_args

from core.cards import RESULT_NAMES, Card, Change, ResultCard, ResultKind, TableCard, TextCard
from core.feature import Feature, SessionHandle, command
from core.hooks import BindsToSession, FollowsFiles, KeepsState, RemembersWork
from core.tools import Outcome, Risk, ToolError, tool
from modules.checkpoints.late_checkpoints import LateCheckpoints
from modules.files.project import Project
from modules.results.records import Result, after_rename, find, with_result
from utils.i18n import Phrase, Text, UserError, phrase
from utils.text.clean import clean, visible
from utils.text.codec import from_plain, to_plain
from utils.text.lines import format_size, parse_number
from utils.text.nearest import nearest_name, with_suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from modules.checkpoints.file_versions import FileVersion
    from modules.results.opening import Opener
    from modules.results.previews import Draws, Preview

STATE = "results"
_MAX_TITLE = 200  # characters
_ADD, _REMOVE = "add", "remove"
_USAGE = phrase(
    "Usage: /results NUMBER, /results add PATH [KIND] [TITLE] or /results remove NUMBER."
)
_USUAL: dict[str, ResultKind] = {
    **dict.fromkeys(("pptx", "odp"), "slides"),
    **dict.fromkeys(("xlsx", "ods"), "sheet"),
    **dict.fromkeys(("png", "jpg", "jpeg", "webp", "gif", "svg"), "chart"),
    **dict.fromkeys(("html", "htm"), "page"),
    **dict.fromkeys(("md", "markdown", "txt", "pdf", "docx", "odt", "ipynb", "epub"), "report"),
    **dict.fromkeys(("csv", "tsv", "json", "geojson", "jsonl", "ndjson", "xml"), "data"),
    **dict.fromkeys(("sqlite", "sqlite3", "db", "parquet", "yaml", "yml"), "data"),
}
"""The kind of a file that the person adds without one, by its ending; of any other it is code."""


class Results(Feature, BindsToSession, KeepsState, FollowsFiles, RemembersWork):
    """The results of the session, in files of *project*; *make_opener* makes what opens them,
    *draws* what shows their pages.

    They are a part of its state: a fork has them, a rewind takes back what came after.
    """

    def __init__(
        self,
        project: Project,
        checkpoints: LateCheckpoints,
        make_opener: Callable[[], Opener],
        draws: Callable[[], Draws],
    ) -> None:
        self._project = project
        self._checkpoints = checkpoints
        self._make_opener = make_opener
        self._draws = draws
        self._opener: Opener | None = None
        self._handle: SessionHandle | None = None
        self._results: tuple[Result, ...] = ()

    @tool(
        Risk.READ,
        phrase("Hand over a finished file."),
        verb=phrase("Hand over"),
        icon="download",
        subject="{path}",
        opens="path",
        state=STATE,
        touches_nothing=True,
        is_listed=False,
    )
    def hand_over(
        self,
        path: str,
        kind: ResultKind,
        title: Annotated[str, "what it is, for the person"],
    ) -> Outcome:
        """Hand a finished file over to the person as a result of the task. It is opened first:
        one that is empty or broken is refused, with the reason."""
        result = self._declare(path, kind, title, is_by_person=False)
        text = f"Handed over as result {result.number}: {visible(result.path)}"
        card = self.card_of(result)
        return Outcome(f"{text} ({card.facts})." if card.facts else f"{text}.", card)

    @command(
        "/results [NUMBER|add PATH|remove NUMBER]",
        "List the files that were handed over, show one, add or remove one.",
        is_concurrent=True,
        belongs_to_session=True,
        completes="next_words",
    )
    def results(self, argument: str) -> Card:
        try:
            words = shlex.split(argument)
        except ValueError:
            raise UserError(_USAGE) from None
        match words:
            case []:
                return self._list_card()
            case [word] if (number := parse_number(word)) is not None:
                return self._card_with_versions(self.known(number))
            case [verb, path, *rest] if verb == _ADD:
                return self.card_of(self.add(path, *_kind_and_title(rest)))
            case [verb, word] if verb == _REMOVE and (number := parse_number(word)) is not None:
                self.remove(number)
                return TextCard(phrase("Result {n} is off the list. Its file stays.", n=number))
        raise UserError(_USAGE)

    def next_words(self, words: Sequence[str]) -> Sequence[str]:
        """Return what `/results` may take behind *words*."""
        numbers = [str(result.number) for result in self._results]
        if not words:
            return [*numbers, _ADD, _REMOVE]
        if words == [_REMOVE]:
            return numbers
        return list(RESULT_NAMES) if words[0] == _ADD and len(words) == 2 else []

    # --- for the screens -------------------------------------------------------------------------

    def all(self) -> Sequence[Result]:
        """Return the results where they are now, in the order they were handed over."""
        self._refresh()
        return self._results

    def known(self, number: int) -> Result:
        """Return the result *number*. Raises `UserError` where there is none."""
        self._refresh()
        if (result := find(self._results, number)) is None:
            raise UserError(phrase("There is no result {n}. /results lists them.", n=number))
        return result

    def is_gone(self, result: Result) -> bool:
        """Return whether there is no file any more."""
        return _size(self._project, result.path) is None

    def size_of(self, result: Result) -> int:
        """Return the bytes of its file, those at last where that is gone."""
        size = _size(self._project, result.path)
        return size if size is not None else result.file.size if result.file else 0

    def card_of(self, result: Result) -> ResultCard:
        size = self.size_of(result)
        return ResultCard(
            *(result.path, result.title, result.kind, result.number, size), facts=result.facts
        )

    def add(self, path: str, kind: ResultKind | None = None, title: str = "") -> Result:
        """Declare the file *path* a result, as the person. Raises `ToolError`, `UserError`."""
        name = self._project.resolve(path)
        from modules.results.opening import ending_of

        chosen = kind or _USUAL.get(ending_of(name), "code")
        return self._declare(path, chosen, title or name.rpartition("/")[2], is_by_person=True)

    def resolved(self, path: str) -> str:
        """Return *path* as results name it. Raises `ToolError`."""
        return self._project.resolve(path)

    def remove(self, number: int) -> None:
        """Take the result *number* off the list; its file stays. Raises `UserError`."""
        known = self.known(number)
        self._results = tuple(one for one in self._results if one is not known)

    def versions(self, result: Result) -> list[FileVersion]:
        """Return the states of its file that checkpoints hold, the newest first."""
        from modules.checkpoints.file_versions import file_versions  # for who looks at them

        return file_versions(self._checkpoints, result.paths)

    def content(self, result: Result, snapshot: int = 0) -> bytes:
        """Return what its file holds, or held at the checkpoint *snapshot*.

        Raises `ToolError`, and `UserError` where that is not kept.
        """
        from modules.checkpoints.file_versions import version_content
        from modules.results.opening import MAX_BYTES

        if not snapshot:
            return self._project.read_bytes(result.path, MAX_BYTES)
        version = next((one for one in self.versions(result) if one.snapshot == snapshot), None)
        data = version_content(self._checkpoints, version) if version else None
        if data is None:
            raise UserError(phrase("This version is no longer kept."))
        return data

    def look_of(self, path: str, title: str) -> Preview:
        """Return what is to be seen of the file *path*. Raises `ToolError`, `UserError`."""
        from modules.results.previews import preview  # for who looks at one

        return preview(self._project, self._draws(), path, title)

    def page_of(self, path: str, page: int) -> tuple[str, bytes]:
        """Return the media type and the bytes of a page of it. Raises `ToolError`, `UserError`."""
        from modules.results.previews import preview_picture

        return preview_picture(self._project, self._draws(), path, page)

    # --- hooks -----------------------------------------------------------------------------------

    def bind(self, session_handle: SessionHandle) -> None:
        self._handle = session_handle

    def state(self) -> dict[str, Any]:
        return {STATE: to_plain(self._results)}

    def restore(self, state: dict[str, Any]) -> None:
        self._results = from_plain(tuple[Result, ...], state.get(STATE) or [])

    def undo_change(self, before: Any, after: Any) -> list[Phrase]:
        """Make the results what they were *before*, but for those that changed since *after*."""
        former, latter = _by_number(before), _by_number(after)
        undone: list[Phrase] = []
        for number in sorted(former.keys() | latter.keys()):
            was, became = former.get(number), latter.get(number)
            now = find(self._results, number)
            if was == became or (now and now.turn) != (became and became.turn):
                continue
            path = now.path if now else ""
            others = tuple(one for one in self._results if one is not now)
            kept = [replace(was, path=path or was.path)] if was else []
            self._results = tuple(sorted((*others, *kept), key=lambda one: one.number))
            path = path or next((one.path for one in kept), "")
            undone.append(phrase("the result {path}", path=visible(path)))
        return undone

    def on_files_changed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.kind == "renamed":
                self._results = after_rename(self._results, change.path, change.new_path)

    def compaction_notes(self) -> str:
        lines = [f"- {one.number}: {visible(one.path)} ({one.kind})" for one in self._results]
        return "\n".join(["Results that were handed over:", *lines]) if lines else ""

    def unfinished_work(self) -> Phrase | None:
        return None

    # --- how -------------------------------------------------------------------------------------

    def _declare(self, path: str, kind: ResultKind, title: str, *, is_by_person: bool) -> Result:
        from modules.files.fingerprints import Fingerprint

        name = self._project.resolve(path)
        shown = " ".join(clean(title).split())[:_MAX_TITLE]
        if not shown:
            raise ToolError(phrase("A result needs a title. Nothing was handed over."))
        if self._opener is None:
            self._opener = self._make_opener()
        facts = self._opener.open(name, kind)
        turn = self._handle.history.turn if self._handle else 0
        file = Fingerprint.of(self._project, name)
        result = Result(0, name, kind, shown, turn, facts, is_by_person, file=file)
        self._refresh()
        self._results = with_result(self._results, result)
        return next(one for one in self._results if one.path == name)

    def _refresh(self) -> None:
        """Follow the files that were renamed beside us, and know them again as they are now."""
        if not self._results:
            return
        from modules.files.fingerprints import Fingerprint, find_moved, stat_or_none

        missing: dict[str, Fingerprint] = {}
        for result in self._results:
            status = stat_or_none(self._project, result.path)
            if status is None and result.file:
                missing[result.path] = result.file
            elif status and not (result.file and result.file.is_unchanged(status)):
                now = Fingerprint.of(self._project, result.path)
                self._replace(result, replace(result, file=now or result.file))
        since = max((file.modified for file in missing.values()), default=0) / 1e9
        taken = [result.path for result in self._results]
        for path, new_path in find_moved(self._project, missing, taken=taken, since=since).items():
            self._results = after_rename(self._results, path, new_path)

    def _replace(self, old: Result, new: Result) -> None:
        self._results = tuple(new if one is old else one for one in self._results)

    def _list_card(self) -> Card:
        results = self.all()
        if not results:
            how = phrase("Add one with /results add PATH")
            return TextCard(phrase("This session has handed over nothing yet."), how)
        rows = tuple(self._row(result) for result in results)
        gone = tuple(number for number, one in enumerate(results) if self.is_gone(one))
        columns = (
            *("", phrase("title"), phrase("kind"), phrase("file")),
            *(phrase("size"), phrase("turn")),
        )
        title = phrase("Results: {n:,}", n=len(results))
        return TableCard(title, rows, columns, gone=gone)

    def _row(self, result: Result) -> tuple[Text, ...]:
        is_gone = self.is_gone(result)
        size: Text = phrase("gone") if is_gone else format_size(self.size_of(result))
        return (
            *(str(result.number), visible(result.title), RESULT_NAMES[result.kind]),
            *(visible(result.path), size, str(result.turn)),
        )

    def _card_with_versions(self, result: Result) -> Card:
        size: Text = phrase("gone") if self.is_gone(result) else format_size(self.size_of(result))
        rows: list[tuple[Text, ...]] = [
            (phrase("kind"), RESULT_NAMES[result.kind]),
            (phrase("file"), visible(result.path)),
            (phrase("size"), size),
            (phrase("turn"), str(result.turn)),
            *([(phrase("what is in it"), result.facts)] if result.facts else []),
        ]
        for version in self.versions(result):
            rows.append((phrase("version"), _when(version)))
        return TableCard(visible(result.title), tuple(rows))


def _kind_and_title(words: Sequence[str]) -> tuple[ResultKind | None, str]:
    """Return what *words* behind a path say. Raises `UserError` for a kind that is misspelt."""
    kinds = get_args(ResultKind)
    if words and words[0] in kinds:
        return words[0], " ".join(words[1:])  # type: ignore[return-value]
    if len(words) == 1 and nearest_name(words[0], kinds):
        problem = phrase("Unknown kind {kind}. Kinds: {kinds}.",
                         kind=words[0], kinds=", ".join(kinds))  # fmt: skip
        raise UserError(with_suggestion(problem, words[0], list(kinds)))
    return None, " ".join(words)


def _when(version: FileVersion) -> str:
    import time

    written = time.strftime("%Y-%m-%d %H:%M", time.localtime(version.modified))
    return f"{written}  {format_size(version.size)}  {visible(version.path)}"


def _size(project: Project, path: str) -> int | None:
    try:
        status = project.stat(path)
    except ToolError:
        return None
    return status.st_size if status and stat.S_ISREG(status.st_mode) else None


def _by_number(plain: Any) -> dict[int, Result]:
    results: tuple[Result, ...] = from_plain(tuple[Result, ...], plain or [])
    return {one.number: one for one in results}
