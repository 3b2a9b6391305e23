"""The translator: the words on screen, in the language of the person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from utils.i18n import Phrase, Text

Language = Literal["en", "zh"]
CATALOGUES = Path(__file__).parent.parent / "static" / "i18n"


@dataclass(eq=False)
class Translator:
    """Says phrases in one language at a time; *catalogue* maps English templates to its own."""

    language: Language
    catalogue: Mapping[str, str]

    @classmethod
    def of(cls, language: Language) -> Translator:
        return cls(language, _catalogue_of(language))

    def use(self, language: Language) -> None:
        """Say what comes from now on in *language*."""
        self.language, self.catalogue = language, _catalogue_of(language)

    def render(self, text: Text) -> str:
        """Return *text* as the person reads it; what is no phrase is left as it is."""
        return text.translate(self.catalogue) if isinstance(text, Phrase) else text


def _catalogue_of(language: Language) -> Mapping[str, str]:
    if language == "en":
        return {}
    catalogue: Mapping[str, str] = json.loads(
        (CATALOGUES / f"{language}.json").read_text(encoding="utf-8")
    )
    return catalogue
