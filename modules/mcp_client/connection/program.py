"""A server's program: started in the sandbox, its lines read and written, its floods ended."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from modules.mcp_client.bounds import MAX_CALL_BYTES, MAX_LINE_BYTES, weight
from modules.sandbox.types import Result
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import clean
from utils.waiting import Stop

if TYPE_CHECKING:
    from modules.sandbox.run.execution import Background, Execution

_ERROR_BYTES = 4_000  # of the end of its standard error, which are kept
StartProgram = Callable[["Background", Stop], Generator[str, None, Result]]


def shell_line(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the line of bash that becomes *command*, with *environment* beside its own."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return "\n".join([*exports, f"exec {shlex.join(command)}"])


class ServerProgram:
    """A program that speaks in lines. *on_line* gets each, None at the end; by another thread."""

    def __init__(self, start: StartProgram, on_line: Callable[[bytes | None], None]) -> None:
        self._start_program = start
        self._on_line = on_line
        self._lines = _LineSink(self._take_line, self._on_flood)
        self._errors = _TailSink()
        self._stop = Stop()
        self._execution: Execution | None = None
        self._ready = threading.Event()
        self._ended = threading.Event()
        self.failure: Phrase | None = None
        """Why it ended, as far as that is known."""
        self.exit_code: int | None = None

    def start(self) -> None:
        threading.Thread(target=self._run, name="mcp-server", daemon=True).start()

    def _run(self) -> None:
        from modules.sandbox.run.execution import Background

        background = Background(self._lines, self._on_start, self._errors)
        run = self._start_program(background, self._stop)
        try:
            while True:
                next(run)
        except StopIteration as end:
            self.failure = self.failure or _ending(end.value)
            self.exit_code = end.value.exit_code
        except UserError as error:
            self.failure = self.failure or error.message
        finally:
            self._execution = None
            self._ended.set()
            self._ready.set()
            self._on_line(None)

    def _on_start(self, execution: Execution) -> None:
        self._execution = execution
        self._ready.set()

    def _take_line(self, line: bytes) -> None:
        if not self._stop.is_set():
            self._on_line(line)

    def _on_flood(self) -> None:
        self.failure = phrase("it wrote more than one call may")
        self._stop.set()

    def begin_call(self) -> None:
        """Count from here what it writes."""
        self._lines.counted = 0

    def write(self, data: bytes) -> int:
        """Write what it takes of *data* now; return how many bytes.

        Raises `BrokenPipeError` where nobody reads any more.
        """
        execution = self._execution
        if self._ended.is_set():
            raise BrokenPipeError
        if execution is None or execution.inner_pid is None:  # it is about to start, or has ended
            return 0
        return execution.write_input(data)

    @property
    def is_running(self) -> bool:
        return not self._ended.is_set()

    @property
    def error_text(self) -> str:
        """The end of what it wrote to its standard error."""
        return self._errors.text()

    def stop(self) -> None:
        """Kill it; may be called from any thread, again and again."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait until nothing of it is alive; return whether that is so."""
        return self._ended.wait(seconds)


class _LineSink:
    """Cuts what a program writes into lines; *on_flood* is called once when it is too much."""

    def __init__(self, on_line: Callable[[bytes], None], on_flood: Callable[[], None]) -> None:
        self._on_line = on_line
        self._on_flood = on_flood
        self._parts: list[bytes] = []
        self._size = 0
        self._is_flooded = False
        self.total = 0
        self.counted = 0

    def add(self, data: bytes, *, final: bool = False) -> str:  # noqa: ARG002 - see `OutputSink`
        self.total += len(data)
        if self._is_flooded:
            return ""
        self.counted += weight(data)
        *lines, rest = data.split(b"\n")
        for line in lines:
            if self._takes(line):
                self._on_line(b"".join(self._parts))
                self._parts, self._size = [], 0
        self._takes(rest)
        return ""

    def _takes(self, part: bytes) -> bool:
        """Keep *part* of a line, unless that is too much now or was before."""
        self._parts.append(part)
        self._size += weight(part)
        if not self._is_flooded and (self._size > MAX_LINE_BYTES or self.counted > MAX_CALL_BYTES):
            self._parts, self._is_flooded = [], True
            self._on_flood()
        return not self._is_flooded

    def head_and_tail(self) -> tuple[str, str, int]:
        return "", "", 0

    def middle(self) -> str:
        return ""


class _TailSink:
    """Keeps the end of what a program writes."""

    def __init__(self) -> None:
        self._data = b""
        self.total = 0

    def add(self, data: bytes, *, final: bool = False) -> str:  # noqa: ARG002 - see `OutputSink`
        self.total += len(data)
        self._data = (self._data + data)[-_ERROR_BYTES:]
        return ""

    def text(self) -> str:
        return clean(self._data.decode(errors="replace")).strip()

    def head_and_tail(self) -> tuple[str, str, int]:
        return self.text(), "", 0

    def middle(self) -> str:
        return ""


def _ending(result: Result) -> Phrase:
    match result.exit_reason:
        case "exited":
            return phrase("it ended with code {code}", code=result.exit_code or 0)
        case "stopped":
            return phrase("it was stopped")
        case "memory":
            return phrase("it used too much memory")
        case "processes":
            return phrase("it had too many processes")
        case _:
            return phrase("the system killed it")
