"""Switches of the tools: which of those there are the model is offered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from utils.frozen import frozen


@frozen
class ToolSwitches:
    """What a person has switched: all tools at once, single ones, and those yet to come.

    *by_name* holds the tools that were decided about; any other one is as *new_is_on* says.
    """

    is_on: bool = True
    new_is_on: bool = True
    by_name: Mapping[str, bool] = field(default_factory=dict)

    def is_set(self, name: str, *, by_default: bool = True) -> bool:
        """Return whether the tool's own switch is on, whatever the one of all tools is.

        Without *by_default* it is on only where that was decided.
        """
        return self.by_name.get(name, self.new_is_on and by_default)

    def allows(self, name: str) -> bool:
        """Return whether a call of the tool *name* is run."""
        return self.is_on and self.is_set(name)

    def with_tool(self, name: str, is_on: bool) -> ToolSwitches:
        return replace(self, by_name={**self.by_name, name: is_on})

    def with_new(self, is_on: bool, known: Iterable[str]) -> ToolSwitches:
        """Return the switches with another default; the tools *known* so far stay as they are."""
        return replace(
            self,
            new_is_on=is_on,
            by_name={**{name: self.is_set(name) for name in known}, **self.by_name},
        )
