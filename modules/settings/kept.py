"""The settings of a start beside what `config.toml` keeps for the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

from modules.settings.config_file import TomlValue, keep_setting, read_settings
from modules.settings.meanings import GROUPS, TESTED
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.served_model import without_login
from utils.text.nearest import with_suggestion

Parse = Callable[[str, Any, Text], Any]
_DEFAULT = phrase("default")


class StartSettings(Protocol):
    """The settings of a start: a dataclass whose fields say how each is parsed."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def data_dir(self) -> Path: ...
    @property
    def sources(self) -> Mapping[str, Text]: ...


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting, its values as one text each; no secret is told, nor a login in an address.

    *value* holds now, *kept* from the next start on, unless *source* beats the file; `None` is what
    the file says nothing of. *choices* are all values there are, empty where there are more.
    """

    name: str
    group: Phrase
    meaning: Phrase
    value: str
    default: str
    kept: str | None
    source: Text
    allowed: Text
    choices: Sequence[str] = ()
    is_secret: bool = False
    is_set: bool = False
    is_overruled: bool = False
    is_table: bool = False
    is_testable: bool = False
    has_lines: bool = False


class KeptSettings:
    """Shows *settings*, and keeps others in their `config.toml`; *parse* checks a value of one."""

    def __init__(self, settings: StartSettings, parse: Parse) -> None:
        self._settings = settings
        self._parse = parse
        self.path = settings.data_dir / "config.toml"

    def all(self) -> Sequence[Setting]:
        """Return every setting, by group. Raises `UserError` where the file cannot be read."""
        kept = read_settings(self.path)
        found = {one.name: one for one in fields(self._settings)}
        return [
            self._setting(found[name], group, meaning, kept)
            for group, meanings in GROUPS
            for name, meaning in meanings
        ]

    def find(self, name: str) -> Setting:
        """Return the setting called *name*. Raises `UserError` where there is none."""
        known = {setting.name: setting for setting in self.all()}
        if name not in known:
            unknown = phrase("Unknown setting {name}. /settings lists all settings.", name=name)
            raise UserError(with_suggestion(unknown, name, list(known)))
        return known[name]

    def keep(self, name: str, value: str | Sequence[str] | None) -> Setting:
        """Keep *value* of the setting *name* for the next start, None for its default; return it.

        Raises `UserError` for what it cannot be.
        """
        setting = self.find(name)
        if setting.is_table:
            raise UserError(
                phrase(
                    "{name} is a table: edit it in {path}; see docs/settings.md.",
                    name=name,
                    path=str(self.path),
                )
            )
        parsed = None if value is None else _to_toml(self._parse(name, value, str(self.path)))
        keep_setting(self.path, name, parsed)
        return self.find(name)

    def test(self, name: str) -> Text:
        """Return in words that the setting *name* works, as the next start would have it.

        Raises `UserError` where it does not, or where there is nothing to test.
        """
        from modules.settings.setting_tests import test_setting  # once somebody tests

        self.find(name)
        kept = read_settings(self.path)
        holding = {one.name for one in self.all() if not one.is_overruled}
        known = {one.name for one in fields(self._settings)}
        changes = {
            each: self._parse(each, value, str(self.path))
            for each, value in kept.items()
            if each in known & holding
        }
        return test_setting(self._settings, changes, name)

    def _setting(
        self, declared: Field[Any], group: Phrase, meaning: Phrase, kept: Mapping[str, Any]
    ) -> Setting:
        name, kind = declared.name, declared.metadata
        is_secret, is_table = kind.get("is_secret", False), kind.get("is_table", False)
        value, separator = getattr(self._settings, name), kind.get("separator", "")
        source, path = self._settings.sources.get(name, _DEFAULT), str(self.path)

        def shown(one: Any) -> str:
            if is_table:
                return ", ".join(one) if isinstance(one, Mapping) else ""
            text = _text(one, separator)
            return "" if is_secret else without_login(text) if name.endswith("_url") else text

        return Setting(
            name=name,
            group=group,
            meaning=meaning,
            value=shown(value),
            default="" if is_table else shown(declared.default),
            kept=shown(self._parse(name, kept[name], path)) if name in kept else None,
            source=source,
            allowed=kind["allowed"],
            choices=kind.get("choices", ()),
            is_secret=is_secret,
            is_set=bool(value),
            is_overruled=source not in (path, _DEFAULT),
            is_table=is_table,
            is_testable=name in TESTED,
            has_lines=separator == "\n",
        )


def _text(value: Any, separator: str) -> str:
    """Return *value* as one text that the parser of its setting reads as the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return separator.join(map(str, value))
    return str(value)


def _to_toml(value: Any) -> TomlValue:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, bool | int | float) else str(value)
