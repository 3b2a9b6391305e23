"""The settings of a start, for people: `/settings` shows and keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.cards import Card, TableCard, TextCard
from core.feature import Feature, command
from utils.i18n import Text, UserError, phrase

if TYPE_CHECKING:
    from modules.settings.kept import KeptSettings, Parse, Setting, StartSettings

_RESET, _TEST = "reset", "test"


class SettingsCommand(Feature):
    """Shows *settings* and keeps others for the next start; *parse* checks a value of one."""

    def __init__(self, settings: StartSettings, parse: Parse) -> None:
        self._settings = settings
        self._parse = parse

    @property
    def kept(self) -> KeptSettings:
        from modules.settings.kept import KeptSettings  # once somebody looks

        return KeptSettings(self._settings, self._parse)

    @command(
        "/settings [NAME [VALUE]]",
        "Show the settings and their sources, or save one to config.toml; /settings reset "
        "NAME restores the default, /settings test NAME tries it.",
        is_concurrent=True,
        completes="next_words",
    )
    def settings(self, argument: str) -> Card:
        kept = self.kept
        name, _, value = argument.strip().partition(" ")
        if not name:
            return _list_card(kept)
        if name == _RESET:
            return _kept_card(kept.keep(value.strip(), None))
        if name == _TEST:
            return TextCard(kept.test(value.strip()))
        setting = kept.find(name)
        if not value:
            return _setting_card(setting)
        if setting.is_secret:
            raise UserError(
                phrase(
                    "Keys in commands would stay in the history. Enter the key in the page's "
                    "settings, or in {path}.",
                    path=str(kept.path),
                )
            )
        return _kept_card(kept.keep(name, value.strip()))

    def next_words(self, words: Sequence[str]) -> Sequence[str]:
        """Return what `/settings` may take behind *words*."""
        names = {one.name: one for one in self.kept.all()}
        if not words:
            return [*names, _RESET, _TEST]
        if words == [_RESET]:
            return list(names)
        if words == [_TEST]:
            return [name for name, one in names.items() if one.is_testable]
        if len(words) == 1 and words[0] in names:
            return list(filter(None, names[words[0]].choices))
        return []


def _list_card(kept: KeptSettings) -> Card:
    rows = [(one.name, _shown(one), one.source) for one in kept.all()]
    title = phrase("Settings ({path})", path=str(kept.path))
    return TableCard(title, tuple(rows), (phrase("Setting"), phrase("Value"), phrase("Source")))


def _setting_card(setting: Setting) -> Card:
    rows: list[tuple[Text, Text]] = [
        (phrase("Value"), _shown(setting)),
        (phrase("Source"), setting.source),
        (phrase("Default"), setting.default or "–"),
        (phrase("Allowed"), setting.allowed),
    ]
    if not setting.is_secret and setting.kept not in (None, setting.value):
        rows.append((phrase("After a restart"), _or_dash(setting.kept)))
    return TableCard(
        phrase("{name}: {meaning}", name=setting.name, meaning=setting.meaning), tuple(rows)
    )


def _kept_card(setting: Setting) -> Card:
    if setting.kept is None:
        title = phrase("{name}: default restored. Takes effect after a restart.", name=setting.name)
    else:
        title = phrase(
            "{name} = {value}. Takes effect after a restart.",
            name=setting.name,
            value=_or_dash(setting.kept),
        )
    if not setting.is_overruled:
        return TextCard(title)
    return TextCard(title, phrase("{source} overrides the file.", source=setting.source))


def _shown(setting: Setting) -> Text:
    if setting.is_secret:
        return phrase("set") if setting.is_set else phrase("not set")
    return _or_dash(setting.value)


def _or_dash(text: str | None) -> str:
    return (text or "–").replace("\n", " · ")
