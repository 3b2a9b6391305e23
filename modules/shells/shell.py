"""One shell: its process, what pages have seen of its output, and its end."""

from __future__ import annotations

import threading
import time
from base64 import b64encode
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Literal

from modules.sandbox.run.execution import Background, Execution
from modules.sandbox.types import Result
from modules.shells.launch import Size
from modules.shells.scrollback import Scrollback
from utils.i18n import Phrase, UserError, phrase
from utils.text.codec import to_plain
from utils.waiting import Stop

Place = Literal["sandbox", "outside"]
Message = dict[str, Any]
Deliver = Callable[[str, Message], None]
"""Sends a page, named by its id, a message about a shell, as JSON; in the order of the calls."""
Run = Callable[[Stop, Background], Generator[str, None, Result]]
"""Runs the program of a shell until it has ended, or the stop is set."""

_PACKET_BYTES = 16 * 1024
_MAX_PACKETS = 16  # that a page may be sent before it says that it has drawn one
_MAX_BEHIND = 128 * 1024  # bytes that the quickest page may be behind; then the program waits
_INPUT_SECONDS = 5.0  # that a program may take to read what is typed
_INPUT_INTERVAL = 0.01  # seconds until a full terminal is tried again


@dataclass
class _Viewer:
    """A page that shows a shell: what it was sent, and what of it it has drawn."""

    sent: int
    drawn: int
    packets: list[int]
    is_fresh: bool = True
    knows_end: bool = False


