"""The settings of a start beside what `config.toml` keeps for the next one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

from modules.settings.config_file import TomlValue, keep_setting, read_settings
from modules.settings.live import Effect, LiveSettings
from modules.settings.meanings import GROUPS, TESTED
from utils.i18n import Phrase, Text, UserError, phrase
from utils.llm.provider import DEFAULT_PROVIDER, Provider
from utils.llm.served_model import is_same_server, without_login
from utils.text.nearest import with_suggestion

Parse = Callable[[str, Any, Text], Any]
_DEFAULT = phrase("default")
_SHORTCUTS = "shortcuts"


class StartSettings(Protocol):
    """The settings of a start: a dataclass whose fields say how each is parsed."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def data_dir(self) -> Path: ...
    @property
    def sources(self) -> Mapping[str, Text]: ...
    @property
    def all_providers(self) -> list[Provider]: ...


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting, its values as one text each; no secret is told, nor a login in an address.

    *value* holds now, *kept* is what the file says, None where it says nothing; *effect* is whom
    it reaches when it is saved, unless *source* beats the file. *choices* are all values there are,
    empty where there are more.
    """

    name: str
    group: Phrase
    meaning: Phrase
    value: str
    default: str
    kept: str | None
    source: Text
    allowed: Text
    effect: Effect = "restart"
    choices: Sequence[str] = ()
    is_secret: bool = False
    is_set: bool = False
    is_overruled: bool = False
    is_table: bool = False
    is_testable: bool = False
    has_lines: bool = False


class KeptSettings:
    """Shows the settings of *live*, and keeps others in their `config.toml`; *parse* checks one."""

    def __init__(self, live: LiveSettings[StartSettings], parse: Parse) -> None:
        self._live = live
        self._parse = parse
        self.path = live.now.data_dir / "config.toml"

    @property
    def _settings(self) -> StartSettings:
        return self._live.now

    @property
    def _declared(self) -> Mapping[str, Field[Any]]:
        return {one.name: one for one in fields(self._settings)}

    def all(self) -> Sequence[Setting]:
        """Return every setting, by group. Raises `UserError` where the file cannot be read."""
        kept = read_settings(self.path)
        return [
            self._setting(self._declared[name], group, meaning, kept)
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
        """Keep *value* of the setting *name*, None for its default; return it.

        It takes effect where it can. Raises `UserError` for what it cannot be.
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
        parsed = None if value is None else self._parse(name, value, str(self.path))
        to_toml = self._declared[name].metadata.get("to_toml", _to_toml)
        keep_setting(self.path, name, None if parsed is None else to_toml(parsed))
        self._live.renew(name)
        return self.find(name)

    def keep_shortcut(self, action: str, keys: str) -> Setting:
        """Keep *keys* for *action*, a name in the table of shortcuts.

        Raises `UserError` for what it cannot be.
        """
        kept = read_settings(self.path).get(_SHORTCUTS, {})
        before = self._parse(_SHORTCUTS, kept, str(self.path))
        parsed = self._parse(_SHORTCUTS, {**before, action: keys}, str(self.path))
        screen, _, name = action.partition(".")
        keep_setting(self.path, name, parsed.get(action), _SHORTCUTS, screen)
        self._live.renew(_SHORTCUTS)
        return self.find(_SHORTCUTS)

    def use_server(self, name: str, base_url: str, model: str) -> None:
        """Use *model* of the server at *base_url*, of the program *name*, from now on.

        It is kept as a provider of its own, without a key: that of the usual server is for that one
        alone. Raises `UserError` for what it cannot be.
        """
        kept = read_settings(self.path).get("providers", {})
        known = self._parse("providers", kept, str(self.path))
        provider = next(
            (one for one, table in known.items() if is_same_server(table["base_url"], base_url)), ""
        )
        if not provider:
            taken = {one.name for one in self._settings.all_providers}
            provider, table = (
                _free_name(name, {DEFAULT_PROVIDER, *taken, *known}),
                {"base_url": base_url},
            )
            self._parse("providers", {provider: table}, str(self.path))
            keep_setting(self.path, provider, table, "providers")
        self.keep("model", f"{provider}/{model}")
        self._live.renew("providers")  # behind the model: what begins there begins with it

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
            default="" if is_table or declared.default is MISSING else shown(declared.default),
            kept=shown(self._parse(name, kept[name], path)) if name in kept else None,
            source=source,
            allowed=kind["allowed"],
            effect=self._live.effect_of(name),
            choices=kind.get("choices", ()),
            is_secret=is_secret,
            is_set=bool(value),
            is_overruled=source not in (path, _DEFAULT),
            is_table=is_table,
            is_testable=name in TESTED,
            has_lines=separator == "\n",
        )


def _free_name(program: str, taken: Collection[str]) -> str:
    """Return a name for the provider that *program* is, which no other of *taken* has."""
    name = re.sub(r"[^a-z0-9.]+", "-", program.lower()).strip("-.") or "local"
    names = itertools.chain((name,), (f"{name}-{number}" for number in itertools.count(2)))
    return next(one for one in names if one not in taken)


def _text(value: Any, separator: str) -> str:
    """Return *value* as one text that the parser of its setting reads as the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return separator.join(map(str, value))
    if isinstance(value, Mapping):
        return separator.join(f"{name} = {one}" for name, one in value.items())
    return str(value)


def _to_toml(value: Any) -> TomlValue:
    if isinstance(value, tuple):
        return [str(one) for one in value]
    return value if isinstance(value, bool | int | float) else str(value)
