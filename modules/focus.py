"""Focus: up to three files whose current content the model always has."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import Any

from core.cards import Card, Change, TableCard, TextCard
from core.conversation.messages import ToolResult
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import (
    BindsToSession,
    FollowsFiles,
    KeepsState,
    PreparesContext,
    ProvidesContext,
    ProvidesStatus,
)
from core.tools import Outcome, Risk, ToolError, tool
from modules.files.fingerprints import Fingerprint, find_moved, stat_or_none
from modules.files.project import Project
from modules.focus_contents import OwnEdit, OwnEdits, change_or_whole, rendered
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain
from utils.text.tokens import estimate_tokens

_MAX_FILES = 3
_MAX_MISSING = 10
_MAX_FILE_TOKENS = 60_000  # for one file
_WARNING_SHARE = 0.3  # of what the model can hold
_MAX_FILE_SHARE = 0.5  # of it, for one file


class Focus(
    Feature,
    PreparesContext,
    BindsToSession,
    ProvidesContext,
    ProvidesStatus,
    FollowsFiles,
    KeepsState,
):
    """The files in focus, in the order they were put there; kept with the session.

    *context_limit* is how many tokens the model can hold.
    """

    def __init__(self, project: Project, *, context_limit: int = 128_000) -> None:
        self._project = project
        self._context_limit = context_limit
        self._session_handle: SessionHandle | None = None
        self._paths: list[str] = []
        self._to_tell: list[str] = []
        self._fingerprints: dict[str, Fingerprint] = {}
        self._rendered_texts: dict[str, str] = {}
        self._own_edits = OwnEdits()
        self._former_paths: dict[str, str] = {}
        self._missing: dict[str, Fingerprint] = {}
        """Files that were in focus when they went; they are again when they come back."""
        self._checked_at = 0.0
        self._has_stored_fingerprints = False

    @tool(
        Risk.READ,
        phrase("Keep a file in the model's view."),
        verb=phrase("Focus"),
        icon="pin",
        subject="{path}",
        opens="path",
        state="focus",
        touches_nothing=True,
    )
    def focus_file(self, path: str) -> Outcome:
        """Keep a file's current content before you, for work that returns to it; 3 at most."""
        path = self._add(path)
        message = f"{visible(path)} is in focus: its content follows and stays current."
        if warning := self._size_warning():
            message = f"{message} {warning}"
        return Outcome(message, self._card())

    @tool(
        Risk.READ,
        phrase("Take a file out of the model's view."),
        verb=phrase("Unfocus"),
        icon="pin",
        subject="{path}",
        state="focus",
        touches_nothing=True,
    )
    def unfocus_file(self, path: str) -> Outcome:
        """Take a file out of focus."""
        path = self._remove(path)
        return Outcome(f"{visible(path)} is no longer in focus.", self._card())

    @command(
        "/focus [PATH…]",
        "Keep up to 3 files in the model's view; without PATH list them.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def focus(self, argument: str) -> Card:
        with self._all_or_nothing():
            paths = self._parse_paths(argument)
            self._refuse_too_many(paths)
            for path in paths:
                self._add(path)
        return self._card()

    @command(
        "/unfocus [PATH…]",
        "Take files out of focus; without PATH all of them.",
        is_concurrent=True,
        belongs_to_session=True,
        button="unfocus",
    )
    def unfocus(self, argument: str) -> Card:
        with self._all_or_nothing():
            for path in self._parse_paths(argument) or [*self._paths, *self._missing]:
                self._remove(path)
        return self._card()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def _context_tokens(self) -> int:
        """Return how many tokens the model can hold, as far as is known by now."""
        window = self._session_handle.model.profile.window if self._session_handle else 0
        return min(self._context_limit, window or self._context_limit)

    def _max_file_tokens(self) -> int:
        """Return how many tokens one file may have."""
        return min(_MAX_FILE_TOKENS, int(self._context_tokens() * _MAX_FILE_SHARE))

    def tokens(self) -> dict[str, int]:
        """Return the paths in focus and about how many tokens each takes, as last looked at."""
        return {path: self._tokens(path) for path in list(self._paths)}

    def on_edit(self, path: str, before: str, after: str) -> None:
        """Take note of an edit that its call says in full: a model that made it knows of it."""
        history = self._session_handle.history if self._session_handle else None
        if path in self._paths and history is not None and history.open_call_id:
            edit = OwnEdit(history.open_call_id, self._text(path, before), self._text(path, after))
            self._own_edits.add(path, edit)

    def before_request(self) -> None:
        self._own_edits.begin_request(self._answered_ids)
        self._refresh()
        # A file that is gone is told once; then its section ends.
        self._to_tell = list(self._paths)
        self._paths = [path for path in self._paths if path in self._fingerprints]

    def _answered_ids(self) -> set[str]:
        """Return the ids of the calls of this turn that were done."""
        if self._session_handle is None:
            return set()
        history = self._session_handle.history
        newest = takewhile(lambda one: one[0] == history.turn, reversed(history.records))
        results = (record for _, record in newest if isinstance(record, ToolResult))
        return {result.call_id for result in results if result.state == "done"}

    def context(self) -> Iterable[Section]:
        return [self._section(path) for path in self._to_tell]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        self._refresh()
        if not self._paths:
            return [(phrase("Focus"), phrase("none"))]
        tokens = sum(map(self._tokens, self._paths))
        description = phrase("{files}: {tokens:,} tokens", files=self._path_list(), tokens=tokens)
        return [(phrase("Focus"), description)]

    def on_files_changed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.kind == "renamed":
                for path in list(self._paths):
                    if path == change.path or path.startswith(f"{change.path}/"):
                        self._move(path, change.new_path + path[len(change.path) :])
        self._refresh()

    def state(self) -> dict[str, Any]:
        """Return the paths, and as what their files will be known again: see `Fingerprint`."""
        in_focus = {path: file for path, file in self._fingerprints.items() if path in self._paths}
        stored = to_plain(in_focus | self._missing)
        self._has_stored_fingerprints |= bool(stored)
        files = {"focus_files": stored} if self._has_stored_fingerprints else {}
        return {"focus": list(self._paths), **files}

    def restore(self, state: dict[str, Any]) -> None:
        self._paths = list(state.get("focus", []))[:_MAX_FILES]
        fingerprints: dict[str, Fingerprint] = from_plain(
            Mapping[str, Fingerprint], state.get("focus_files", {})
        )
        self._has_stored_fingerprints = "focus_files" in state
        self._missing = {
            path: file for path, file in fingerprints.items() if path not in self._paths
        }
        self._fingerprints = {
            path: file for path, file in fingerprints.items() if path in self._paths
        }
        self._rendered_texts.clear()
        self._own_edits.clear()
        self._former_paths.clear()
        self._checked_at = (
            max((file.modified for file in self._fingerprints.values()), default=0) / 1e9
        )

    def undo_change(self, before: Any, after: Any) -> list[Phrase]:
        """Put out of focus what *after* has more than *before*, and into it what it has less."""
        added = [path for path in after or [] if path not in (before or [])]
        dropped = [path for path in before or [] if path not in (after or [])]
        undone: list[Phrase] = []
        for path in added:
            self._missing.pop(path, None)
            if path in self._paths:
                self._paths.remove(path)
                undone.append(phrase("out of focus: {path}", path=visible(path)))
        for path in dropped:
            with suppress(ToolError):  # it is gone, or there is no room for it
                self._add(path)
                undone.append(phrase("in focus again: {path}", path=visible(path)))
        return undone

    def _add(self, path: str) -> str:
        """Put *path* into focus and return its usual form. Raises `ToolError` if it cannot be."""
        if path.startswith("@output/"):
            raise ToolError(phrase("Only files of the project can be in focus."))
        path = self._project.resolve(path)
        if path in self._paths:
            return path
        if len(self._paths) >= _MAX_FILES:
            raise ToolError(
                phrase(
                    "{count} files are in focus already: {files}. Take one out first.",
                    count=_MAX_FILES,
                    files=self._path_list(),
                )
            )
        text = rendered(path, self._project.read_text(path).text)
        if (tokens := estimate_tokens(text)) > (limit := self._max_file_tokens()):
            raise ToolError(_too_large(path, tokens, limit))
        if Fingerprint.of(self._project, path) is None:
            raise ToolError(phrase("{path} is no ordinary file.", path=visible(path)))
        self._paths.append(path)
        self._missing.pop(path, None)
        self._refresh()
        return path

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the focus as it was where something of a command fails."""
        paths, missing = list(self._paths), dict(self._missing)
        try:
            yield
        except ToolError:
            self._paths, self._missing = paths, missing
            raise

    def _refuse_too_many(self, paths: Sequence[str]) -> None:
        """Raise `ToolError` when *paths*, with what is in focus, are too many."""
        all_paths = list(dict.fromkeys([*self._paths, *map(self._project.resolve, paths)]))
        if len(all_paths) > _MAX_FILES and len(all_paths) > len(self._paths):
            raise ToolError(
                phrase(
                    "At most {most} files can be in focus; this would make {count}: {files}. "
                    "Free a place with /unfocus.",
                    most=_MAX_FILES,
                    count=len(all_paths),
                    files=", ".join(map(visible, all_paths)),
                )
            )

    def _remove(self, path: str) -> str:
        path = self._project.resolve(path)
        if self._missing.pop(path, None) and path not in self._paths:
            return path
        if path not in self._paths:
            raise ToolError(phrase("{path} is not in focus.", path=visible(path)))
        self._paths.remove(path)
        return path

    def _parse_paths(self, argument: str) -> list[str]:
        try:
            words = shlex.split(argument)
        except ValueError:  # a quotation mark that is part of a name
            words = argument.split()
        if self._exists(argument):
            words = [argument]
        return [w if self._exists(w) else w.removeprefix("@") for w in words if w]

    def _exists(self, path: str) -> bool:
        try:
            return bool(path) and self._project.stat(self._project.normalize(path)) is not None
        except ToolError:
            return False

    def _refresh(self) -> None:
        """Bring what is known of the files up to date; one stat each unless one changed."""
        missing = {}
        for path in self._paths:
            status = stat_or_none(self._project, path)
            fingerprint = self._fingerprints.get(path)
            if status is None:
                if fingerprint:
                    missing[path] = fingerprint
            elif (
                path not in self._rendered_texts
                or fingerprint is None
                or not fingerprint.is_unchanged(status)
            ):
                self._render_file(path)
        renames = find_moved(self._project, missing, taken=self._paths, since=self._checked_at)
        for path, file in missing.items():
            del self._fingerprints[path]
            if path in renames:
                self._move(path, renames[path])
                self._render_file(renames[path])
            else:
                self._missing = dict([*self._missing.items(), (path, file)][-_MAX_MISSING:])
        self._readd_returned()
        self._checked_at = time.time()

    def _readd_returned(self) -> None:
        """Put back into focus what had gone and is there again, as far as there is room."""
        for path, file in list(self._missing.items()):
            now = Fingerprint.of(self._project, path)
            if now is None or not now.is_similar(file):
                continue
            if path in self._paths or len(self._paths) < _MAX_FILES:
                del self._missing[path]
                self._paths += [] if path in self._paths else [path]
                self._render_file(path)

    def _render_file(self, path: str) -> None:
        file = Fingerprint.of(self._project, path)
        if file is None:
            self._fingerprints.pop(path, None)
            return
        self._fingerprints[path] = file
        try:
            text = self._text(path, self._project.read_text(path).text)
        except ToolError as error:
            text = f"Focus file {visible(path)} cannot be shown now: {error}"
        if (tokens := estimate_tokens(text)) > (limit := self._max_file_tokens()):
            why = _too_large(path, tokens, limit)
            text = f"Focus file {visible(path)} cannot be shown now: {why}"
        self._rendered_texts[path] = text

    def _text(self, path: str, content: str) -> str:
        """Return *content* as it is told: without what nobody may see."""
        text = rendered(path, content)
        return self._session_handle.redact(text) if self._session_handle else text

    def _move(self, path: str, new_path: str) -> None:
        self._paths[self._paths.index(path)] = new_path
        self._fingerprints.pop(path, None)
        self._own_edits.move(path, new_path)
        self._former_paths[new_path] = self._former_paths.pop(path, path)

    def _section(self, path: str) -> Section:
        name = f"focus:{path}"
        if path not in self._fingerprints:
            gone = f"Focus file {visible(path)} is gone."
            return Section(name, "", describe_change=lambda _: gone)
        text = self._rendered_texts[path]
        former = self._former_paths.get(path)
        return Section(
            name,
            text,
            describe_change=lambda told: change_or_whole(path, told, text),
            derive=lambda told: self._own_edits.derived(path, told),
            former_name=f"focus:{former}" if former else "",
        )

    def _tokens(self, path: str) -> int:
        return (
            estimate_tokens(self._rendered_texts.get(path, "")) if path in self._fingerprints else 0
        )

    def _path_list(self) -> str:
        return ", ".join(map(visible, self._paths))

    def _size_warning(self) -> Phrase | None:
        tokens = sum(map(self._tokens, self._paths))
        limit = self._context_tokens()
        if tokens <= limit * _WARNING_SHARE:
            return None
        return phrase(
            "The files in focus take {percent} % of what the model can hold.",
            percent=round(100 * tokens / limit),
        )

    def _card(self) -> Card:
        self._refresh()
        if not self._paths:
            return TextCard(phrase("Focus"), phrase("No files in focus. Add one with /focus PATH."))
        rows: list[tuple[Text, ...]] = [
            (visible(path), phrase("{tokens:,} tokens", tokens=self._tokens(path)))
            if path in self._fingerprints
            else (visible(path), phrase("missing"))
            for path in self._paths
        ]
        if warning := self._size_warning():
            rows.append((phrase("Warning"), warning))
        return TableCard(phrase("Focus"), tuple(rows))


def _too_large(path: str, tokens: int, limit: int) -> Phrase:
    return phrase(
        "{path} is too large for focus: about {tokens:,} tokens, {limit:,} at most. Read it by "
        "part.",
        path=visible(path),
        tokens=tokens,
        limit=limit,
    )
