"""The settings, for people: `/settings` shows and keeps them, `/theme` chooses the colors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from core.cards import Card, TableCard, TextCard
from core.events import CommandAnswered
from core.feature import Feature, command
from modules.settings.live import Effect, LiveSettings
from utils.i18n import Phrase, Text, UserError, phrase

if TYPE_CHECKING:
    from modules.settings.kept import KeptSettings, Parse, Setting

_RESET, _TEST = "reset", "test"
THEME = "theme"
_NOTIFY, _SHORTCUTS = "notify", "shortcuts"
_EFFECTS: dict[Effect, Phrase] = {
    "now": phrase("In effect now."),
    "new sessions": phrase("Takes effect in new sessions."),
    "restart": phrase("Takes effect after a restart."),
}


class SettingsCommand(Feature):
    """Shows the settings of *live* and keeps others; *parse* checks a value of one."""

    def __init__(self, live: LiveSettings[Any], parse: Parse) -> None:
        self.live = live
        self._parse = parse
        self.try_notify: Callable[[], Text] | None = None
        """Notifies the person in the terminal of this session, and says how; None without one."""

    @property
    def kept(self) -> KeptSettings:
        from modules.settings.kept import KeptSettings  # once somebody looks

        return KeptSettings(self.live, self._parse)

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
            return TextCard(self._tested(kept, value.strip()))
        setting = kept.find(name)
        if name == _SHORTCUTS:
            return self._shortcuts(kept, value.strip())
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

    @command(
        "/theme [auto|light|dark|contrast]",
        "Show or change the colors: the terminal's own, light, dark or high contrast.",
        is_concurrent=True,
        shows_alone=True,
    )
    def theme(self, argument: str) -> Card | CommandAnswered:
        if not argument:
            return _setting_card(self.kept.find(THEME))
        card = _kept_card(self.kept.keep(THEME, argument.strip()))
        return CommandAnswered("/theme", card, effect="theme")

    def _shortcuts(self, kept: KeptSettings, argument: str) -> Card:
        """Show all shortcuts, or one of them, or keep another key of one."""
        from utils.shortcuts import ALL  # once somebody looks

        action, _, keys = argument.replace(" = ", " ", 1).partition(" ")
        if action and keys:
            setting = kept.keep_shortcut(action, keys.strip())
            title = phrase("{name} = {value}", name=action, value=_keys_now(setting, action))
            return _kept_card(setting, title)
        changed = self.live.now.shortcuts
        rows = [
            (name, changed.get(name, one.keys), one.meaning)
            for name, one in ALL.items()
            if action in ("", name)
        ]
        if not rows:
            self._parse(_SHORTCUTS, {action: ""}, "")  # says what is wrong with it
        title = phrase("Keyboard shortcuts: /settings shortcuts NAME KEY changes one")
        return TableCard(title, tuple(rows), (phrase("Name"), phrase("Key"), phrase("Action")))

    def _tested(self, kept: KeptSettings, name: str) -> Text:
        return self.try_notify() if name == _NOTIFY and self.try_notify else kept.test(name)

    def next_words(self, words: Sequence[str]) -> Sequence[str]:
        """Return what `/settings` may take behind *words*."""
        names = {one.name: one for one in self.kept.all()}
        if not words:
            return [*names, _RESET, _TEST]
        if words == [_RESET]:
            return list(names)
        if words == [_TEST]:
            return [name for name, one in names.items() if one.is_testable]
        if words == [_SHORTCUTS]:
            from utils.shortcuts import ALL  # once somebody looks

            return list(ALL)
        if words[0] == _SHORTCUTS:
            return ["default"]
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
        (phrase("Allowed values"), setting.allowed),
    ]
    if not setting.is_secret and setting.kept not in (None, setting.value):
        rows.append((phrase("After a restart"), _or_dash(setting.kept)))
    return TableCard(
        phrase("{name}: {meaning}", name=setting.name, meaning=setting.meaning), tuple(rows)
    )


def _keys_now(setting: Setting, action: str) -> str:
    """Return the keys of the shortcut *action*, of which the file may say something."""
    from utils.shortcuts import ALL

    entries = dict(line.split(" = ", 1) for line in (setting.kept or "").splitlines())
    return entries.get(action, ALL[action].keys)


def _kept_card(setting: Setting, title: Phrase | None = None) -> Card:
    title = title or _kept_title(setting)
    if setting.is_overruled:
        return TextCard(title, phrase("{source} overrides the file.", source=setting.source))
    return TextCard(title, _EFFECTS[setting.effect])


def _kept_title(setting: Setting) -> Phrase:
    if setting.kept is None:
        return phrase("{name}: default restored.", name=setting.name)
    return phrase("{name} = {value}", name=setting.name, value=_or_dash(setting.kept))


def _shown(setting: Setting) -> Text:
    if setting.is_secret:
        return phrase("set") if setting.is_set else phrase("not set")
    return _or_dash(setting.value)


def _or_dash(text: str | None) -> str:
    return (text or "–").replace("\n", " · ")
