"""Answers of a preview that are ours: a small page, or a line for who wants none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from html import escape
from http import HTTPStatus

from modules.preview.http_head import Headers, head_bytes, values_of
from modules.translator import Language, Translator
from utils.i18n import Phrase, phrase

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors {ancestors}"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:32em;margin:18vh auto 0;padding:0 20px}"
    "p{overflow-wrap:anywhere}"
)

NO_ENTRY = phrase(
    "This preview link works only once. Open the preview again in Onefold, or get a new link "
    "with /preview."
)
FOREIGN = phrase("Pages of other sites cannot use this preview.")
OVER = phrase("This preview has ended because its job has ended. See /jobs.")


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    """An answer of ours: *what* says it to the person; with *retries* a browser asks again."""

    status: int
    what: Phrase
    retries: bool = False


def bad_request(why: str) -> OwnAnswer:
    return OwnAnswer(400, phrase("Cannot forward this request: {why}.", why=why))


def bad_answer(port: int, why: str) -> OwnAnswer:
    what = phrase(
        "The program on port {port} sent an answer that cannot be shown: {why}.",
        port=port,
        why=why,
    )
    return OwnAnswer(502, what)


def not_there(port: int, *, retries: bool) -> OwnAnswer:
    what = phrase("No answer on port {port} yet. This page retries automatically.", port=port)
    return OwnAnswer(503, what, retries)


def own_answer_bytes(
    answer: OwnAnswer, headers: Headers, *, is_head: bool, keeps_alive: bool, ancestors: str
) -> bytes:
    """Return *answer* to the request with *headers* as it goes over the wire."""
    text = _translator(_language(headers)).render(answer.what)
    is_page = any("text/html" in value for value in values_of(headers, "accept"))
    body = (_page(text, _language(headers)) if is_page else f"{text}\n").encode()
    kind = "text/html" if is_page else "text/plain"
    own_headers = [
        ("Content-Type", f"{kind}; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", _POLICY.format(ancestors=ancestors)),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
        *([("Refresh", "1"), ("Retry-After", "1")] if answer.retries else []),
        ("Connection", "keep-alive" if keeps_alive else "close"),
    ]
    first_line = f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}"
    return head_bytes(first_line, own_headers) + (b"" if is_head else body)


def _language(headers: Headers) -> Language:
    wanted = next(iter(values_of(headers, "accept-language")), "")
    return "zh" if wanted.lower().startswith("zh") else "en"


@cache
def _translator(language: Language) -> Translator:
    return Translator.of(language)


def _page(text: str, language: Language) -> str:
    return (
        f'<!doctype html>\n<html lang="{language}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<title>Onefold</title>\n'
        f"<style>{_STYLE}</style>\n<main><p>{escape(text)}</p></main>\n</html>\n"
    )
