"""The sessions that a client has open, and the projects that they are of."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from acp import RequestError
from acp.schema import ListSessionsResponse, SessionInfo

from core.conversation.message_queue import NOTHING_WAITS
from core.main_terminal import MainTerminal
from modules.acp.client_link import ClientLink
from modules.acp.session import AcpSession, OpenProject
from modules.acp.session_view import iso_time
from modules.acp.write_gate import WriteGate, overlap
from modules.files.project import Project
from modules.sessions.store import Sessions
from modules.translator import Translator
from utils.i18n import UserError
from utils.logger import FailureLog

PAGE_LENGTH = 50
"""Sessions of one page of the list."""
_SHUTDOWN_SECONDS = 5.0
"""Seconds that stopped turns have to end when the client went away."""


@dataclass(frozen=True)
class ProjectAccess:
    """A project folder, opened: its sessions, and terminals for them.

    *sockets* is a private folder outside of it, which is made when it is needed.
    """

    project: Project
    sockets: Path
    store: Sessions
    failures: FailureLog
    open_terminal: Callable[[], MainTerminal]
    close: Callable[[], None]


@dataclass(frozen=True)
class Workplace:
    """What the machine has for a client. All of it raises `UserError`.

    *find_folder* is the folder that a path means, *has_data* whether anything was ever kept of it,
    *check_model* fails where there is no model to be had, as without a key.
    """

    find_folder: Callable[[str], Path]
    has_data: Callable[[Path], bool]
    open_project: Callable[[Path], ProjectAccess]
    check_model: Callable[[], None]


class OpenSessions:
    """Opens each session once. Any thread but that of the event loop may call; it may block."""

    def __init__(self, workplace: Workplace, client: ClientLink, translator: Translator) -> None:
        self._workplace = workplace
        self._client = client
        self._translator = translator
        self._projects: dict[Path, ProjectAccess] = {}
        self._sessions: dict[str, AcpSession] = {}
        self._closings: dict[str, Future[None]] = {}
        self._gate = WriteGate()
        self._lock = threading.RLock()
        self._is_closed = False

    def find(self, session: str) -> AcpSession:
        """Return the open *session*; never waits. Raises `RequestError`."""
        if found := self._sessions.get(session):
            return found
        raise unknown_session(session)

    def new(self, cwd: str) -> AcpSession:
        with self._lock:
            project = self._project(cwd)
            terminal = self._terminal(project)
            try:
                session = project.store.create(model=terminal.model.model)
                project.store.keep(session)  # the client may load it into another process of ours
                terminal.resume(session)
            except UserError:
                terminal.close()
                raise
            return self._added(terminal, project)

    def open(self, cwd: str, session: str) -> AcpSession:
        """Return *session* of the folder *cwd*, opened if it was not.

        Raises `RequestError` where there is none of that id in that folder.
        """
        with self._lock:
            folder = self._folder(cwd)
            if found := self._sessions.get(session):
                if found.project.root != folder:
                    raise unknown_session(session)
                return found
            if not self._workplace.has_data(folder):
                raise unknown_session(session)
            project = self._project(cwd)
            try:
                project.store.info(session)  # a beginning of an id is none
            except UserError:
                raise unknown_session(session) from None
            terminal = self._terminal(project)
            try:
                terminal.resume(session)
            except UserError:
                terminal.close()
                raise
            return self._added(terminal, project)

    def fork(self, cwd: str, session: str) -> AcpSession:
        """Return a new session with all that was said in *session*. Raises `RequestError`."""
        with self._lock:
            origin = self.open(cwd, session)
            with origin.reserved():
                turns = origin.terminal.history.turns
                if not turns:
                    return self.new(cwd)
                copy = origin.terminal.fork(turns[-1])
                self._projects[origin.project.root].store.append(copy, turns[-1], NOTHING_WAITS)
            return self.open(cwd, copy)

    def list_page(self, cwd: str | None, cursor: str | None) -> ListSessionsResponse:
        """Return the sessions of the folder *cwd*, or of all open ones and that of our start."""
        with self._lock:
            offset = _offset(cursor)
            folders = self._listed_folders(cwd)
            rows = [row for folder in folders for row in self._rows(folder, offset + PAGE_LENGTH)]
            rows.sort(key=lambda row: row.updated_at or "", reverse=True)
            page = rows[offset : offset + PAGE_LENGTH]
            is_more = len(rows) > offset + PAGE_LENGTH
            next_cursor = str(offset + PAGE_LENGTH) if is_more else None
            return ListSessionsResponse(sessions=page, next_cursor=next_cursor)

    def closing(self, session: str) -> Future[None] | None:
        """Return what is done when *session*, which is being closed, is; None if it is not."""
        return self._closings.get(session)

    def begin_close(self, session: str) -> AcpSession:
        """Stop what runs in *session*, which nobody closes yet, and return it; never waits.

        `end_close` is to follow. Raises `RequestError`.
        """
        found = self.find(session)
        self._closings[session] = Future()
        found.end()
        return found

    def end_close(self, found: AcpSession) -> None:
        """Let go of *found*; all of it is kept. Others are not held up by what that takes.

        Raises `RequestError` where it still runs: the session is open then as before.
        """
        closing = self._closings[found.id]
        try:
            if found.is_running:
                found.stay()
                details = "what runs has not ended yet: try again"
                raise RequestError.internal_error({"details": details})
            with self._lock:
                is_ours = self._sessions.get(found.id) is found
            if is_ours:
                found.close()
                with self._lock:
                    self._sessions.pop(found.id, None)
        finally:
            del self._closings[found.id]
            closing.set_result(None)

    def leave(self) -> None:
        """Stop what runs, and begin nothing more; an open question stays one. Never waits."""
        self._is_closed = True
        for session in list(self._sessions.values()):
            session.leave()

    def close_all(self) -> None:
        """Let go of everything that was left."""
        with self._lock:
            self.leave()
            deadline = time.monotonic() + _SHUTDOWN_SECONDS
            for session in self._sessions.values():
                session.wait(max(0.0, deadline - time.monotonic()))
                session.close()
            self._sessions.clear()
            for project in self._projects.values():
                project.close()
            self._projects.clear()

    # --- how -------------------------------------------------------------------------------------

    def _folder(self, cwd: str) -> Path:
        """Return the folder *cwd*. Raises `RequestError` where it is none."""
        if not Path(cwd).is_absolute():
            raise RequestError.invalid_params({"details": f"cwd must be absolute, not {cwd!r}"})
        try:
            folder = self._workplace.find_folder(cwd)
            is_folder = folder.is_dir()
        except UserError as error:
            details = self._translator.render(error.message)
            raise RequestError.invalid_params({"details": details}) from None
        except (OSError, ValueError):
            is_folder = False
        if not is_folder:
            raise RequestError.invalid_params({"details": f"there is no folder {cwd!r}"})
        return folder

    def _project(self, cwd: str) -> ProjectAccess:
        folder = self._folder(cwd)
        if self._is_closed:
            raise RequestError.internal_error({"details": "Onefold ends"})
        if folder not in self._projects:
            self._projects[folder] = self._workplace.open_project(folder)
        return self._projects[folder]

    def _terminal(self, project: ProjectAccess) -> MainTerminal:
        try:
            self._workplace.check_model()
        except UserError as error:
            details = self._translator.render(error.message)
            raise RequestError.auth_required({"details": details}) from None
        return project.open_terminal()

    def _added(self, terminal: MainTerminal, project: ProjectAccess) -> AcpSession:
        folder = project.project
        opened = OpenProject(
            folder.root, project.sockets, project.failures, lambda path: folder.read_text(path).text
        )
        session = AcpSession(
            terminal, opened, self._client, self._translator, self._neighbours_of, self._gate
        )
        self._sessions[session.id] = session
        return session

    def _neighbours_of(self, session: AcpSession) -> list[AcpSession]:
        """Return the other sessions whose folder is that of *session*, in it, or around it."""
        root = session.project.root
        return [
            other
            for other in list(self._sessions.values())
            if other is not session and overlap(root, other.project.root)
        ]

    def _listed_folders(self, cwd: str | None) -> Sequence[Path]:
        has_data = self._workplace.has_data
        if cwd is not None:
            folder = self._folder(cwd)
            return [folder] if has_data(folder) else []
        start = self._workplace.find_folder(".")
        return list(dict.fromkeys([*self._projects, *([start] if has_data(start) else [])]))

    def _rows(self, folder: Path, before: int) -> list[SessionInfo]:
        """Return the newest sessions of *folder*, one more than *before* if there are more."""
        store = self._project(str(folder)).store
        return [
            SessionInfo(
                session_id=info.id,
                cwd=str(folder),
                title=info.title,
                updated_at=iso_time(info.updated),
            )
            for info in store.sessions(before + 1)
        ]


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise RequestError.invalid_params({"details": "this is no cursor of ours"})
    return int(cursor)


def unknown_session(session: str) -> RequestError:
    return RequestError(-32002, f"There is no session {session!r} here.")
