"""`--follow`: the operations log as it grows, to be read by a person."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from modules.translator import Translator
from utils.i18n import Phrase, Text, phrase
from utils.system.rotated_lines import LineFollower
from utils.system.streams import print_error
from utils.text.clean import clean

LAST = 50
"""Lines from before that are shown first."""
_LONGEST = 200
_GLANCE_SECONDS = 0.2
_MARKS = {"done": "✓", "failed": "✗", "refused": "⊘", "stopped": "■"}
_CHANGED = {
    "created": phrase("created"),
    "modified": phrase("modified"),
    "deleted": phrase("deleted"),
    "renamed": phrase("renamed"),
}


def follow(path: Path, words: Translator) -> None:
    """Print what the log *path* tells, and goes on to tell, until Ctrl-C."""
    if not path.exists():
        print_error(words.say(phrase("Waiting for {path}; --log writes it.", path=str(path))))
    with closing(LineFollower(path, last=LAST)) as follower:
        while True:
            lines = follower.read()
            for line in lines:
                sys.stdout.write(f"{readable(line, words)}\n")
            sys.stdout.flush()
            if not lines:
                time.sleep(_GLANCE_SECONDS)


def readable(line: bytes, words: Translator) -> str:
    """Return one line of the log on one line for people; what is none of ours says so."""
    try:
        entry = json.loads(line)
        when, session = str(entry["time"])[11:19], str(entry["session"])[-4:] or "-"
        said = words.say(_told(str(entry["kind"]), entry))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return words.say(phrase("(a line that cannot be read)"))
    return clean(f"{when} {session} {said}").replace("\n", " ")


def _told(kind: str, entry: Mapping[str, Any]) -> Text:  # noqa: C901 - one case for each kind
    match kind:
        case "turn":
            return phrase("▶ turn {n}: {text}", n=entry["turn"], text=_short(entry["text"]))
        case "request":
            text = phrase(
                "→ request to {model}: messages: {n}", model=entry["model"], n=entry["messages"]
            )
            return phrase("{text}, thinking", text=text) if entry["thinks"] else text
        case "reply":
            calls = ", ".join(call["name"] for call in entry["calls"])
            said = " ".join(filter(None, [_short(entry["text"]), f"⇒ {calls}" if calls else ""]))
            return f"← {said}"
        case "call":
            values = ", ".join(f"{k}={_value(v)}" for k, v in entry["arguments"].items())
            return f"· {entry['name']} {values}"
        case "question":
            return phrase("? {name}: {why}", name=entry["name"], why=entry["why"])
        case "approval":
            return _approval(entry)
        case "answer":
            seconds = f"{entry['seconds']:.1f} s"
            return f"{_MARKS[entry['state']]} {entry['name']} {seconds}: {_short(entry['text'])}"
        case "change":
            new = f" → {entry['to']}" if "to" in entry else ""
            return phrase("± {path}: {change}", path=f"{entry['path']}{new}",
                          change=_CHANGED[entry["change"]])  # fmt: skip
        case "command":
            return f"/ {entry['command']} {'✓' if entry['ok'] else '✗'}"
        case "retry" | "warning":
            return f"! {entry.get('reason') or entry.get('what')}"
        case "info":
            return str(entry["what"])
        case "end":
            said = " ".join(filter(None, [entry["detail"], entry.get("still_open", "")]))
            return f"■ {entry['why']} {entry['seconds']:.1f} s {said}".rstrip()
        case _:
            return json.dumps(entry, ensure_ascii=False)


def _approval(entry: Mapping[str, Any]) -> Phrase:
    if not entry["answered"]:
        return phrase("! {name}: nobody answered, so no", name=entry["name"])
    if not entry["yes"]:
        return phrase("! {name}: no {reason}", name=entry["name"], reason=entry["reason"])
    if entry["always"]:
        return phrase("! {name}: yes, always {pattern}", name=entry["name"],
                      pattern=entry["pattern"])  # fmt: skip
    return phrase("! {name}: yes", name=entry["name"])


def _value(value: Any) -> str:
    return _short(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    """Return *text* on one line that cannot drive a terminal, cut where it is long."""
    line = " ".join(clean(text[: 10 * _LONGEST]).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
