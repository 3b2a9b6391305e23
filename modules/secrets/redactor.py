"""Secrets that the model works with and never sees: it reads and writes names in their place.

The values of the project's `.env`-like files, and the keys that this process knows, become
`«SECRET:NAME»` in every text that goes to the model, to a screen or to the disk of a session, also
where they are written backwards, in base64, hex, JSON or percent signs. In what the model writes to
files or runs, the names of the project's own become their values again.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
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
from core.redaction import map_strings
from core.tools import Tool
from modules.secrets.env_files import (
    env_files,
    is_env_name,
    is_env_path,
    read_env,
    secret_part,
    secrets_in,
)
from modules.secrets.secret_encodings import SecretMatcher
from utils.i18n import Phrase, Text, UserError, phrase

NAME_START = "«SECRET:"
"""How what stands for a secret begins; its name follows, and a "»"."""
_TOKEN = re.compile(rf"{NAME_START}([^»\n]+)»")
_TOKEN_OR_NEWLINE = re.compile(rf"({NAME_START}[^»\n]+»|\n)")
_REFRESH_INTERVAL = 2.0  # seconds
_MAX_NAMES = 60


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
    """Redactor of the secrets of the project in *root* and of those in *known*, by name.

    Only the project's can be substituted. *switch* is a file that exists while the person has this
    switched off for the project.
    """

    def __init__(
        self, root: Path, known: Mapping[str, str], switch: Path, *, is_enabled: bool = True
    ) -> None:
        self._root = root
        self._switch = switch
        self._is_enabled = is_enabled
        self._values: dict[str, str] = {}  # of the project, by name, as they are now
        self._names: dict[str, str] = {}  # by every value there ever was
        self._file_of_name: dict[str, str] = {}  # the file whose secret goes by a name alone
        self._files: dict[Path, tuple[int, int, int]] = {}
        self._matcher = SecretMatcher()
        self._refreshed_at = self._files_read_at = float("-inf")
        self._talk: SessionHandle | None = None
        self.hidden_count = 0
        for name, value in known.items():
            self.hide(name, value)

    def hide(self, name: str, value: str) -> None:
        """Hide *value*, as far as it is a secret, by *name* from now on; any thread may call it."""
        if secret := secret_part(name, value):
            self._add(name, secret)

    def bind(self, session_handle: SessionHandle) -> None:
        self._talk = session_handle

    @property
    def known_count(self) -> int:
        """How many values were ever learned."""
        return len(self._names)

    def enable(self, is_enabled: bool) -> None:
        """Hide secrets from now on where *is_enabled*, unless this project has that off."""
        self._is_enabled = is_enabled
        self.refresh()

    @property
    def is_on(self) -> bool:
        return self._is_enabled and not self._switch.exists()

    # --- hiding ----------------------------------------------------------------------------------

    def redact(self, text: str) -> str:
        if self._refreshed_at < 0:
            self.refresh()
        if not self._names or not self.is_on:
            return text
        text, hidden = self._matcher.replace(text, _token)
        self.hidden_count += hidden
        return text

    def segments(self, text: str) -> list[tuple[str, str]]:
        """Return *text* in segments, each as it may be seen and as it is.

        A part is one line end, one hidden value, one name such as stands for a hidden value, or
        what lies between these.
        """
        if self._refreshed_at < 0:
            self.refresh()
        hidden = self._matcher.find(text) if self._names and self.is_on else ()
        segments: list[tuple[str, str]] = []
        end = 0
        for start, form, name in hidden:
            segments += [
                (piece, piece) for piece in _TOKEN_OR_NEWLINE.split(text[end:start]) if piece
            ]
            segments.append((_token(name), form))
            end = start + len(form)
        return [
            *segments,
            *((piece, piece) for piece in _TOKEN_OR_NEWLINE.split(text[end:]) if piece),
        ]

    def names_in(self, text: str) -> frozenset[str]:
        """Return the names of the secrets that *text* holds, in whatever form.

        Whether they are hidden does not matter here.
        """
        if time.monotonic() - self._files_read_at > _REFRESH_INTERVAL:
            self._read_files()
        return frozenset(name for _, _, name in self._matcher.find(text))

    def value(self, token: str) -> str:
        """Return the value of *token*, a name in its brackets; *token* itself where it has none."""
        return self._substitute(token) if self.is_on else token

    def partial_secret_length(self, text: str) -> int:
        return self._matcher.partial_secret_length(text) if self._names and self.is_on else 0

    def approval_reason(self, tool: Tool, arguments: Mapping[str, Any]) -> Phrase | None:
        if not (tool.spec.destination and self.is_on):
            return None
        names = ("path", tool.spec.destination)
        old, new = (str(arguments.get(name, "")).strip("/") for name in names)
        env_paths = [path.relative_to(self._root).as_posix() for path in env_files(self._root)]
        env_paths += [old] if is_env_name(old.rpartition("/")[2]) else []
        moved = [new + path[len(old) :] for path in env_paths if f"{path}/".startswith(f"{old}/")]
        if all(map(is_env_path, moved)):
            return None
        return phrase("There, programs would see the secrets in {path}.", path=old)

    def unredact(self, tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        name = str(arguments.get("path", "")).rpartition("/")[2]
        if self._refreshed_at < 0 or is_env_name(name):  # the person may have just saved it
            self.refresh()
        return {
            name: map_strings(value, self._substitute) if name in tool.spec.unredacted else value
            for name, value in arguments.items()
        }

    def _substitute(self, text: str) -> str:
        return _TOKEN.sub(lambda match: self._values.get(match[1], match[0]), text)

    def redacted_files(self) -> Mapping[Path, str]:
        """Return the redacted text that programs read in place of each file with secrets."""
        self.refresh()
        if not self.is_on:
            return {}
        texts = {path: read_env(path) for path in self._files}
        redacted = {path: self.redact(text) for path, text in texts.items() if text is not None}
        return {path: text for path, text in redacted.items() if text != texts[path]}

    # --- finding ---------------------------------------------------------------------------------

    def before_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self.refresh()

    def after_call(self, call_id: str, turn: int) -> None:  # noqa: ARG002
        self.refresh()

    def refresh(self) -> None:
        """Learn the secrets of the files that are new or have changed."""
        self._refreshed_at = time.monotonic()
        if self.is_on:
            self._read_files()

    def _read_files(self) -> None:
        self._files_read_at = time.monotonic()
        for path in env_files(self._root):
            try:
                status = path.stat(follow_symlinks=False)
            except OSError:
                continue
            stat_key = status.st_ino, status.st_size, status.st_mtime_ns
            if self._files.get(path) != stat_key and (text := read_env(path)) is not None:
                self._files[path] = stat_key
                relative = path.relative_to(self._root).as_posix()
                found = [(self._in_file(name, relative), one) for name, one in secrets_in(text)]
                self._add_from_file(found)

    def _in_file(self, name: str, relative: str) -> str:
        """Return how *name* is told apart from the same one in another file."""
        owner = self._file_of_name.setdefault(name, relative)
        return name if owner == relative else f"{name}@{relative}"

    def _add_from_file(self, found: Sequence[tuple[str, str]]) -> None:
        """Give each value that is *found* in a file a name that stays; of those of the same name
        the first has it, and the others get a number."""
        kept = {self._names.get(value, ""): value for _, value in found}
        kept = {name: value for name, value in kept.items() if self._values.get(name) == value}
        numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
        for name, value in dict.fromkeys(found):
            shown_name = name
            while kept.setdefault(shown_name, value) != value:
                shown_name = f"{name}.{next(numbers[name])}"
            self._values[shown_name] = value
            self._add(shown_name, value)

    def _add(self, name: str, value: str) -> None:
        if value in self._names:
            return
        self._names[value] = name
        self._matcher.add(name, value)

    # --- telling ---------------------------------------------------------------------------------

    def before_request(self) -> None:
        if time.monotonic() - self._refreshed_at > _REFRESH_INTERVAL:
            self.refresh()

    def context(self) -> Iterable[Section]:
        names = sorted(self._values) if self.is_on else []
        if not names:
            return
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        listed = ", ".join(map(_token, names[:_MAX_NAMES])) + more
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
            yield phrase("Secrets"), phrase("not hidden (turned off by you)")
        elif self._names:
            yield (
                phrase("Secrets"),
                phrase(
                    "{known:,} known, hidden {times:,} times",
                    known=len(self._names),
                    times=self.hidden_count,
                ),
            )

    @command(
        "/secrets [on|off]",
        "Hide the values of .env files from the model, or show them.",
        is_concurrent=True,
    )
    def switch(self, argument: str) -> Card:
        if argument not in ("", "on", "off"):
            raise UserError(phrase("Usage: /secrets on or /secrets off."))
        if argument == "on":
            self._switch.unlink(missing_ok=True)
        elif argument == "off":
            self._switch.touch()
        self.refresh()
        if not self.is_on:
            return TextCard(phrase("Secrets are not hidden in this project."))
        title = phrase("Secrets are hidden in this project.")
        return TextCard(title, "\n".join(map(_token, sorted(self._values))))


def _token(name: str) -> str:
    return f"{NAME_START}{name}»"
