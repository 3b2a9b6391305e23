"""What pages ask of terminals; they do so over their socket, and only where these are on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from modules.shells.launch import Size
from modules.shells.shells import Shells
from modules.web.http.params import Bounds

Json = dict[str, Any]
_Lines = Annotated[int, Bounds(2, 1_000)]
_Columns = Annotated[int, Bounds(2, 1_000)]
_Text = Annotated[str, Bounds(1, 16_384)]


class ShellsApi:
    """Answers for *shells*; a page is named by the id of its connection.

    *is_connected* tells whether a page is there: no longer so once `leave` is called for it.
    """

    def __init__(self, shells: Shells, is_connected: Callable[[str], bool]) -> None:
        self._shells = shells
        self._is_connected = is_connected

    def terminals(self) -> Json:
        """Return the list of them."""
        return {"terminals": self._shells.rows()}

    def open(self, place: Literal["sandbox", "outside"], lines: _Lines, columns: _Columns) -> Json:
        return {"terminal": self._shells.open(place, Size(lines, columns))}

    def show(self, page: str, terminal: int) -> Json:
        """Send *page* what is kept of the output, and from now on what comes."""
        shell = self._shells.find(terminal)
        shell.show(page)
        if not self._is_connected(page):  # it may have gone, and `leave` been called, before
            shell.hide(page)
        return shell.row()

    def drawn(self, page: str, terminal: int, at: int) -> Json:
        """Take note of how much of the output *page* has drawn."""
        self._shells.find(terminal).has_drawn(page, at)
        return {}

    def type(self, terminal: int, text: _Text) -> Json:
        self._shells.find(terminal).type(text)
        return {}

    def resize(self, terminal: int, lines: _Lines, columns: _Columns) -> Json:
        self._shells.find(terminal).resize(Size(lines, columns))
        return {}

    def close(self, terminal: int) -> Json:
        """End a shell with all that it has started."""
        self._shells.end(terminal)
        return {}

    def leave(self, page: str) -> None:
        """Send *page*, which is gone, nothing any more; it waits for nothing."""
        self._shells.leave(page)
