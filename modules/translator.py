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


@dataclass(frozen=True)
class Translator:
    """Says phrases in one language; *catalogue* maps English templates to its own."""

    language: Language
    catalogue: Mapping[str, str]

    @classmethod
    def of(cls, language: Language) -> Translator:
        if language == "en":
            return cls(language, {})
        text = (CATALOGUES / f"{language}.json").read_text(encoding="utf-8")
        return cls(language, json.loads(text))

    def render(self, text: Text) -> str:
        """Return *text* as the person reads it; what is no phrase is left as it is."""
        return text.translate(self.catalogue) if isinstance(text, Phrase) else text
