"""Completion of the prompt: commands and what they take, paths of the project behind an @."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from core.feature import Command
from core.tools import ToolError
from modules.mentions.names import NAME_START
from modules.translator import Translator
from utils.i18n import UserError

LIMIT = 50
FRESH_SECONDS = 5.0
_MENTION = rf'{NAME_START}@(?:"([^"\n]*)|([^\s"]*))$'
_LAST_WORD = r"\S*$"
_PATH_WORDS = r"\b(PATH|FILE)\b"


class LineCompleter(Completer):
    """Completes a line for *commands* and the paths that *list_paths* returns.

    Asked in a thread, because *list_paths* may have to look through a large folder.
    """

    def __init__(
        self,
        commands: Mapping[str, Command],
        list_paths: Callable[[], Sequence[str]],
        translator: Translator,
    ) -> None:
        self._commands = commands
        self._files = _CachedPaths(list_paths)
        self._translator = translator

    def get_completions(self, document: Document, _event: CompleteEvent) -> Iterator[Completion]:
        text = document.text_before_cursor
        name, space, _ = text.partition(" ")
        if text.startswith("/") and not space:
            yield from self._complete_command(text)
        elif mention := re.search(_MENTION, text):
            start = mention[1] if mention[2] is None else mention[2]
            yield from self._complete_path(start, length=len(mention[0]) - 1, is_mention=True)
        elif name in self._commands and re.search(_PATH_WORDS, self._commands[name].usage):
            last = re.search(_LAST_WORD, text)
            start = last[0] if last else ""
            yield from self._complete_path(start, length=len(start), is_mention=False)
        elif name in self._commands:
            yield from self._complete_argument(name, text)

    def _complete_argument(self, name: str, text: str) -> Iterator[Completion]:
        last = re.search(_LAST_WORD, text)
        length = len(last[0]) if last else 0
        try:
            words = self._commands[name].next_words(text.removeprefix(name))
        except (OSError, UserError, ToolError):
            words = []  # the next letter asks again
        for word in words[:LIMIT]:
            yield Completion(word, start_position=-length)

    def _complete_command(self, start: str) -> Iterator[Completion]:
        for name, command in self._commands.items():
            if name.startswith(start):
                yield Completion(
                    name,
                    start_position=-len(start),
                    display=command.usage,
                    display_meta=self._translator.render(command.help),
                )

    def _complete_path(self, start: str, *, length: int, is_mention: bool) -> Iterator[Completion]:
        for path in best_matches(self._files(), start, LIMIT):
            text = f'"{path}"' if is_mention and " " in path else path
            yield Completion(text, start_position=-length, display=path)


class _CachedPaths:
    """Asks for the files once in a while only; an answer that fails counts as none."""

    def __init__(self, list_paths: Callable[[], Sequence[str]]) -> None:
        self._list_paths = list_paths
        self._paths: list[str] = []
        self._asked_at = float("-inf")

    def __call__(self) -> list[str]:
        if time.monotonic() - self._asked_at > FRESH_SECONDS:
            try:
                # A name that cannot be printed cannot be typed either.
                self._paths = [path for path in self._list_paths() if path.isprintable()]
            except (OSError, UserError, ToolError):
                self._paths = []
            self._asked_at = time.monotonic()
        return self._paths


def best_matches(paths: Iterable[str], typed: str, limit: int) -> list[str]:
    """Return the *limit* paths that fit *typed* best, without regard to case.

    Those whose file name begins with it come first, then those that contain it, then those that
    have its characters in its order.
    """
    needle = typed.casefold()
    matches = [path for path in paths if needle in path.casefold()]
    if not matches and needle:
        spread = re.compile(".*?".join(map(re.escape, needle)), re.DOTALL)
        matches = [path for path in paths if spread.search(path.casefold())]

    def rank(path: str) -> tuple[bool, bool, int, str]:
        folded = path.casefold()
        name = folded.rpartition("/")[2]
        return not name.startswith(needle), needle not in name, len(path), path

    return sorted(matches, key=rank)[:limit]
