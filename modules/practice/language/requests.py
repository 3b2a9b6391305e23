"""Understanding a message: which requests it holds, in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from modules.practice.language import chinese, english
from modules.practice.language.grammar import Kind, Rule, compiled
from modules.practice.language.quoting import Quoted, set_aside
from modules.practice.language.sense import is_file_like, makes_sense
from modules.practice.voice import Language

LONGEST = 20_000
"""Characters of a message outside its quotes that are looked at."""
_MOST_PIECES = 40
_STOPS = r"[\s.!?…。！？]{0,9}"
_STRONG = re.compile(r"then|after|next|finally|然后|接着|之后|最后|随后", re.IGNORECASE)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_VERBS: dict[Kind, str] = {
    "show": "show ",
    "make": "make ",
    "delete": "delete ",
    "focus": "focus on ",
}
"""What "and FILE" borrows from the request before it."""
_GRAMMARS = {"en": english, "zh": chinese}


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to do. *parts* are what the rule found, each as it is meant, none of them empty.

    The *path* or *new* of a request that says “it” with nothing to mean is "".
    *is_open* tells that it ends in content that is not in quotes.
    """

    kind: Kind
    language: Language
    parts: Mapping[str, str]
    is_open: bool = False

    @property
    def about(self) -> str:
        """The path that “it” means afterwards."""
        return self.parts.get("new") or self.parts.get("path", "")


def language_of(text: str) -> Language:
    return "zh" if _CHINESE.search(text[:LONGEST]) else "en"


def understand(text: str, it: str = "") -> list[Request]:
    """Return the requests in *text*, or none if it is not understood; *it* is what “it” means."""
    quoted = set_aside(text)
    if len(quoted.text) > LONGEST:
        return []
    requests: list[Request] = []
    for piece in _pieces(quoted, it):
        request = _read(quoted, piece, it)
        if request is None:
            return []
        requests.append(request)
        it = request.about or it
    return requests


def _pieces(quoted: Quoted, it: str) -> Iterator[str]:
    """Yield the parts of the text that are requests of their own.

    A word such as "and" parts two requests only if what follows it is understood, be it with the
    verb of what stands before; otherwise it belongs to that.
    """
    text = quoted.text
    start, verb = 0, ""
    joints = [found.span() for found in _joints().finditer(text)][:_MOST_PIECES]
    ends = [*(begin for begin, _ in joints[1:]), len(text)][: len(joints)]
    for (begin, after), end in zip(joints, ends, strict=True):
        last = _read(quoted, verb + text[start:begin], it)
        if last is None:
            continue
        for new_verb in ("", _VERBS.get(last.kind, "")):
            request = _read(quoted, new_verb + text[after:end], last.about or it)
            if request and _may_follow(last, request, text[begin:after], new_verb):
                yield verb + text[start:begin]
                start, verb, it = after, new_verb, last.about or it
                break
    yield verb + text[start:]


def _may_follow(last: Request, request: Request, joint: str, verb: str) -> bool:
    """Return whether *request*, after *last* and the words *joint*, is one of its own.

    *verb* is what it had to borrow.
    """
    if last.kind in ("plan", "remember", "run command"):
        return False
    # What follows "and" may well be content of what stands before, unless it names a file.
    is_weak = bool(verb) or (last.is_open and not _STRONG.search(joint))
    return not is_weak or is_file_like(request.parts.get("path", ""))


def _read(quoted: Quoted, piece: str, it: str) -> Request | None:
    """Return the request that *piece* is, by the first rule that fits."""
    piece = piece.strip()
    first = language_of(piece)
    for language in (first, "zh" if first == "en" else "en"):
        grammar = _GRAMMARS[language]
        for rule in grammar.RULES:
            for text in _forms(piece, language, is_exact=rule.is_exact):
                found = compiled(rule.pattern, language).fullmatch(text)
                if found and (request := _request(rule, language, found, quoted, it)):
                    return request
    return None


def _forms(piece: str, language: Language, *, is_exact: bool) -> Iterator[str]:
    """Yield *piece* as it is, then without words of courtesy; what is exact keeps its end."""
    grammar = _GRAMMARS[language]
    polite = compiled(grammar.POLITE, language).match(piece)
    for form in (piece, piece[polite.end() :]) if polite else (piece,):
        yield form if is_exact else _without_end(form, language)


def _without_end(text: str, language: Language) -> str:
    """Return *text* without the stops and thanks at its end; thanks alone are left."""
    tail = max(0, len(text) - 40)
    for end in (_GRAMMARS[language].SUFFIX, _STOPS):
        found = compiled(f"(?:{end})$", language).search(text, tail)
        if found and found.start():
            return text[: found.start()]
    return text


def _request(
    rule: Rule, language: Language, found: re.Match[str], quoted: Quoted, it: str
) -> Request | None:
    """Return the request that *rule* found; None if it makes no sense after all."""
    parts = {name: quoted.value(part) for name, part in found.groupdict().items() if part}
    for name in ("path", "new"):
        if name in parts:
            parts[name] = _path(parts[name], language, it)
    if rule.kind in ("run file", "rename"):
        parts.setdefault("path", it)
    if "path" not in parts and "new" in parts:
        parts["path"] = parts.pop("new")
    is_quoted = {name for name, part in found.groupdict().items() if part and quoted.is_one(part)}
    request = Request(rule.kind, language, parts, rule.is_exact and "text" not in is_quoted)
    return request if makes_sense(rule.kind, parts, is_quoted) else None


def _path(path: str, language: Language, it: str) -> str:
    if path.lower() in _GRAMMARS[language].IT:
        return it
    return path if path.startswith("@output/") else path.removeprefix("@")


@cache
def _joints() -> re.Pattern[str]:
    return compiled(f"{english.AFTERWARDS}|{chinese.AFTERWARDS}", "en")
