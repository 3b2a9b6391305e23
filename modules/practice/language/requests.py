"""Parser of a message into its requests, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from modules.practice.language import chinese, english
from modules.practice.language.grammar import RequestKind, Rule, compile_pattern
from modules.practice.language.quoting import Quoted, extract_quotes
from modules.practice.language.sense import is_file_like, makes_sense
from modules.practice.voice import Language

MAX_LENGTH = 20_000
"""Characters of a message outside its quotes that are looked at."""
_MAX_PIECES = 40
_END_PUNCTUATION = r"[\s.!?…。！？]{0,9}"
_STRONG_SEPARATOR = re.compile(r"then|after|next|finally|然后|接着|之后|最后|随后", re.IGNORECASE)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_VERBS: dict[RequestKind, str] = {
    "show": "show ",
    "make": "make ",
    "delete": "delete ",
    "focus": "focus on ",
}
"""Verb that "and FILE" borrows from the request before it."""
_GRAMMARS = {"en": english, "zh": chinese}


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to do. *parts* are what the rule found, each as it is meant, none of them empty.

    The *path* or *new* of a request that says “it” with nothing to mean is "".
    *ends_unquoted* tells that it ends in content that is not in quotes.
    """

    kind: RequestKind
    language: Language
    parts: Mapping[str, str]
    ends_unquoted: bool = False

    @property
    def path(self) -> str:
        """The path that “it” means afterwards."""
        return self.parts.get("new") or self.parts.get("path", "")


def language_of(text: str) -> Language:
    return "zh" if _CHINESE.search(text[:MAX_LENGTH]) else "en"


def parse_requests(text: str, it_path: str = "") -> list[Request]:
    """Return the requests in *text*, none if it is not understood; “it” means *it_path*."""
    quoted = extract_quotes(text)
    if len(quoted.text) > MAX_LENGTH:
        return []
    requests: list[Request] = []
    for piece in _split(quoted, it_path):
        request = _parse(quoted, piece, it_path)
        if request is None:
            return []
        requests.append(request)
        it_path = request.path or it_path
    return requests


def _split(quoted: Quoted, it_path: str) -> Iterator[str]:
    """Yield the parts of the text that are requests of their own.

    A word such as "and" parts two requests only if what follows it is understood, be it with the
    verb of what stands before; otherwise it belongs to that.
    """
    text = quoted.text
    start, verb = 0, ""
    separators = [match.span() for match in _separator_pattern().finditer(text)][:_MAX_PIECES]
    ends = [*(separator_start for separator_start, _ in separators[1:]), len(text)][
        : len(separators)
    ]
    for (separator_start, separator_end), end in zip(separators, ends, strict=True):
        last = _parse(quoted, verb + text[start:separator_start], it_path)
        if last is None:
            continue
        for new_verb in ("", _VERBS.get(last.kind, "")):
            request = _parse(quoted, new_verb + text[separator_end:end], last.path or it_path)
            if request and _may_follow(
                last, request, text[separator_start:separator_end], new_verb
            ):
                yield verb + text[start:separator_start]
                start, verb, it_path = separator_end, new_verb, last.path or it_path
                break
    yield verb + text[start:]


def _may_follow(last: Request, request: Request, separator: str, verb: str) -> bool:
    """Return whether *request*, after *last* and the words *separator*, is one of its own.

    *verb* is what it had to borrow.
    """
    if last.kind in ("plan", "remember", "run command"):
        return False
    # What follows "and" may well be content of what stands before, unless it names a file.
    is_weak = bool(verb) or (last.ends_unquoted and not _STRONG_SEPARATOR.search(separator))
    return not is_weak or is_file_like(request.parts.get("path", ""))


def _parse(quoted: Quoted, sentence: str, it_path: str) -> Request | None:
    """Return the request that *sentence* is, by the first rule that fits."""
    sentence = sentence.strip()
    first = language_of(sentence)
    for language in (first, "zh" if first == "en" else "en"):
        grammar = _GRAMMARS[language]
        for rule in grammar.RULES:
            for text in _variants(sentence, language, is_verbatim=rule.is_exact):
                match = compile_pattern(rule.pattern, language).fullmatch(text)
                if match and (request := _to_request(rule, language, match, quoted, it_path)):
                    return request
    return None


def _variants(piece: str, language: Language, *, is_verbatim: bool) -> Iterator[str]:
    """Yield *piece* as it is, then without words of courtesy; what is exact keeps its end."""
    grammar = _GRAMMARS[language]
    polite = compile_pattern(grammar.POLITE, language).match(piece)
    for form in (piece, piece[polite.end() :]) if polite else (piece,):
        yield form if is_verbatim else _without_courtesy(form, language)


def _without_courtesy(text: str, language: Language) -> str:
    """Return *text* without the stops and thanks at its end; thanks alone are left."""
    tail = max(0, len(text) - 40)
    for end in (_GRAMMARS[language].SUFFIX, _END_PUNCTUATION):
        match = compile_pattern(f"(?:{end})$", language).search(text, tail)
        if match and match.start():
            return text[: match.start()]
    return text


def _to_request(
    rule: Rule, language: Language, match: re.Match[str], quoted: Quoted, it_path: str
) -> Request | None:
    """Return the request that *rule* found; None if it makes no sense after all."""
    parts = {name: quoted.value(part) for name, part in match.groupdict().items() if part}
    for name in ("path", "new"):
        if name in parts:
            parts[name] = _resolve_path(parts[name], language, it_path)
    if rule.kind in ("run file", "rename"):
        parts.setdefault("path", it_path)
    if "path" not in parts and "new" in parts:
        parts["path"] = parts.pop("new")
    is_quoted = {name for name, part in match.groupdict().items() if part and quoted.is_one(part)}
    request = Request(rule.kind, language, parts, rule.is_exact and "text" not in is_quoted)
    return request if makes_sense(rule.kind, parts, is_quoted) else None


def _resolve_path(path: str, language: Language, it_path: str) -> str:
    if path.lower() in _GRAMMARS[language].IT:
        return it_path
    return path if path.startswith("@output/") else path.removeprefix("@")


@cache
def _separator_pattern() -> re.Pattern[str]:
    return compile_pattern(f"{english.AFTERWARDS}|{chinese.AFTERWARDS}", "en")
