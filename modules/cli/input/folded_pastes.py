"""Long pastes in the line: each is one character of it, shown as a few words, and sent whole."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.history import History
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from core.conversation.messages import as_message
from modules.translator import Translator
from utils.i18n import Phrase, phrase

MAX_LINES = 10
"""Lines of a paste that are shown as they are,"""
MAX_CHARACTERS = 2_000
"""and characters."""
_STAND_INS = range(0xF0000, 0xFFFFE)
"""Characters that mean nothing to anybody: those of a private plane of Unicode."""


class FoldedPastes:
    """The long pastes of a prompt; they stay known, for a line may come back with them."""

    def __init__(self, translator: Translator) -> None:
        self._translator = translator
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """Return the character that stands for *text*, or *text* itself where that is short."""
        is_long = text.count("\n") >= MAX_LINES or len(text) > MAX_CHARACTERS
        if not is_long and self._texts.keys().isdisjoint(text):
            return text
        stand_in = chr(_STAND_INS[len(self._texts) % len(_STAND_INS)])
        self._texts[stand_in] = text
        return stand_in

    def unfold(self, line: str) -> str:
        """Return *line* with each paste whole; one that begins it is a message, and no command."""
        if self._texts.keys().isdisjoint(line):
            return line
        text = "".join(self._texts.get(char, char) for char in line)
        return as_message(text) if line.lstrip()[:1] in self._texts else text

    def is_in(self, line: str) -> bool:
        return not self._texts.keys().isdisjoint(line)

    def label(self, char: str) -> str:
        """Return what is shown for *char*: itself unless it stands for a paste."""
        if (text := self._texts.get(char)) is None:
            return char
        return f"[{self._translator.render(_size(text))}]"

    def unfold_in(self, buffer: Buffer) -> None:
        """Put each paste of the line into *buffer* whole, with the cursor where it was."""
        cursor = len(self.unfold(buffer.document.text_before_cursor))
        buffer.document = Document(self.unfold(buffer.text), cursor)


def _size(text: str) -> Phrase:
    lines = text.rstrip("\n").count("\n") + 1
    if lines > 1:
        return phrase("pasted: {n:,} lines", n=lines)
    return phrase("pasted: {n:,} characters", n=len(text))


class PasteLabels(Processor):
    """Shows the label of each paste in its place."""

    def __init__(self, pastes: FoldedPastes) -> None:
        self._pastes = pastes

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        if not self._pastes.is_in(fragment_list_to_text(transformation_input.fragments)):
            return Transformation(transformation_input.fragments)
        shown: StyleAndTextTuples = []
        starts: list[int] = []
        end = 0
        for style, char, *_ in explode_text_fragments(transformation_input.fragments):
            label = self._pastes.label(char)
            shown.append((f"{style} class:pasted" if label != char else style, label))
            starts.append(end)
            end += len(label)
        starts += [end, end + 1]  # the cursor can be right after the line as well

        def to_source(position: int) -> int:
            return max((n for n, start in enumerate(starts) if start <= position), default=0)

        return Transformation(
            shown, source_to_display=lambda n: starts[n], display_to_source=to_source
        )


class UnfoldedHistory(History):
    """Keeps lines in *history* with their pastes whole."""

    def __init__(self, history: History, pastes: FoldedPastes) -> None:
        super().__init__()
        self._history = history
        self._pastes = pastes

    def load_history_strings(self) -> Iterable[str]:
        return self._history.load_history_strings()

    def append_string(self, string: str) -> None:
        super().append_string(self._pastes.unfold(string))

    def store_string(self, string: str) -> None:
        self._history.store_string(string)
