"""Definitions in a text, by patterns of its language: names, kinds and lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, cast

from modules.symbols.languages import Language

Kind = Literal["function", "type", "heading"]


class Definition(NamedTuple):
    """What is defined in *line*, from 1; a *name* in Python has the names around it: `A.method`."""

    name: str
    kind: Kind
    line: int


class _Found(NamedTuple):
    """A match of a pattern: *group* says of what, *indentation* is in characters."""

    name: str
    group: str
    line: int
    indentation: int


def definitions_in(text: str, language: Language) -> list[Definition]:
    """Return the definitions in *text*, in their order; comments and strings hold none."""
    text = text.replace("\r\n", "\n")
    code = language.blank.sub(_blanked, text) if language.blank else text
    found = _found(code, language.symbols)
    if language.nests:
        found = _nested(found)
    return [Definition(each.name, _kind(each.group), each.line) for each in found]


def _blanked(match: re.Match[str]) -> str:
    """Return the lines of *match* with nothing in them but one mark, which is no white space."""
    return "'" + "\n" * match[0].count("\n")


def _found(code: str, symbols: re.Pattern[str]) -> Iterator[_Found]:
    line, counted = 1, 0
    for match in symbols.finditer(code):
        group = match.lastgroup
        if group is None:
            continue
        start = match.start(group)
        line += code.count("\n", counted, start)
        counted = start
        indentation = len(match[0]) - len(match[0].lstrip(" \t\f"))
        yield _Found(match[group], group, line, indentation)


def _nested(found: Iterable[_Found]) -> Iterator[_Found]:
    """Yield the definitions of *found* by their names with those around them."""
    around: list[_Found] = []
    for each in found:
        while around and around[-1].indentation >= each.indentation:
            around.pop()
        if each.group != "block":
            around.append(each)
            yield each._replace(name=".".join(outer.name for outer in around))


def _kind(group: str) -> Kind:
    return cast("Kind", group.partition("_")[0])
