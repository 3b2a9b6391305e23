"""What `config.toml` says, and changes of it, one setting at a time; comments and order stay."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

TomlValue = str | int | float | bool | list[str] | Mapping[str, str | Mapping[str, str]]


def read_settings(config: Path) -> dict[str, Any]:
    """Return what the settings file *config* says. Raises `UserError` where it cannot be read."""
    return _parsed(config, SharedFile(config).read()).unwrap()


def keep_setting(config: Path, name: str, value: TomlValue | None, *tables: str) -> None:
    """Have the settings file *config* say *value* of *name*, or nothing for None; mode 0600.

    With *tables* it is a name in the last of them, each of which is in the one before it; those
    that are not there are made.

    All else in the file stays as it is. Raises `UserError` where it cannot be read or written.
    """

    def edit(before: bytes) -> bytes:
        document = _parsed(config, before)
        place: Any = document
        for table in tables:
            place = place.get(table, {}) if value is None else place.setdefault(table, {})
        if value is None:
            place.pop(name, None)
        else:
            place[name] = value
        return document.as_string().encode()

    with suppress(OSError):  # nobody else's eyes from the first moment on
        config.chmod(0o600)
    SharedFile(config).change(edit)
    with suppress(FileNotFoundError):  # nothing was kept, and nothing was to be taken out
        config.chmod(0o600)


def _parsed(config: Path, data: bytes) -> TOMLDocument:
    import tomlkit  # once somebody looks
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(data.decode("utf-8-sig"))
    except (TOMLKitError, ValueError) as error:
        raise UserError(
            phrase(
                "Cannot read {path}: {why}. Fix or remove the file.",
                path=str(config),
                why=str(error),
            )
        ) from None
