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

LINES_FROM_BEFORE = 50
"""Lines from before that are shown first."""
_MAX_CHARACTERS = 200
_POLL_SECONDS = 0.2
_MARKS = {"done": "✓", "failed": "✗", "refused": "⊘", "stopped": "■"}
_CHANGE_LABELS = {
    "created": phrase("created"),
    "modified": phrase("modified"),
    "deleted": phrase("deleted"),
    "renamed": phrase("renamed"),
}

_BREAK_REASONS = {
    "compaction": phrase("older turns were summarized"),
    "left_out": phrase("older turns were dropped"),
    "results_cut": phrase("earlier tool results were shortened"),
    "masked": phrase("old tool results were dropped to save cost"),
    "rewind": phrase("the conversation was rewound"),
    "model": phrase("different model"),
    "tools": phrase("different tools"),
    "system_text": phrase("different instructions"),
}


def follow(path: Path, translator: Translator) -> None:
    """Print what the log *path* tells, and goes on to tell, until Ctrl-C."""
    if not path.exists():
        print_error(
            translator.render(phrase("Waiting for {path} (written by --log).", path=str(path)))
        )
    with closing(LineFollower(path, last=LINES_FROM_BEFORE)) as follower:
        while True:
            lines = follower.read()
            for line in lines:
                sys.stdout.write(f"{readable(line, translator)}\n")
            sys.stdout.flush()
            if not lines:
                time.sleep(_POLL_SECONDS)


def readable(line: bytes, translator: Translator) -> str:
    """Return one line of the log on one line for people; what is none of ours says so."""
    try:
        entry = json.loads(line)
        when, session = str(entry["time"])[11:19], str(entry["session"])[-4:] or "-"
        description = translator.render(_describe_entry(str(entry["kind"]), entry))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return translator.render(phrase("(unreadable line)"))
    return clean(f"{when} {session} {description}").replace("\n", " ")


def _describe_entry(kind: str, entry: Mapping[str, Any]) -> Text:  # noqa: C901 - one case for each kind
    match kind:
        case "turn":
            return phrase("▶ turn {n}: {text}", n=entry["turn"], text=_one_line(entry["text"]))
        case "request":
            text = phrase(
                "→ request to {model}, messages: {n:,}", model=entry["model"], n=entry["messages"]
            )
            return phrase("{text}, thinking", text=text) if entry["thinks"] else text
        case "prefix_break":
            return phrase(
                "! cache miss: {n:,} tokens read again ({reason})",
                n=entry["tokens"],
                reason=_BREAK_REASONS.get(entry["reason"], entry["reason"]),
            )
        case "reply":
            calls = ", ".join(call["name"] for call in entry["calls"])
            summary = " ".join(
                filter(None, [_one_line(entry["text"]), f"⇒ {calls}" if calls else ""])
            )
            return f"← {summary}"
        case "call":
            values = ", ".join(f"{k}={_value(v)}" for k, v in entry["arguments"].items())
            return f"· {entry['name']} {values}"
        case "question":
            return phrase("? {name}: {why}", name=entry["name"], why=entry["why"])
        case "approval":
            return _approval(entry)
        case "answer":
            seconds = f"{entry['seconds']:.1f} s"
            return f"{_MARKS[entry['state']]} {entry['name']} {seconds}: {_one_line(entry['text'])}"
        case "change":
            new = f" → {entry['to']}" if "to" in entry else ""
            return phrase("± {path}: {change}", path=f"{entry['path']}{new}",
                          change=_CHANGE_LABELS.get(entry["change"], entry["change"]))  # fmt: skip
        case "command":
            return f"/ {entry['command']} {'✓' if entry['ok'] else '✗'}"
        case "retry" | "warning":
            return f"! {entry.get('reason') or entry.get('what')}"
        case "info":
            return str(entry["what"])
        case "end":
            summary = " ".join(filter(None, [entry["detail"], entry.get("still_open", "")]))
            return f"■ {entry['why']} {entry['seconds']:.1f} s {summary}".rstrip()
        case _:
            return json.dumps(entry, ensure_ascii=False)


def _approval(entry: Mapping[str, Any]) -> Phrase:
    if not entry["answered"]:
        return phrase("! {name}: no answer, refused", name=entry["name"])
    if not entry["yes"]:
        return phrase("! {name}: no {reason}", name=entry["name"], reason=entry["reason"])
    if entry["always"]:
        return phrase("! {name}: yes, always {pattern}", name=entry["name"],
                      pattern=entry["pattern"])  # fmt: skip
    return phrase("! {name}: yes", name=entry["name"])


def _value(value: Any) -> str:
    return _one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _one_line(text: str) -> str:
    """Return *text* on one line that cannot drive a terminal, cut where it is long."""
    line = " ".join(clean(text[: 10 * _MAX_CHARACTERS]).split())
    return line if len(line) <= _MAX_CHARACTERS else f"{line[: _MAX_CHARACTERS - 1]}…"
