"""The map of the project: its files in a few hundred tokens, told at the first turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from core.cards import Change
from core.feature import Feature, Section, SessionHandle
from core.hooks import BindsToSession, FollowsFiles, KeepsState, PreparesContext, ProvidesContext
from core.tools import ToolError
from modules.files.project import Project
from utils.text.codec import from_plain, to_plain

if TYPE_CHECKING:
    from modules.tree_map import TreeMap

_SECTION = "files"
_MAX_LOOKED_AT = 2_000
"""Names that a look at the project takes in: 50,000 files cost no more than these."""


class ProjectMap(
    Feature, BindsToSession, PreparesContext, ProvidesContext, FollowsFiles, KeepsState
):
    """Looks at the project once a turn; what the model's own calls brought about is no news.

    *useful_paths* gives the files that come first. The map takes *max_tokens* at most.
    """

    def __init__(
        self, project: Project, useful_paths: Callable[[], Collection[str]], max_tokens: int
    ) -> None:
        self._project = project
        self._useful_paths = useful_paths
        self._max_tokens = max_tokens
        self._session_handle: SessionHandle | None = None
        self._map: TreeMap | None = None
        self._stored: dict[str, Any] | None = None
        self._text = ""
        self._news = ""
        self._seen_turn = 0
        self._own_paths: set[str] = set()

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def before_request(self) -> None:
        handle = self._session_handle
        if handle is not None and handle.history.turn != self._seen_turn:
            self._seen_turn = handle.history.turn
            self._look()

    def context(self) -> Iterable[Section]:
        return [Section(_SECTION, self._text, describe_change=lambda _: self._news)]

    def on_files_changed(self, changes: Sequence[Change]) -> None:
        if self._session_handle is not None and self._session_handle.history.open_call_id:
            for change in changes:
                self._own_paths |= {change.path, change.new_path} - {""}

    def state(self) -> dict[str, Any]:
        return {} if self._stored is None else {"project_map": self._stored}

    def restore(self, state: dict[str, Any]) -> None:
        self._stored, self._map = state.get("project_map"), None
        self._text = self._news = ""
        self._seen_turn = 0
        self._own_paths.clear()
        if self._stored is not None:
            self._text = self._told_text(self._known_map(self._stored["map"]), self._stored["told"])

    def _look(self) -> None:
        """Look what is there now; keep what the model knows of it, and what is news to it."""
        from modules.tree_map import came, make_map, news, went  # a prompt is there sooner

        try:
            found = self._project.near_files(_MAX_LOOKED_AT)
        except ToolError:  # it cannot be read: the tools say so
            return
        if self._map is None and self._stored is not None:
            self._map = self._known_map(self._stored["map"])
        own, self._own_paths = self._own_paths, set()
        if self._map is None:
            self._keep(make_map(found, self._useful_paths(), self._max_tokens), is_told=True)
            return
        arrived = came(self._map, found)
        gone = went(self._map, found, self._is_there)
        if not arrived and not gone:
            return
        self._news = news(
            (path for path in arrived if not _is_own(path, own)),
            (path for path in gone if not _is_own(path, own)),
        )
        is_told = bool(self._text or self._news)
        self._keep(make_map(found, self._useful_paths(), self._max_tokens), is_told=is_told)

    def _keep(self, tree_map: TreeMap, *, is_told: bool) -> None:
        self._map = tree_map
        self._text = self._told_text(tree_map, is_told)
        self._stored = {"map": to_plain(tree_map), "told": bool(self._text)}

    def _told_text(self, tree_map: TreeMap, is_told: bool) -> str:
        if not is_told or self._session_handle is None:
            return ""
        return self._session_handle.redact(tree_map.text)

    def _known_map(self, stored: Any) -> TreeMap:
        from modules.tree_map import TreeMap

        tree_map: TreeMap = from_plain(TreeMap, stored)
        return tree_map

    def _is_there(self, path: str) -> bool:
        try:
            return self._project.stat(path) is not None
        except ToolError:
            return False


def _is_own(path: str, own_paths: Collection[str]) -> bool:
    """Return whether one of *own_paths* is *path*, in it, or a folder that it is in."""
    folder = f"{path.rstrip('/')}/"
    return any(f"{one}/".startswith(folder) or folder.startswith(f"{one}/") for one in own_paths)
