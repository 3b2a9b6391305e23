"""What the terminal's screen takes from the settings, as they are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from modules.cli.colors import Colors
from modules.cli.input.typed_keys import ESCAPE, TypedKeys

if TYPE_CHECKING:
    from modules.cli.render.attention import Attention


@dataclass(eq=False)
class ScreenSettings:
    """Settings of the screen; each is read where it is used, and holds from there on."""

    has_vim_keys: bool = False
    colors: Colors = field(default_factory=Colors)
    attention: Attention | None = None
    """What calls the person who waits elsewhere; None where they want no call."""
    shortcuts: Mapping[str, str] = field(default_factory=dict)
    """The keyboard shortcuts that were changed, by their names in the settings."""

    @property
    def typed_keys(self) -> TypedKeys:
        if not self.shortcuts:
            return TypedKeys()
        from utils.shortcuts import terminal_keys  # for who changed some

        names = (terminal_keys(one.name, self.shortcuts)[0] for one in fields(TypedKeys))
        return TypedKeys(*(ESCAPE if key == "Esc" else chr(ord(key[-1]) & 0x1F) for key in names))
