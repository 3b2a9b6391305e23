"""Changes of `config.toml`, one setting at a time; comments and order stay."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from utils.i18n import UserError, phrase
from utils.system.shared_file import SharedFile

TomlValue = str | int | float | bool | list[str]


def keep_setting(config: Path, name: str, value: TomlValue | None) -> None:
    """Have the settings file *config* say *value* of *name*, or nothing for None; mode 0600.

    All else in the file stays as it is. Raises `UserError` where it cannot be read or written.
    """
    import tomlkit  # once something is kept
    from tomlkit.exceptions import TOMLKitError

    def edit(before: bytes) -> bytes:
        try:
            document = tomlkit.parse(before.decode("utf-8-sig"))
        except (TOMLKitError, ValueError) as error:
            raise UserError(
                phrase(
                    "{path} cannot be read: {why}. Mend or remove it.",
                    path=str(config),
                    why=str(error),
                )
            ) from None
        if value is None:
            document.pop(name, None)
        else:
            document[name] = value
        return tomlkit.dumps(document).encode()

    with suppress(OSError):  # nobody else's eyes from the first moment on
        config.chmod(0o600)
    SharedFile(config).change(edit)
    with suppress(FileNotFoundError):  # nothing was kept, and nothing was to be taken out
        config.chmod(0o600)
