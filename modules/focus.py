"""Focus: up to three files whose current content the model always has."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from core.cards import Card, Change, TableCard, TextCard
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
from modules.files.fingerprints import Fingerprint, look, trace
from modules.files.project import Project
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain, to_plain
from utils.text.line_diff import difference
from utils.text.tokens import estimate

_MOST_FILES = 3
_MOST_GONE = 10
_MOST_TOKENS = 60_000  # for one file
_LARGE_SHARE = 0.3  # of what the model can hold
_LARGEST_SHARE = 0.5  # of it, for one file


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
        self._talk: SessionHandle | None = None
        self._paths: list[str] = []
        self._to_tell: list[str] = []
        self._files: dict[str, Fingerprint] = {}
        self._texts: dict[str, str] = {}
        self._gone: dict[str, Fingerprint] = {}
        """Files that were in focus when they went; they are again when they come back."""
        self._seen = 0.0
        self._has_kept_files = False

    @tool(
        Risk.READ,
        phrase("Keep a file in view of the model."),
        verb=phrase("Focus"),
        icon="pin",
        subject="{path}",
        opens="path",
        state="focus",
        touches_nothing=True,
    )
    def focus_file(self, path: str) -> Outcome:
        """Keep a file's current content always before you (3 files at most), for work that
        returns to it again and again."""
        path = self._put(path)
        told = f"{visible(path)} is in focus: its content follows and stays current."
        if heavy := self._warning():
            told = f"{told} {heavy}"
        return Outcome(told, self._card())

    @tool(
        Risk.READ,
        phrase("Let go of a file that is kept in view."),
        verb=phrase("Unfocus"),
        icon="pin",
        subject="{path}",
        state="focus",
        touches_nothing=True,
    )
    def unfocus_file(self, path: str) -> Outcome:
        """Take a file out of focus."""
        path = self._drop(path)
        return Outcome(f"{visible(path)} is no longer in focus.", self._card())

    @command(
        "/focus [PATH…]",
        "Keep up to 3 files before the model; without PATH list them.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def focus(self, rest: str) -> Card:
        with self._whole_or_none():
            named = self._named(rest)
            self._refuse_too_many(named)
            for path in named:
                self._put(path)
        return self._card()

    @command(
        "/unfocus [PATH…]",
        "Take files out of focus; without PATH all of them.",
        is_concurrent=True,
        belongs_to_session=True,
        button="unfocus",
    )
    def unfocus(self, rest: str) -> Card:
        with self._whole_or_none():
            for path in self._named(rest) or [*self._paths, *self._gone]:
                self._drop(path)
        return self._card()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._paths)

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk

    def _limit(self) -> int:
        """Return how many tokens the model can hold, as far as is known by now."""
        window = self._talk.model.profile.window if self._talk else 0
        return min(self._context_limit, window or self._context_limit)

    def _most(self) -> int:
        """Return how many tokens one file may have."""
        return min(_MOST_TOKENS, int(self._limit() * _LARGEST_SHARE))

    def tokens(self) -> dict[str, int]:
        """Return the paths in focus and about how many tokens each takes, as last looked at."""
        return {path: self._tokens(path) for path in list(self._paths)}

    def before_request(self) -> None:
        self._follow_files()
        # A file that is gone is told once; then its section ends.
        self._to_tell = list(self._paths)
        self._paths = [path for path in self._paths if path in self._files]

    def context(self) -> Iterable[Section]:
        return [self._section(path) for path in self._to_tell]

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        self._follow_files()
        if not self._paths:
            return [(phrase("Focus"), phrase("none"))]
        tokens = sum(map(self._tokens, self._paths))
        said = phrase("{files}: {tokens:,} tokens", files=self._names(), tokens=tokens)
        return [(phrase("Focus"), said)]

    def follow(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.kind == "renamed":
                for path in list(self._paths):
                    if path == change.path or path.startswith(f"{change.path}/"):
                        self._move(path, change.new_path + path[len(change.path) :])
        self._follow_files()

    def state(self) -> dict[str, Any]:
        """Return the paths, and as what their files will be known again: see `Fingerprint`."""
        known = {path: file for path, file in self._files.items() if path in self._paths}
        found = to_plain(known | self._gone)
        self._has_kept_files |= bool(found)
        files = {"focus_files": found} if self._has_kept_files else {}
        return {"focus": list(self._paths), **files}

    def restore(self, state: dict[str, Any]) -> None:
        self._paths = list(state.get("focus", []))[:_MOST_FILES]
        known: dict[str, Fingerprint] = from_plain(
            Mapping[str, Fingerprint], state.get("focus_files", {})
        )
        self._has_kept_files = "focus_files" in state
        self._gone = {path: file for path, file in known.items() if path not in self._paths}
        self._files = {path: file for path, file in known.items() if path in self._paths}
        self._texts.clear()
        self._seen = max((file.modified for file in self._files.values()), default=0) / 1e9

    def take_back(self, before: Any, after: Any) -> list[Phrase]:
        """Put out of focus what *after* has more than *before*, and into it what it has less."""
        added = [path for path in after or [] if path not in (before or [])]
        dropped = [path for path in before or [] if path not in (after or [])]
        said: list[Phrase] = []
        for path in added:
            self._gone.pop(path, None)
            if path in self._paths:
                self._paths.remove(path)
                said.append(phrase("out of focus: {path}", path=visible(path)))
        for path in dropped:
            with suppress(ToolError):  # it is gone, or there is no room for it
                self._put(path)
                said.append(phrase("in focus again: {path}", path=visible(path)))
        return said

    def _put(self, path: str) -> str:
        """Put *path* into focus and return its usual form. Raises `ToolError` if it cannot be."""
        if path.startswith("@output/"):
            raise ToolError(phrase("Only files of the project can be in focus."))
        path = self._project.meant(path)
        if path in self._paths:
            return path
        if len(self._paths) >= _MOST_FILES:
            raise ToolError(
                phrase(
                    "{count} files are in focus already: {files}. Take one out first.",
                    count=_MOST_FILES,
                    files=self._names(),
                )
            )
        text = _told(path, self._project.read_text(path).text)
        if (tokens := estimate(text)) > (most := self._most()):
            raise ToolError(_too_large(path, tokens, most))
        if Fingerprint.of(self._project, path) is None:
            raise ToolError(phrase("{path} is no ordinary file.", path=visible(path)))
        self._paths.append(path)
        self._gone.pop(path, None)
        self._follow_files()
        return path

    @contextmanager
    def _whole_or_none(self) -> Iterator[None]:
        """Leave the focus as it was where something of a command fails."""
        paths, gone = list(self._paths), dict(self._gone)
        try:
            yield
        except ToolError:
            self._paths, self._gone = paths, gone
            raise

    def _refuse_too_many(self, named: Sequence[str]) -> None:
        """Raise `ToolError` when *named*, with what is in focus, are too many."""
        wanted = list(dict.fromkeys([*self._paths, *map(self._project.meant, named)]))
        if len(wanted) > _MOST_FILES and len(wanted) > len(self._paths):
            raise ToolError(
                phrase(
                    "{most} files can be in focus; with these it would be {count}: {files}. "
                    "Nothing was changed; /unfocus takes one out.",
                    most=_MOST_FILES,
                    count=len(wanted),
                    files=", ".join(map(visible, wanted)),
                )
            )

    def _drop(self, path: str) -> str:
        path = self._project.meant(path)
        if self._gone.pop(path, None) and path not in self._paths:
            return path
        if path not in self._paths:
            raise ToolError(phrase("{path} is not in focus.", path=visible(path)))
        self._paths.remove(path)
        return path

    def _named(self, rest: str) -> list[str]:
        try:
            words = shlex.split(rest)
        except ValueError:  # a quotation mark that is part of a name
            words = rest.split()
        if self._exists(rest):
            words = [rest]
        return [w if self._exists(w) else w.removeprefix("@") for w in words if w]

    def _exists(self, path: str) -> bool:
        try:
            return bool(path) and self._project.stat(self._project.normal(path)) is not None
        except ToolError:
            return False

    def _follow_files(self) -> None:
        """Bring what is known of the files up to date; one stat each unless one changed."""
        missing = {}
        for path in self._paths:
            found = look(self._project, path)
            known = self._files.get(path)
            if found is None:
                if known:
                    missing[path] = known
            elif path not in self._texts or known is None or not known.is_unchanged(found):
                self._read(path)
        moved = trace(self._project, missing, taken=self._paths, since=self._seen)
        for path, file in missing.items():
            del self._files[path]
            if path in moved:
                self._move(path, moved[path])
                self._read(moved[path])
            else:
                self._gone = dict([*self._gone.items(), (path, file)][-_MOST_GONE:])
        self._bring_back()
        self._seen = time.time()

    def _bring_back(self) -> None:
        """Put back into focus what had gone and is there again, as far as there is room."""
        for path, file in list(self._gone.items()):
            now = Fingerprint.of(self._project, path)
            if now is None or not now.is_kin(file):
                continue
            if path in self._paths or len(self._paths) < _MOST_FILES:
                del self._gone[path]
                self._paths += [] if path in self._paths else [path]
                self._read(path)

    def _read(self, path: str) -> None:
        file = Fingerprint.of(self._project, path)
        if file is None:
            self._files.pop(path, None)
            return
        self._files[path] = file
        try:
            text = _told(path, self._project.read_text(path).text)
        except ToolError as error:
            text = f"Focus file {visible(path)} cannot be shown now: {error}"
        if (tokens := estimate(text)) > (most := self._most()):
            why = _too_large(path, tokens, most)
            text = f"Focus file {visible(path)} cannot be shown now: {why}"
        self._texts[path] = text

    def _move(self, path: str, new_path: str) -> None:
        self._paths[self._paths.index(path)] = new_path
        self._files.pop(path, None)

    def _section(self, path: str) -> Section:
        name = f"focus:{path}"
        if path not in self._files:
            return Section(name, f"Focus file {visible(path)} is gone.")
        text = self._texts[path]
        return Section(name, text, lambda told: _shorter(path, told, text))

    def _tokens(self, path: str) -> int:
        return estimate(self._texts.get(path, "")) if path in self._files else 0

    def _names(self) -> str:
        return ", ".join(map(visible, self._paths))

    def _warning(self) -> Phrase | None:
        tokens = sum(map(self._tokens, self._paths))
        limit = self._limit()
        if tokens <= limit * _LARGE_SHARE:
            return None
        return phrase(
            "The files in focus take {percent} % of what the model can hold.",
            percent=round(100 * tokens / limit),
        )

    def _card(self) -> Card:
        self._follow_files()
        if not self._paths:
            return TextCard(phrase("Focus"), phrase("No file is in focus. /focus PATH puts one."))
        rows: list[tuple[Text, ...]] = [
            (visible(path), phrase("{tokens:,} tokens", tokens=self._tokens(path)))
            if path in self._files
            else (visible(path), phrase("gone"))
            for path in self._paths
        ]
        if warning := self._warning():
            rows.append((phrase("Mind"), warning))
        return TableCard(phrase("Focus"), tuple(rows))


def _too_large(path: str, tokens: int, most: int) -> Phrase:
    return phrase(
        "{path} is too large for focus: about {tokens:,} tokens, {limit:,} at most. Read it by "
        "part.",
        path=visible(path),
        tokens=tokens,
        limit=most,
    )


def _told(path: str, content: str) -> str:
    """Return *content* as the model is told it, in a fence that it cannot close."""
    fence = "```"
    while fence in content:
        fence += "`"
    end = "" if content.endswith("\n") or not content else "\n"
    return f"Focus file {visible(path)}, its current content:\n{fence}\n{content}{end}{fence}"


def _content(told: str) -> str:
    """Return the content that is told of in *told*, "" where it told of none."""
    return "".join(f"{line}\n" for line in told.split("\n")[2:-1])


def _shorter(path: str, told: str, now: str) -> str:
    """Return what changed since *told* as a unified diff, or *now* where that is no longer."""
    before, after = _content(told), _content(now)
    if not before or not after:
        return now
    text = f"Focus file {visible(path)} has changed:\n{difference(before, after).diff}"
    return text if len(text) < len(now) else now
