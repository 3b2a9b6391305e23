"""What a server wants to know of the person, put as questions of ours, one a field."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

from core.events import PersonQuestion, Reply
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import clean, visible
from utils.text.strict_json import read_json

Action = Literal["accept", "decline", "cancel"]
Ask = Callable[[PersonQuestion], Awaitable[Reply | None]]
Value = str | int | float | bool | list[str]
_MAX_FIELDS = 12
_MAX_TRIES = 3
_MAX_TEXT = 2_000  # characters of a question
_MAX_CHOICES, _MAX_CHOICE = 4, 120  # of more a screen has no room: they stand in the question


async def ask_form(
    server: str, message: str, schema: Mapping[str, Any], ask: Ask
) -> tuple[Action, dict[str, Value]]:
    """Ask for each field of *schema*; return what is to be answered, and the values.

    Who asks stands before every question: nothing in *message* can pass for ours.
    """
    properties = schema.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    needed = [n for n in required if isinstance(n, str)] if isinstance(required, list) else []
    if len(fields) > _MAX_FIELDS:
        return "decline", {}
    if not fields:
        return await _ask_consent(server, message, ask), {}
    values: dict[str, Value] = {}
    for name, field in fields.items():
        question = _question(server, message, name, field if isinstance(field, dict) else {})
        reply = await _valid_reply(question, field if isinstance(field, dict) else {}, ask)
        if reply is None:
            return "cancel", {}
        if reply == "" and name in needed:
            return "decline", {}
        if reply != "":
            values[name] = reply
    return "accept", values


async def ask_to_open(server: str, message: str, url: str, ask: Ask) -> Action:
    """Ask the person to open *url* themselves; nothing here opens it."""
    text = phrase(
        "The MCP server {server} asks you to open {url}: {message}",
        server=visible(server),
        url=visible(url)[:_MAX_TEXT],
        message=_shown(message),
    )
    reply = await ask(PersonQuestion(text, (phrase("Done"), phrase("No"))))
    if reply is None:
        return "cancel"
    return "accept" if reply.yes and reply.text.strip() in ("Done", "1") else "decline"


async def _ask_consent(server: str, message: str, ask: Ask) -> Action:
    reply = await ask(PersonQuestion(_asks(server, _shown(message)), (phrase("Yes"), phrase("No"))))
    if reply is None:
        return "cancel"
    return "accept" if reply.yes and reply.text.strip() in ("Yes", "1") else "decline"


def _question(server: str, message: str, name: str, field: Mapping[str, Any]) -> PersonQuestion:
    said = field.get("description") or field.get("title") or ""
    about = visible(name) + (f" ({_shown(str(said))})" if said else "")
    choices = _choices(field)
    if len(choices) > _MAX_CHOICES:
        about, choices = f"{about}: {', '.join(choices)}", []
    text = f"{_shown(message)} – {about}"
    return PersonQuestion(_asks(server, text[:_MAX_TEXT]), tuple(choices))


def _asks(server: str, message: str) -> Phrase:
    return phrase(
        "The MCP server {server} asks: {message}", server=visible(server), message=message
    )


def _choices(field: Mapping[str, Any]) -> list[str]:
    if field.get("type") == "boolean":
        return ["true", "false"]
    shown = [visible(str(option)) for option in _options(field)]
    return shown if all(len(one) <= _MAX_CHOICE for one in shown) else []


def _options(field: Mapping[str, Any]) -> list[Any]:
    """Return the values that *field* may have, none where it may have any."""
    options = field.get("enum")
    if options is None and isinstance(field.get("oneOf"), list):
        options = [one.get("const") for one in field["oneOf"] if isinstance(one, dict)]
    return options if isinstance(options, list) else []


async def _valid_reply(
    question: PersonQuestion, field: Mapping[str, Any], ask: Ask
) -> Value | None:
    """Return the person's answer as *field* wants it; "" for none given, None for nobody."""
    asked = question
    for _ in range(_MAX_TRIES):
        reply = await ask(asked)
        if reply is None:
            return None
        if not reply.yes or not reply.text.strip():
            return ""
        if (value := _converted(reply.text.strip(), field)) is not None:
            return value
        asked = replace(question, text=_refusal(question.text, field))
    return ""


def _refusal(text: Text, field: Mapping[str, Any]) -> Phrase:
    """Return the question *text* anew, after what was wrong with the answer to it."""
    match field.get("type"):
        case "integer":
            return phrase("Enter a whole number. {question}", question=text)
        case "number":
            return phrase("Enter a number. {question}", question=text)
        case _:
            return phrase("Choose one of the options. {question}", question=text)


def _converted(text: str, field: Mapping[str, Any]) -> Value | None:
    """Return *text* as a value of *field*, None where it is none."""
    kind = field.get("type", "string")
    if kind == "string":
        options = _options(field)
        return text if not options or text in options else None
    if kind == "array":
        return [part.strip() for part in text.split(",")]
    try:
        value = read_json(text)
    except ValueError:
        return None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "integer":
        return int(value) if is_number and float(value).is_integer() else None
    return value if kind == "number" and is_number else None


def _shown(text: str) -> str:
    return clean(text)[:_MAX_TEXT].strip()
