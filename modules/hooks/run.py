"""One hook, run: its input, its answer, and what is made of one that breaks.

Only exit code 2 and `"decision": "deny"` refuse. A hook that fails in any other way says nothing:
the person is told, and the task goes on.
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.cards import Change
from modules.hooks.files import Hook
from modules.sandbox.types import Result
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import clean
from utils.text.strict_json import read_json

RunHook = Callable[[str, float], tuple[Result, tuple[Change, ...]]]
"""Runs a script of bash for so many seconds at most; raises `UserError` where nothing can run."""
_DENIES = 2
"""The exit code of a hook that says no."""
_MAX_OUTPUT = 16_000  # bytes of each stream
_MAX_REASON, _MAX_NOTE = 2_000, 500  # characters
_SCRIPT = """
work=$(mktemp -d) || exit 1
base64 -d > "$work/input" <<'{mark}'
{input}
{mark}
bash -c {command} < "$work/input" > "$work/output" 2> "$work/errors"
code=$?
printf '\\n{mark} %s %s %s\\n' "$code" \\
  "$(head -c {size} "$work/output" | base64 -w0)." "$(head -c {size} "$work/errors" | base64 -w0)."
rm -rf "$work"
"""


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook said: its *reason* where it *denies*, and its *note*, of one line.

    *problem* is what went wrong, for people; *is_over* says that the person stopped the task.
    """

    denies: bool = False
    reason: str = ""
    note: str = ""
    problem: Phrase | None = None
    is_over: bool = False
    changes: tuple[Change, ...] = ()


def run_hook(hook: Hook, given: Mapping[str, Any], run: RunHook) -> HookAnswer:
    """Have *hook* read *given* as JSON; return its answer. Nothing is raised."""
    mark = secrets.token_hex(16)
    text = json.dumps(given, ensure_ascii=False).encode("utf-8", "replace")
    code = _SCRIPT.format(
        mark=mark,
        input=base64.encodebytes(text).decode().rstrip(),
        command=shlex.quote(hook.command),
        size=_MAX_OUTPUT,
    )
    try:
        result, changes = run(code, hook.seconds)
    except UserError as error:
        return HookAnswer(problem=phrase("{problem}", problem=error.message))
    answer = _answer(result, mark)
    return HookAnswer(
        *(answer.denies, answer.reason, answer.note, answer.problem),
        is_over=result.exit_reason == "stopped",
        changes=changes,
    )


def _answer(result: Result, mark: str) -> HookAnswer:
    if result.exit_reason == "timed out":
        return HookAnswer(problem=phrase("timed out"))
    words = result.whole.rpartition(f"\n{mark} ")[2].split()
    try:
        code, output, errors = int(words[0]), _decoded(words[1]), _decoded(words[2])
    except (IndexError, ValueError):
        is_stopped = result.exit_reason == "stopped"
        return HookAnswer(problem=None if is_stopped else phrase("it did not finish"))
    return _said(code, output, errors)


def _decoded(word: str) -> str:
    try:
        data = base64.b64decode(word.removesuffix("."), validate=True)
    except binascii.Error as error:
        raise ValueError from error
    return data.decode("utf-8", "replace").strip()


def _said(code: int, output: str, errors: str) -> HookAnswer:
    """Return what a hook meant that ended with *code*. Output that is no JSON means nothing."""
    if code not in (0, _DENIES):
        why = _line(errors or output, 200)
        return HookAnswer(
            problem=phrase("it ended with exit code {code}: {why}", code=code, why=why)
        )
    values: Any = {}
    if output.startswith("{"):
        try:
            values = read_json(output)
        except ValueError:
            if code == 0:
                return HookAnswer(problem=phrase("its answer is not valid JSON"))
            values = {}
    decision = values.get("decision")
    if decision not in (None, "allow", "approve", "deny", "block"):
        return HookAnswer(problem=phrase("its decision must be allow or deny"))
    denies = code == _DENIES or decision in ("deny", "block")
    reason = _text(values.get("reason")) or (errors if code == _DENIES else "")
    note = _line(_text(values.get("note")), _MAX_NOTE)
    return HookAnswer(denies, clean(reason).strip()[:_MAX_REASON], note)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _line(text: str, most: int) -> str:
    return " ".join(clean(text).split())[:most]
