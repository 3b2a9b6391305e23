"""The keys that count at any time, also while a task runs or asks."""

from __future__ import annotations

from utils.frozen import frozen

CTRL_O = "\x0f"
ESCAPE = "\x1b"


@frozen
class TypedKeys:
    """What a terminal sends for each: one control character."""

    show_output: str = CTRL_O
    stop: str = ESCAPE

    @property
    def show_output_name(self) -> str:
        return f"Ctrl-{chr(ord(self.show_output) | 0x40)}"
