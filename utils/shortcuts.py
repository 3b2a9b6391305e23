"""The keyboard shortcuts of both screens: what each does, its usual keys, and what others may be.

A table of them has names such as `page.palette` and keys such as `Ctrl+P`; in the terminal several
keys for one action stand behind commas, and a key of two strokes has a space in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from utils.frozen import frozen
from utils.i18n import BadUsage, Phrase, phrase
from utils.text.nearest import nearest_name


@frozen
class Shortcut:
    """Its usual keys, and what it does; *is_single*: it must be Ctrl and a letter, or Esc."""

    keys: str
    meaning: Phrase
    is_single: bool = False


TERMINAL = {
    "newline": Shortcut("Alt-Enter, Ctrl-J", phrase("New line")),
    "complete": Shortcut("Tab", phrase("Complete a /command, its arguments, or an @path")),
    "next_mode": Shortcut("Shift-Tab", phrase("Go to the next approval mode: /approve")),
    "search_history": Shortcut("Ctrl-R", phrase("Search the earlier messages")),
    "stop": Shortcut("Esc", phrase("Stop the task"), is_single=True),
    "quit": Shortcut("Ctrl-D", phrase("Quit")),
    "clear_screen": Shortcut("Ctrl-L", phrase("Clear the screen")),
    "show_output": Shortcut(
        "Ctrl-O", phrase("Show truncated output; again: earlier output"), is_single=True
    ),
    "open_editor": Shortcut("Ctrl-X Ctrl-E", phrase("Edit in your editor ($VISUAL or $EDITOR)")),
    "undo": Shortcut("Ctrl-X U", phrase("Undo the changes of the last turn")),
    "diff": Shortcut("Ctrl-X D", phrase("Show the changes of this session")),
    "resume": Shortcut("Ctrl-X L", phrase("Choose a session to resume")),
    "model": Shortcut("Alt-P, Ctrl-X M", phrase("Choose the model")),
    "cost": Shortcut("Ctrl-X S", phrase("Show the tokens and the cost")),
}
COMMAND_KEYS = ("undo", "diff", "resume", "model", "cost")
"""The shortcuts of the terminal that send the command they are called after, in an empty line."""
PAGE = {
    "palette": Shortcut("Ctrl+K", phrase("Find anything: actions, files, sessions, settings")),
    "open_file": Shortcut("Ctrl+P", phrase("Open a file")),
    "sessions": Shortcut("Ctrl+Shift+F", phrase("Sessions")),
    "sidebar": Shortcut("Ctrl+B", phrase("Sessions and files")),
    "pane": Shortcut("Ctrl+J", phrase("Changes and files")),
    "compose": Shortcut("Ctrl+L", phrase("Go to the message box")),
    "send": Shortcut("Enter", phrase("Send; while a turn runs: queue")),
    "newline": Shortcut("Shift+Enter", phrase("New line")),
    "send_now": Shortcut("Ctrl+Enter", phrase("Stop and send now")),
    "save": Shortcut("Ctrl+S", phrase("Save the file")),
    "settings": Shortcut("Ctrl+,", phrase("Settings")),
    "previous_message": Shortcut("Alt+↑", phrase("Previous message")),
    "next_message": Shortcut("Alt+↓", phrase("Next message")),
    "new_session": Shortcut("Alt+N", phrase("New session")),
    "plan": Shortcut("Alt+P", phrase("Plan mode: on or off")),
    "quote": Shortcut("Alt+Q", phrase("Quote the selected text")),
    "add_note": Shortcut("Alt+M", phrase("Add a note on the selected text")),
    "rename": Shortcut("F2", phrase("Rename the session")),
    "next_part": Shortcut("F6", phrase("Go to the next part of the page")),
    "previous_part": Shortcut("Shift+F6", phrase("Go to the previous part of the page")),
    "terminal": Shortcut("Ctrl+`", phrase("Terminal: open, enter or leave")),
}
ALL = {
    **{f"terminal.{name}": one for name, one in TERMINAL.items()},
    **{f"page.{name}": one for name, one in PAGE.items()},
}
_DEFAULT = "default"
"""What stands for the usual keys of an action."""
_TYPING = ("send", "newline", "send_now")
"""What Enter does in the message box of the page, alone or with other keys."""
_TERMINAL_KEY = r"Ctrl-[A-Z\]\\^_]|Alt-(?:[A-Z0-9]|Enter)|F(?:[1-9]|1[0-2])|(?:Shift-)?Tab"
_TERMINAL_OWN = ("Ctrl-C", "Ctrl-H", "Ctrl-I", "Ctrl-M", "Ctrl-Q", "Ctrl-S", "Ctrl-Z")
"""What a terminal sends for other keys as well, or keeps for itself."""
_PAGE_KEY = (
    r"(?:Ctrl\+|Alt\+){1,2}(?:Shift\+)?(?:[A-Z0-9,↑↓`]|F\d\d?|[A-Z][A-Za-z]+)|(?:Shift\+)?F\d\d?"
)
_PAGE_OWN = r"Ctrl\+(?:[ACMVXZ]|(?:Shift\+)?[NTW])"
"""What edits text on the page, or what a browser does not let it have."""
_MODIFIERS = {"ctrl": "Ctrl", "control": "Ctrl", "alt": "Alt", "shift": "Shift"}
_OTHER_NAMES = {"escape": "Esc", "up": "↑", "down": "↓", "return": "Enter"}


def parse_shortcuts(value: object) -> dict[str, str]:
    """Return the changed shortcuts of a table, or of lines such as `page.palette = Ctrl+P`.

    Raises `BadUsage` for an unknown name, a key that cannot be one, and one that is used twice;
    `ValueError` for what is no such table.
    """
    changed = {name: _parsed(name, keys) for name, keys in _entries(value).items()}
    for screen, shortcuts in (("terminal", TERMINAL), ("page", PAGE)):
        _refuse_twice(
            {
                f"{screen}.{name}": changed.get(f"{screen}.{name}", one.keys).split(", ")
                for name, one in shortcuts.items()
            }
        )
    return {name: keys for name, keys in changed.items() if keys != ALL[name].keys}


def as_tables(table: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return *table* as `config.toml` has it: a table for each screen."""
    tables: dict[str, dict[str, str]] = {}
    for name, keys in table.items():
        screen, _, action = name.partition(".")
        tables.setdefault(screen, {})[action] = keys
    return tables


