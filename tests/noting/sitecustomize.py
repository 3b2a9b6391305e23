"""Records the requests of a program that a test starts, for DeepSeek's validator.

What is amiss with their order (request_order.py) is recorded too.

Python imports this first in every process that has this folder on its PYTHONPATH. One line each
goes to a file of the process in the folder that NOTED_REQUESTS names.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

WRITER, TERMINAL = "utils.llm.openai_api.request", "core.main_terminal"


class Finder:
    """Finds the modules that make and write requests, once, and lets what they do be noted."""

    remaining = {WRITER, TERMINAL}

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in cls.remaining:
            return None
        cls.remaining.remove(name)
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def run_and_note(module: ModuleType) -> None:
            run(module)
            if name == WRITER:
                record_all(module.RequestWriter)
            else:
                watch_order(module.MainTerminal)

        spec.loader.exec_module = run_and_note  # type: ignore[method-assign]
        return spec


def record_all(writer: Any) -> None:
    """Note every body that *writer* writes from now on, but for what another server has taught."""
    write = writer.write

    def recording_write(self: Any, *args: Any, **kwargs: Any) -> bytes:
        body: bytes = write(self, *args, **kwargs)
        if not self.profile.changes:
            record_line(body + b"\n")
        return body

    writer.write = recording_write


def watch_order(terminal_class: Any) -> None:
    """Note what is amiss with the order of the requests of such terminals."""
    order: Any = SourceFileLoader(  # by its path: a forked process may have another sys.path
        "request_order", __file__.replace("sitecustomize.py", "request_order.py")
    ).load_module()
    order.watch_requests(
        terminal_class,
        lambda error: record_line(order.ORDER_ERROR + ascii(error).encode() + b"\n"),
    )


def record_line(line: bytes) -> None:
    """Append *line* to the file of this process; where a test leaves no room, it stays cut."""
    file_path = os.path.join(os.environ["NOTED_REQUESTS"], str(os.getpid()))  # noqa: PTH118 - no import
    with suppress(OSError):
        file = os.open(file_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(file, line)
        finally:
            os.close(file)


if "NOTED_REQUESTS" in os.environ:
    sys.meta_path.insert(0, Finder)
