"""Patterns that are compiled only for a line which may fit: most lines never need most of them."""

from __future__ import annotations

import re
from functools import cached_property


class HintedPattern:
    """Alternatives of which each holds one of the *hints*, in small letters.

    What has none of them in it is not looked at further, so a line that is about something else
    costs no compilation.
    """

    def __init__(self, *alternatives: str, hints: str) -> None:
        self._alternatives = alternatives
        self._hints = tuple(hints.split("|"))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{one})" for one in self._alternatives), re.IGNORECASE)

    def may_fit(self, text: str) -> bool:
        lowered = text.casefold()
        return any(hint in lowered for hint in self._hints)

    def is_in(self, text: str) -> bool:
        """Return whether an alternative fits somewhere in *text*."""
        return self.may_fit(text) and self._pattern.search(text) is not None

    def is_all_of(self, text: str) -> bool:
        """Return whether an alternative fits *text* from end to end."""
        return self.may_fit(text) and self._pattern.fullmatch(text) is not None