def keys_of_page(changed: Mapping[str, str]) -> dict[str, str]:
    """Return the key of each action of the page, with what was *changed*."""
    return {name: changed.get(f"page.{name}", one.keys) for name, one in PAGE.items()}


def terminal_keys(action: str, changed: Mapping[str, str]) -> list[str]:
    """Return the keys of *action* in the terminal, with what was *changed*."""
    return changed.get(f"terminal.{action}", TERMINAL[action].keys).split(", ")


def _entries(value: object) -> dict[str, str]:
    if isinstance(value, str):
        lines = [line.partition("=") for line in value.splitlines() if line.strip()]
        return {name.strip(): keys.strip().strip("\"'") for name, _, keys in lines}
    if not isinstance(value, Mapping):
        raise ValueError  # noqa: TRY004 - as every kind of setting
    entries: dict[str, str] = {}
    for name, inner in value.items():
        inside = inner if isinstance(inner, Mapping) else {"": inner}
        for action, keys in inside.items():
            if not isinstance(keys, str):
                raise ValueError  # noqa: TRY004
            entries[f"{name}.{action}".rstrip(".")] = keys.strip()
    return entries


def _parsed(name: str, keys: str) -> str:
    """Return *keys* of the action *name* as they are written. Raises `BadUsage`."""
    if name not in ALL:
        raise BadUsage(
            phrase(
                "Unknown shortcut {name} (setting shortcuts). Did you mean {near}?",
                name=name,
                near=nearest_name(name, list(ALL), cutoff=0.0) or "",
            )
        )
    if keys == _DEFAULT:
        return ALL[name].keys
    screen, _, action = name.partition(".")
    if screen == "page":
        return _one(name, keys, "+", lambda key: _is_page_key(action, key))
    parts = [_one_terminal_key(name, one) for one in keys.split(", ")]
    if ALL[name].is_single and not (len(parts) == 1 and _is_single(action, parts[0])):
        raise _bad_key(name, keys)
    return ", ".join(parts)


