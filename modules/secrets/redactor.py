"""Secrets that the model works with and never sees: it reads and writes names in their place.

The values of the project's `.env`-like files, and the keys that this process knows, become
`«SECRET:NAME»` in every text that goes to the model, to a screen or to the disk of a session, also
where they are written backwards, in base64, hex, JSON or percent signs. In what the model writes to
files or runs, the names of the project's own become their values again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.cards import Card, TextCard
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import (
    BindsToSession,
    FlagsCalls,
    PreparesContext,
    ProvidesContext,
    ProvidesStatus,
    RecordsCalls,
    RedactsText,
)
from core.redaction import mapped
from core.tools import Tool
from modules.secrets.env_files import (
    env_files,
    is_env_name,
    is_looked_at,
    read_env,
    secret_part,
    secrets_in,
)
from modules.secrets.secret_encodings import SecretForms
from utils.i18n import Phrase, Text, UserError, phrase

NAME_START = "«SECRET:"
"""How what stands for a secret begins; its name follows, and a "»"."""
_NAMED = re.compile(rf"{NAME_START}([^»\n]+)»")
_PARTED = re.compile(rf"({NAME_START}[^»\n]+»|\n)")
_LOOK_EVERY = 2.0  # seconds
_MOST_NAMES = 60


class Secrets(
    Feature,
    BindsToSession,
    PreparesContext,
    RedactsText,
    FlagsCalls,
    RecordsCalls,
    ProvidesContext,
    ProvidesStatus,
):
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
        self._forms = SecretForms()
        self._looked = self._learned = float("-inf")
        self._talk: SessionHandle | None = None
        self.hidden = 0
        for name, value in known.items():
            if secret_part(name, value):
                self._learn(name, value)

    def meet(self, talk: SessionHandle) -> None:
        self._talk = talk

    @property
    def known(self) -> int:
        """How many values were ever learned."""
        return len(self._names)

    @property
    def is_on(self) -> bool:
        return self._is_wanted and not self._switch.exists()

    # --- hiding ----------------------------------------------------------------------------------

    def blind(self, text: str) -> str:
        if self._looked < 0:
            self.look()
        if not self._names or not self.is_on:
            return text
        text, count = self._forms.replaced(text, _token)
        self.hidden += count
        return text

    def pieces(self, text: str) -> list[tuple[str, str]]:
        """Return *text* in parts, each as it may be seen and as it is.

        A part is one line end, one hidden value, one name such as stands for a hidden value, or
        what lies between these.
        """
        if self._looked < 0:
            self.look()
        hidden = self._forms.found(text) if self._names and self.is_on else ()
        parts: list[tuple[str, str]] = []
        end = 0
        for start, form, name in hidden:
            parts += [(part, part) for part in _PARTED.split(text[end:start]) if part]
            parts.append((_token(name), form))
            end = start + len(form)
        return [*parts, *((part, part) for part in _PARTED.split(text[end:]) if part)]

    def names_in(self, text: str) -> frozenset[str]:
        """Return the names of the secrets that *text* holds, in whatever form.

        Whether they are hidden does not matter here.
        """
        if time.monotonic() - self._learned > _LOOK_EVERY:
            self._learn_files()
        return frozenset(name for _, _, name in self._forms.found(text))

    def value(self, token: str) -> str:
        """Return what *token*, a name in its brackets, stands for now; itself when for nothing."""
        return self._revealed(token) if self.is_on else token

    def unsure(self, text: str) -> int:
        return self._forms.unsure(text) if self._names and self.is_on else 0

    def concern(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if not (tool.spec.destination and self.is_on):
            return None
        names = ("path", tool.spec.destination)
        old, new = (str(arguments.get(name, "")).strip("/") for name in names)
        known = [path.relative_to(self._root).as_posix() for path in env_files(self._root)]
        known += [old] if is_env_name(old.rpartition("/")[2]) else []
        moved = [new + path[len(old) :] for path in known if f"{path}/".startswith(f"{old}/")]
        if all(map(is_looked_at, moved)):
            return None
        return phrase("There, programs would see the secrets in {path}.", path=old)

    def reveal(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name = str(arguments.get("path", "")).rpartition("/")[2]
        if self._looked < 0 or is_env_name(name):  # the person may have just saved it
            self.look()
        return {
            name: mapped(value, self._revealed) if name in tool.spec.unredacted else value
            for name, value in arguments.items()
        }

    def _revealed(self, text: str) -> str:
        return _NAMED.sub(lambda match: self._values.get(match[1], match[0]), text)

    def covers(self) -> Mapping[Path, str]:
        """Return what programs find in place of each file that holds secrets."""
        self.look()
        if not self.is_on:
            return {}
        texts = {path: read_env(path) for path in self._files}
        blind = {path: self.blind(text) for path, text in texts.items() if text is not None}
        return {path: text for path, text in blind.items() if text != texts[path]}

    # --- finding ---------------------------------------------------------------------------------

    def before(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self.look()

    def after(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self.look()

    def look(self) -> None:
        """Learn the secrets of the files that are new or have changed."""
        self._looked = time.monotonic()
        if self.is_on:
            self._learn_files()

    def _learn_files(self) -> None:
        self._learned = time.monotonic()
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
        self._forms.learn(name, value)

    # --- telling ---------------------------------------------------------------------------------

    def before_request(self) -> None:
        if time.monotonic() - self._looked > _LOOK_EVERY:
            self.look()

    def context(self) -> Iterable[Section]:
        names = sorted(self._values) if self.is_on else []
        if not names:
            return
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        listed = ", ".join(map(_token, names[:_MOST_NAMES])) + more
        yield Section(
            "secrets",
            f"Secret values of .env-like files are hidden from you; each appears as its name: "
            f"{listed}. Write a name, brackets included, where its value belongs in "
            f"{self._revealing()}: it is put in there. Programs "
            "that read those files find the names as well.",
        )

    def _revealing(self) -> str:
        """Return the tools that get the values of the names in their calls."""
        specs = self._talk.tools.specs if self._talk else {}
        names = [name for name, spec in specs.items() if spec.unredacted]
        return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))

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

    @command(
        "/secrets [on|off]",
        "Hide the values of .env files from the model, or show them.",
        is_concurrent=True,
    )
    def switch(self, rest: str) -> Card:
        if rest not in ("", "on", "off"):
            raise UserError(phrase("Say /secrets on or /secrets off."))
        if rest == "on":
            self._switch.unlink(missing_ok=True)
        elif rest == "off":
            self._switch.touch()
        self.look()
        if not self.is_on:
            return TextCard(phrase("Secrets are not hidden in this project."))
        title = phrase("Secrets are hidden in this project.")
        return TextCard(title, "\n".join(map(_token, sorted(self._values))))


def _token(name: str) -> str:
    return f"{NAME_START}{name}»"