class Shell:
    """A shell that *run* runs, from `start` until its end. Threads may share it.

    Pages that show it get its output at the pace at which they draw it; while the quickest of them
    is too far behind the program waits, and a slow one gets the newest output only. *on_change* is
    called when it has ended, and when the first page comes or the last one goes.
    """

    def __init__(
        self, number: int, place: Place, run: Run, deliver: Deliver, on_change: Callable[[], None]
    ) -> None:
        self.number, self.place = number, place
        self._run_program = run
        self._deliver = deliver
        self._on_change = on_change
        self._output = Scrollback()
        self._room = threading.Condition()
        self._viewers: dict[str, _Viewer] = {}
        self._size: Size | None = None
        self._execution: Execution | None = None
        self._stop = Stop()
        self._ended = threading.Event()
        self._result: Result | None = None
        self._failure: Phrase | None = None

    def start(self, size: Size) -> None:
        self._size = size
        name = f"shell {self.number}"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    # --- its threads -----------------------------------------------------------------------------

    def _run(self) -> None:
        background = Background(self, self._on_start, has_room=self._has_room)
        try:
            run = self._run_program(self._stop, background)
            while True:
                next(run)
        except StopIteration as end:
            self._result = end.value
        except UserError as error:
            self._failure = error.message
        finally:
            with self._room:
                self._execution = None
                self._ended.set()
                self._pump()
            self._on_change()

    def _on_start(self, execution: Execution) -> None:
        self._execution = execution

    def _has_room(self, seconds: float) -> bool:
        """Wait up to *seconds* until a page can take more; return whether one can."""
        with self._room:
            return self._room.wait_for(lambda: not self._is_far_ahead(), seconds)

    def _is_far_ahead(self) -> bool:
        """Return whether every page is too far behind; without one the shell waits for none."""
        if not self._viewers or self._stop.is_set():
            return False
        return self._output.total - max(one.drawn for one in self._viewers.values()) > _MAX_BEHIND

    # As the `OutputSink` of its process:

    @property
    def total(self) -> int:
        return self._output.total

    def add(self, data: bytes, *, final: bool = False) -> str:
        with self._room:
            is_first = not self._output.total
            self._output.add(data, final=final)
            self._pump()
        if is_first and self._execution and self._size:  # it may be another by now
            self._execution.resize(*self._size)
        return ""

    def head_and_tail(self) -> tuple[str, str, int]:
        return self._output.head_and_tail()

    def middle(self) -> str:
        return self._output.middle()

    # --- pages -----------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        return not self._ended.is_set()

    @property
    def is_watched(self) -> bool:
        return bool(self._viewers)

    def row(self) -> Message:
        """Return what a list shows of it."""
        return {"terminal": self.number, "place": self.place, "running": self.is_running}

    def show(self, page: str) -> None:
        """Send *page* what is kept of the output, and from now on what comes."""
        with self._room:
            oldest = self._output.oldest
            self._viewers[page] = _Viewer(oldest, oldest, [])
            self._send_size([page])
            self._pump()
            self._room.notify_all()
        self._on_change()

    def hide(self, page: str) -> None:
        """Send *page* nothing any more."""
        with self._room:
            was_there = self._viewers.pop(page, None)
            self._room.notify_all()
        if was_there:
            self._on_change()

    def has_drawn(self, page: str, place: int) -> None:
        """Take note that *page* has drawn the output up to *place*."""
        with self._room:
            if (viewer := self._viewers.get(page)) is None:
                return
            viewer.drawn = max(viewer.drawn, min(place, viewer.sent))
            viewer.packets = [end for end in viewer.packets if end > viewer.drawn]
            self._pump()
            self._room.notify_all()

    def _pump(self) -> None:
        """Send every page what it can take, and the end behind the last of the output."""
        for page, viewer in self._viewers.items():
            while viewer.sent < self._output.total and len(viewer.packets) < _MAX_PACKETS:
                self._send_output(page, viewer)
            is_whole = self._ended.is_set() and viewer.sent == self._output.total
            if is_whole and not viewer.knows_end:
                viewer.knows_end = True
                self._deliver(page, {"terminal": self.number, **self._ending()})

    def _send_output(self, page: str, viewer: _Viewer) -> None:
        message: Message = {"terminal": self.number}
        modes = b""
        if viewer.is_fresh or viewer.sent < self._output.oldest:
            viewer.is_fresh, viewer.sent = False, self._output.oldest
            message["fresh"], modes = True, self._output.modes()
            message["until"] = self._output.total
        data = self._output.read(viewer.sent, _PACKET_BYTES)
        viewer.sent += len(data)
        viewer.packets.append(viewer.sent)
        # As text: bytes would travel as a second packet, and another may come between the two.
        text = b64encode(modes + data).decode("ascii")
        self._deliver(page, {**message, "at": viewer.sent, "data": text})

    def _ending(self) -> Message:
        result = self._result
        reason = result.exit_reason if result else "failed"
        code = result.exit_code if result else None
        failure = {"why": to_plain(self._failure)} if self._failure else {}
        notes = [to_plain(note) for note in result.notes] if result else []
        return {"ended": reason, "code": code, "notes": notes, **failure}

    def resize(self, size: Size) -> None:
        """Give it another size, and tell every page of it."""
        with self._room:
            self._size = size
            self._send_size(list(self._viewers))
        if execution := self._execution:
            execution.resize(*size)

    def _send_size(self, pages: list[str]) -> None:
        assert self._size  # noqa: S101 - it was started
        lines, columns = self._size
        for page in pages:
            message = {"terminal": self.number, "lines": lines, "columns": columns}
            self._deliver(page, message)

    def type(self, text: str) -> None:
        """Write *text* to it, once it is there.

        Raises `UserError` where it has ended, or reads nothing in time.
        """
        left = text.encode(errors="replace")
        end = time.monotonic() + _INPUT_SECONDS
        while left:
            written = self._write(left)
            left = left[written or 0 :]
            if written is None or written:
                end = time.monotonic() + _INPUT_SECONDS
            if not self.is_running:
                raise UserError(phrase("This shell has ended. Open another one."))
            is_late = written == 0 and time.monotonic() > end
            if left and (is_late or self._stop.wait(_INPUT_INTERVAL)):
                raise UserError(
                    phrase("The program in this terminal is not reading what you type.")
                )

    def _write(self, data: bytes) -> int | None:
        """Write what is taken of *data*; return how much, None where there is no process."""
        try:
            return self._execution.write_input(data) if self._execution else None
        except BrokenPipeError:  # it is not there yet, or not any more
            return None

    def stop(self) -> None:
        """Begin to kill it with all that it has started; see `end`."""
        self._stop.set()
        with self._room:
            self._room.notify_all()

    def end(self) -> None:
        """Kill it with all that it has started, and wait until nothing of it is alive."""
        self.stop()
        self._ended.wait()
