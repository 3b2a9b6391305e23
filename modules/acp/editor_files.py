"""The files of a session as the editor has them: what it shows, and what it is to show."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from core.main_terminal import MainTerminal
from modules.acp.client_link import ClientLink
from modules.jobs.feature import Jobs
from modules.mcp_client.feature import McpServers
from modules.unsaved_edits import differs
from utils.logger import FailureLog
from utils.waiting import Stop

_MAX_BYTES = 2_000_000
"""Bytes of a file that the editor is given: it is to answer soon."""


class NotTakenOver(Exception):
    """The editor did not take a text over; the file on disk is right all the same."""


class EditorFiles:
    """Reads and shows files below *root* in the editor behind *client*.

    An editor writes to a path by its name, where a program might have put a link meanwhile. So it
    is asked to only while *is_quiet*: nothing that is confined to the folder runs there.
    """

    def __init__(
        self,
        client: ClientLink,
        session: str,
        root: Path,
        stop: Stop,
        quiet: Callable[[], AbstractContextManager[bool]],
        failures: FailureLog,
    ) -> None:
        self._client = client
        self._session = session
        self._root = root
        self._stop = stop
        self._quiet = quiet
        self._failures = failures
        self._is_silent = False

    def text_of(self, path: str) -> str | None:
        """Return the text of *path*, from the project's folder, as the editor has it; None where it
        does not say."""
        return self._client.editor_text(self._session, str(self._root / path), self._stop)

    def take_over(self, path: str, before: str, data: bytes) -> None:
        """Have the editor show *data*, which *path* holds now in the place of the text *before*.

        It is not asked where it shows changes of the person's, or cannot say what it shows. After
        one write without an answer it is asked for no more: that one may still come.
        """
        if self._is_silent or len(data) > _MAX_BYTES or not self._client.writes_files:
            return
        try:
            text = data.decode()
        except UnicodeDecodeError:  # the protocol knows no other encoding
            return
        absolute = str(self._root / path)
        shown = self._client.editor_text(self._session, absolute, self._stop, missing=before)
        has_changes = shown is None or (differs(before, shown) and differs(text, shown))
        if has_changes:
            return
        with self._quiet() as is_quiet:
            if not is_quiet:
                return
            answer = self._client.write_text(self._session, absolute, text, self._stop)
        self._is_silent = answer == "silent"
        if answer != "done":
            self._failures.log(NotTakenOver(f"{path}: {answer}"))


def has_programs(terminal: MainTerminal) -> bool:
    """Return whether a program of a session may be at work that no turn waits for."""
    jobs = terminal.features.find(Jobs)
    servers = terminal.features.find(McpServers)
    return bool((jobs and jobs.running_names()) or (servers and servers.has_programs))
