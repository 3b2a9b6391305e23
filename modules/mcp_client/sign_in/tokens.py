"""Tokens of MCP servers that the person signed in to, a file for each address."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile
from utils.text.strict_json import read_json

_FORMAT = 1
_SECRETS = {"access_token": "MCP_TOKEN", "refresh_token": "MCP_RENEWAL_TOKEN"}
"""Names that stand for tokens where a server repeats them, by what the file calls them."""

Hide = Callable[[str, str], None]
"""Has a secret, given by name and value, hidden from now on in all that is seen and kept."""


class TokenFile:
    """The tokens for the server at the address *url*, in *folder*; its owner alone reads them.

    Each is told to *hide* before it is sent to anybody: a server could repeat it.
    """

    def __init__(self, folder: Path, url: str, hide: Hide) -> None:
        self._url = url
        self._hide = hide
        self._path = folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"
        self._file = SharedFile(self._path)

    @property
    def exists(self) -> bool:
        return self._path.exists()

    def read(self) -> dict[str, Any]:
        """Return what is kept; nothing where the file is gone or broken. Raises `UserError`."""
        try:
            found = read_json(self._file.read() or b"null")
        except ValueError:
            return {}
        values: dict[str, Any] = found if isinstance(found, dict) else {}
        if (values.get("format"), values.get("url")) != (_FORMAT, self._url):
            return {}
        self.hide(values.get("tokens"))
        return values

    def hide(self, tokens: object) -> None:
        """Have *tokens* hidden, values as the file keeps them."""
        for key, value in tokens.items() if isinstance(tokens, dict) else ():
            if key in _SECRETS and isinstance(value, str):
                self._hide(_SECRETS[key], value)

    def write(self, values: Mapping[str, Any]) -> None:
        """Keep *values* in the place of all that was kept. Raises `UserError`."""
        data = json.dumps({**values, "format": _FORMAT, "url": self._url}).encode()
        self._file.change(lambda _: data)

    def remove(self) -> bool:
        """Keep nothing any more; return whether there was anything. Raises `UserError`."""
        try:
            self._path.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            why = error.strerror or str(error)
            raise UserError(
                phrase("Cannot remove {path}: {why}.", path=str(self._path), why=why)
            ) from None
        return True
