"""Secrets that the model works with and never sees: it reads and writes names in their place.

The values of the project's `.env`-like files, and the keys that this process knows, become
`«SECRET:NAME»` in every text that goes to the model, to a screen or to the disk of a session, also
where they are written backwards, in base64, hex, JSON or percent signs. In what the model writes to
files or runs, the names of the project's own become their values again.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from core.blinding import mapped
from core.cards import Card, TextCard
from core.family import Family, Section, command
from modules.env_files import SHORTEST, env_files, read_env, secret_part, secrets_in
from utils.phrases import Phrase, Problem, Text, phrase

_NAMED = re.compile(r"«SECRET:([^»\n]+)»")
_WRITTEN = {"create_file": ("content",), "modify_file": ("old", "new")}
_RUN = {"run_python": ("code",), "run_command": ("command",)}
_REVEALED = _WRITTEN | _RUN
_LOOK_EVERY = 2.0  # seconds
_PIECE = 512  # characters that are looked for in one piece
_MOST_NAMES = 60


class Secrets(Family):
    """Knows the secrets of the project in *root* and those in *known*, by name.

    Only the project's can be revealed. *switch* is a file that exists while the person has this
    switched off for the project.
    """

    def __init__(
        self, root: Path, known: Mapping[str, str], switch: Path, *, is_wanted: bool = True
    ) -> None:
        self._root = root
        self._switch = switch
        self._is_wanted = is_wanted
        self._values: dict[str, str] = {}  # of the project, by name, as they are now
        self._names: dict[str, str] = {}  # by every value there ever was
        self._owners: dict[str, str] = {}  # the file whose secret goes by a name alone
        self._files: dict[Path, tuple[int, int, int]] = {}
        self._forms: dict[str, str] = {}  # names by whatever may be seen of a value
        self._pattern: re.Pattern[str] | None = None
        self._beginnings: frozenset[str] = frozenset()
        self._looked = float("-inf")
        self.hidden = 0
        for name, value in known.items():
            if secret_part(name, value):
                self._learn(name, value)

    @property
    def is_on(self) -> bool:
        return self._is_wanted and not self._switch.exists()

    # --- hiding ----------------------------------------------------------------------------------

    def blind(self, text: str) -> str:
        if self._looked < 0:
            self._look()
        if self._pattern is None or not self.is_on:
            return text
        text, count = self._pattern.subn(lambda match: _token(self._forms[match[0]]), text)
        self.hidden += count
        return text

    def unsure(self, text: str) -> int:
        if not self._beginnings or not self.is_on:
            return 0
        lengths = range(min(len(text), _PIECE), 0, -1)
        return next((n for n in lengths if text[-n:] in self._beginnings), 0)

    def reveal(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._looked < 0:
            self._look()
        names = _REVEALED.get(tool, ())
        return {
            name: mapped(value, self._revealed) if name in names else value
            for name, value in arguments.items()
        }

    def _revealed(self, text: str) -> str:
        return _NAMED.sub(lambda match: self._values.get(match[1], match[0]), text)

    def covers(self) -> Mapping[Path, str]:
        """Return what programs find in place of each file that holds secrets."""
        self._look()
        if not self.is_on:
            return {}
        texts = {path: read_env(path) for path in self._files}
        blind = {path: self.blind(text) for path, text in texts.items() if text is not None}
        return {path: text for path, text in blind.items() if text != texts[path]}

    # --- finding ---------------------------------------------------------------------------------

    def before(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self._look()

    def after(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self._look()

    def _look(self) -> None:
        """Learn the secrets of the files that are new or have changed."""
        self._looked = time.monotonic()
        if not self.is_on:
            return
        for path in env_files(self._root):
            try:
                found = path.stat(follow_symlinks=False)
            except OSError:
                continue
            mark = found.st_ino, found.st_size, found.st_mtime_ns
            if self._files.get(path) != mark and (text := read_env(path)) is not None:
                self._files[path] = mark
                for name, value in secrets_in(text):
                    self._learn_of_file(name, value, path)

    def _learn_of_file(self, name: str, value: str, path: Path) -> None:
        """Give *value* a name that stays; a second of the same name is told apart by its file."""
        place = path.relative_to(self._root).as_posix()
        long = f"{name}@{place}"
        owner = self._owners.setdefault(name, place)
        short = name if owner == place else long
        self._values[short] = value
        self._learn(short, value)

    def _learn(self, name: str, value: str) -> None:
        if value in self._names:
            return
        self._names[value] = name
        for form in _forms_of(value):
            self._forms.setdefault(form, name)
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        self._beginnings = frozenset(form[:n] for form in self._forms for n in range(1, len(form)))

    # --- telling ---------------------------------------------------------------------------------

    def context(self) -> Iterable[Section]:
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self._look()
        names = sorted(self._values) if self.is_on else []
        if not names:
            return
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        listed = ", ".join(map(_token, names[:_MOST_NAMES])) + more
        yield Section(
            "secrets",
            f"Secret values of .env-like files are hidden from you; each appears as its name: "
            f"{listed}. Write a name, brackets included, where its value belongs in "
            "create_file, modify_file, run_python or run_command: it is put in there. Programs "
            "that read those files find the names as well.",
        )

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        if not self.is_on:
            yield phrase("Secrets"), phrase("not hidden (you switched it off)")
        elif self._names:
            yield (
                phrase("Secrets"),
                phrase(
                    "known: {known}; hidden {times} times",
                    known=len(self._names),
                    times=self.hidden,
                ),
            )

    @command("/secrets [on|off]", "Hide the values of .env files from the model, or show them.")
    def switch(self, rest: str) -> Card:
        if rest not in ("", "on", "off"):
            raise Problem(phrase("Say /secrets on or /secrets off."))
        if rest == "on":
            self._switch.unlink(missing_ok=True)
        elif rest == "off":
            self._switch.touch()
        self._look()
        if not self.is_on:
            return TextCard(phrase("Secrets are not hidden in this project."))
        title = phrase("Secrets are hidden in this project.")
        return TextCard(title, "\n".join(map(_token, sorted(self._values))))


def _token(name: str) -> str:
    return f"«SECRET:{name}»"


def _forms_of(value: str) -> Iterator[str]:
    """Yield what may be seen of *value* in a text, each at least as long as the shortest secret."""
    pieces = [value[at : at + _PIECE] for at in range(0, len(value), _PIECE)]
    if "\n" in value:
        pieces += value.splitlines()
    for piece in pieces:
        data = piece.encode("utf-8", "surrogateescape")
        forms = [
            piece,
            piece.replace("\\", ""),
            piece[::-1],
            quote(piece, safe=""),
            quote(piece),
            unquote(piece),
        ]
        forms += [json.dumps(piece)[1:-1], json.dumps(piece, ensure_ascii=False)[1:-1]]
        forms += [data.hex(), data.hex().upper(), *_in_base64(data)]
        yield from (form for form in forms if len(form) >= SHORTEST)


def _in_base64(data: bytes) -> Iterator[str]:
    """Yield what base64 makes of *data* wherever it begins in a longer text."""
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode()
        part = whole[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield part
        yield part.translate(str.maketrans("+/", "-_"))