def _one_terminal_key(name: str, key: str) -> str:
    if name == "terminal.stop" and key.lower() in ("esc", "escape"):
        return "Esc"
    first, *others = key.split() or [""]
    if len(others) > 1:
        raise _bad_key(name, key)
    strokes = [_one(name, first, "-", _is_terminal_key)]
    strokes += [_one(name, other, "-", _is_second_stroke) for other in others]
    return " ".join(strokes)


def _one(name: str, key: str, joint: str, is_key: Callable[[str], object]) -> str:
    """Return *key* as it is written, its parts joined by *joint*. Raises `BadUsage`."""
    *before, last = re.split(r"[+-](?=.)", key.strip())
    modifiers = [_MODIFIERS.get(one.lower(), one) for one in before]
    last = _OTHER_NAMES.get(last.lower(), last.upper() if len(last) == 1 else last.capitalize())
    order = [one for one in ("Ctrl", "Alt", "Shift") if one in modifiers]
    written = joint.join([*order, last])
    if len(order) != len(modifiers) or not is_key(written):
        raise _bad_key(name, key)
    return written


def _is_terminal_key(key: str) -> bool:
    return bool(re.fullmatch(_TERMINAL_KEY, key)) and key not in _TERMINAL_OWN


def _is_second_stroke(key: str) -> bool:
    return _is_terminal_key(key) or bool(re.fullmatch("[A-Z0-9]", key))


def _is_single(action: str, key: str) -> bool:
    return bool(re.fullmatch(r"Ctrl-[A-Z]", key)) or (action == "stop" and key == "Esc")


def _is_page_key(action: str, key: str) -> bool:
    if action in _TYPING:
        return bool(re.fullmatch(r"(?:\w+\+)*Enter", key))
    return bool(re.fullmatch(_PAGE_KEY, key)) and not re.fullmatch(_PAGE_OWN, key)


def _bad_key(name: str, key: str) -> BadUsage:
    allowed = phrase("a key with Ctrl or Alt, or F1 to F12")
    if re.fullmatch(_PAGE_OWN, key, re.IGNORECASE):
        allowed = phrase("a key that neither the browser nor editing needs, such as Ctrl+Y")
    if name.startswith("page.") and name.partition(".")[2] in _TYPING:
        allowed = phrase("Enter, alone or with Ctrl, Alt or Shift")
    elif ALL[name].is_single:
        allowed = phrase("Ctrl and a letter that the terminal does not need itself")
    return BadUsage(
        phrase(
            "{key} cannot be the shortcut {name}. Allowed: {allowed}.",
            key=key or "“”",
            name=name,
            allowed=allowed,
        )
    )


def _refuse_twice(used: Mapping[str, list[str]]) -> None:
    """Raise `BadUsage` where a key is used twice, or begins another of two strokes."""
    owners: dict[str, str] = {}
    for name, keys in used.items():
        for key in keys:
            owners.setdefault(key, name)
            if owners[key] != name:
                raise _twice(key, owners[key], name)
    for key, name in owners.items():
        first = key.partition(" ")[0]
        if first != key and first in owners:
            raise _twice(first, owners[first], name)


def _twice(key: str, one: str, other: str) -> BadUsage:
    return BadUsage(
        phrase(
            "{key} is used for both {one} and {other} (setting shortcuts). Change one of them.",
            key=key,
            one=one,
            other=other,
        )
    )
