"""Configuration of the person in `CONFIG.md`: preferences, and rules of how deep a task goes.

The file is Markdown that people edit. Below `## Preferences` each list item is told to the model,
below `## Depth` each is a rule (`- deep: migrate *`) or switches ours off (`- off: question`).
Preferences may stand as `name: value` too, and rules as lists of words below `deepKeywords:`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from core.loop.depth import Depth
from modules.depth.line_rules import OwnRule
from modules.memory.memory_items import decode_lines, encode

_NEW_FILE = """# Config

<!-- How Onefold should work with you in this project; edit as you like. Each item below Preferences
is told to the model. Below Depth stand rules for your lines, the first that fits counts:
"deep: migrate *" (or brief, standard, social), "off: question" for a rule of ours; /depth lists
them. Comments like this one are not read. -->

## Preferences

## Depth
"""
_ITEM = re.compile(r"\s*[-*+][ \t]+(?P<text>\S.*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_QUOTES = "\"'“”"
_RULE = re.compile(r"(?P<word>\w+)\s*[:\uff1a]\s*(?P<pattern>\S.*)")
_GROUP = re.compile(r"\s*(?P<name>\w+)\s*[:\uff1a]\s*")
_NAMED_VALUE = re.compile(r"\w[\w -]*[:\uff1a]\s*\S.*")
_SECTIONS = {
    **{"preferences": "preferences", "偏好": "preferences"},
    **{"depth": "depth", "深度": "depth", "routing": "depth", "路由": "depth"},
}
DEPTH_WORDS: dict[str, Depth] = {
    **{"social": "social", "brief": "brief", "standard": "standard", "deep": "deep"},
    **{"社交": "social", "简短": "brief", "标准": "standard", "深入": "deep"},
}
_GROUPS: dict[str, Depth] = {
    **DEPTH_WORDS,
    **{"light": "brief", "detailed": "deep", "deepkeywords": "deep"},
}
"""Headings of lists of words, in small letters."""
_OFF_WORDS = ("off", "关闭")


@dataclass(frozen=True, slots=True)
class PersonConfig:
    """What the file says. *unknown* are items below Depth that are no rule."""

    preferences: tuple[str, ...] = ()
    rules: tuple[OwnRule, ...] = ()
    off: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()

    @classmethod
    def parse(cls, data: bytes) -> PersonConfig:
        """Return what *data* says; never fails, however it was edited."""
        preferences, rules, off, unknown = [], [], set(), []
        for _, section, text in _items(decode_lines(data)):
            if section == "preferences":
                preferences.append(text)
            elif section != "depth":
                continue
            elif rule := parse_rule(text):
                rules.append(rule)
            elif name := _switched_off(text):
                off.add(name)
            else:
                unknown.append(text)
        return cls(tuple(preferences), tuple(rules), frozenset(off), tuple(unknown))


def parse_rule(text: str) -> OwnRule | None:
    """Return the rule that *text* is, as in `deep: migrate *`, None where it is none."""
    found = _RULE.fullmatch(text.strip())
    depth = DEPTH_WORDS.get(found["word"].casefold()) if found else None
    if found is None or depth is None or not found["pattern"].strip("* "):
        return None
    if depth == "social" and "*" in found["pattern"]:  # anything might ask for something
        return None
    return OwnRule(depth, found["pattern"].strip())


def with_item(data: bytes, text: str) -> bytes:
    """Return *data* with the item *text* as the last one below Depth."""
    lines = decode_lines(data) or _NEW_FILE.splitlines(keepends=True)
    newline = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    if not lines[-1].endswith("\n"):
        lines[-1] += newline
    places = [number for number, section, _ in _items(lines) if section == "depth"]
    headings = [n for n, line in enumerate(lines) if _section_of(line) == "depth"]
    if places:
        lines.insert(places[-1] + 1, f"- {text}{newline}")
    elif headings:
        lines[headings[-1] + 1 : headings[-1] + 1] = [newline, f"- {text}{newline}"]
    else:
        lines += [newline, f"## Depth{newline}", newline, f"- {text}{newline}"]
    return encode("".join(lines))


def without_rule(data: bytes, rule: OwnRule) -> bytes:
    """Return *data* without the item that is *rule*."""
    return _without(data, lambda text: parse_rule(text) == rule)


def without_off(data: bytes, name: str) -> bytes:
    """Return *data* so that our rule *name* is off no more."""
    return _without(data, lambda text: _switched_off(text) == name)


def off_item(name: str) -> str:
    """Return the item that switches our rule *name* off."""
    return f"{_OFF_WORDS[0]}: {name}"


def _without(data: bytes, is_meant: Callable[[str], bool]) -> bytes:
    lines = decode_lines(data)
    gone = [n for n, section, text in _items(lines) if section == "depth" and is_meant(text)]
    return encode("".join(line for number, line in enumerate(lines) if number not in gone))


def _items(lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of the line, the section and the text of each list item."""
    readable = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), "".join(lines))
    section = group = ""
    for number, line in enumerate(readable.splitlines()):
        if line.startswith("#"):
            section, group = _section_of(line), ""
        elif found := _ITEM.fullmatch(line.rstrip()):
            text = " ".join(found["text"].split())
            yield number, section, _in_group(text, group) if section == "depth" else text
        elif section == "depth" and (found := _GROUP.fullmatch(line)):
            group = found["name"].casefold()
        elif section == "preferences" and _NAMED_VALUE.fullmatch(line.strip()):
            yield number, section, " ".join(line.split())


def _in_group(text: str, group: str) -> str:
    """Return the rule of the words *text* in the list of *group*; a whole rule stays as it is."""
    if group not in _GROUPS or parse_rule(text) or _switched_off(text):
        return text
    return f"{_GROUPS[group]}: {text.strip(_QUOTES)}"


def _section_of(line: str) -> str:
    """Return the section that the heading *line* begins, "" for another one or none."""
    return _SECTIONS.get(line.strip("# \t\r\n").casefold(), "") if line.startswith("#") else ""


def _switched_off(text: str) -> str:
    """Return the name of our rule that the item *text* switches off, "" for none."""
    found = _RULE.fullmatch(text)
    return found["pattern"].strip() if found and found["word"].casefold() in _OFF_WORDS else ""
