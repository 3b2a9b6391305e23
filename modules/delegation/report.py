"""What a helper hands back: its answer, and receipts of what it read and ran.

The receipts are Onefold's own word: they are made of its calls, not of what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.cards import TextCard
from core.conversation.history import TurnRecord
from core.conversation.messages import Assistant, Record, ToolCall, ToolResult, User
from core.events import TurnFinished
from core.tools import Outcome
from modules.checks.receipts import runs_in
from modules.outputs import Outputs
from utils.i18n import phrase
from utils.llm.completion import Usage
from utils.text.strict_json import read_json
from utils.text.tokens import estimate_tokens

TASK_PREFIX = "Task: "
"""What stands before the task in a helper's first message: that is never a command."""
ANSWER_TOKENS = 1_600
"""Most tokens of the answer itself; with the receipts it stays below 2,000."""
_MAX_FILES, _MAX_COMMANDS, _MAX_NAME = 12, 8, 80


def report(
    end: TurnFinished,
    records: Sequence[TurnRecord],
    outputs: Outputs,
    reader: str,
    remark: str = "",
) -> Outcome:
    """Return the outcome of the helper that kept *records* and came to *end*.

    *reader* is the tool by which files are read; *remark* is what else the model is to know. A long
    answer is in *outputs* whole.
    """
    said = [record for _, record in records]
    answer = _last_words(said)
    is_done = end.why == "done" and bool(answer)
    why = str(end.detail or end.why).removesuffix(".")
    parts = [] if is_done else [f"The helper did not finish: {why}."]
    if answer:
        parts += [answer if is_done else f"Its last words: {answer}"]
    text = _within(ANSWER_TOKENS, "\n".join(parts), outputs)
    receipts = _receipts(said, reader)
    title = phrase(
        "Helper · model calls: {steps}, tool calls: {calls}",
        steps=sum(isinstance(one, Assistant) for one in said),
        calls=sum(isinstance(one, ToolResult) for one in said),
    )
    whole = "\n".join(filter(None, (text, remark, receipts)))
    return Outcome(
        whole,
        TextCard(title, answer or str(end.detail or end.why)),
        ok=is_done,
        error_code=None if is_done else end.error_code or "internal",
    )


def usage_of(records: Sequence[TurnRecord]) -> Usage:
    """Return what the replies in *records* used."""
    replies = (record for _, record in records if isinstance(record, Assistant))
    return sum((reply.usage or Usage() for reply in replies), Usage())


def task_in(records: Sequence[TurnRecord]) -> str:
    """Return the first line of what the helper was asked that kept *records*."""
    said = next((record.text for _, record in records if isinstance(record, User)), "")
    return said.removeprefix(TASK_PREFIX).partition("\n")[0]


def _last_words(records: Iterable[Record]) -> str:
    texts = [one.text.strip() for one in records if isinstance(one, Assistant)]
    return next((text for text in reversed(texts) if text), "")


def _within(tokens: int, text: str, outputs: Outputs) -> str:
    if (estimate := estimate_tokens(text)) <= tokens:
        return text
    return outputs.shorten(text, int(len(text) * tokens / estimate))


def _receipts(records: Sequence[Record], reader: str) -> str:
    """Return what was read and run in *records*, for the model."""
    read = list(dict.fromkeys(_paths_read(records, reader)))
    ran = [f"`{_short(run.command)}` {_exit(run.exit_code)}" for run in runs_in(records)]
    lines = []
    if read:
        lines.append(f"Files it read: {_few(read, _MAX_FILES, ', ')}.")
    if ran:
        lines.append(f"Commands it ran: {_few(ran, _MAX_COMMANDS, '; ')}.")
    if not lines:
        lines.append("It read no file and ran nothing.")
    return "\n".join(["Receipts, by Onefold:", *lines])


def _paths_read(records: Sequence[Record], reader: str) -> Iterable[str]:
    done = {one.call_id for one in records if isinstance(one, ToolResult) and one.state == "done"}
    for record in records:
        for call in record.calls if isinstance(record, Assistant) else ():
            if call.name == reader and call.id in done:
                yield _short(_path_in(call))
    for record in records:
        if (read := getattr(record, "read", None)) and read.name == reader:
            yield _short(_path_in(read))


def _path_in(call: ToolCall) -> str:
    return str(read_json(call.arguments).get("path", ""))


def _exit(code: int | None) -> str:
    return "did not end by itself" if code is None else f"exit {code}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_NAME else f"{line[: _MAX_NAME - 1]}…"


def _few(items: Sequence[str], most: int, separator: str) -> str:
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return separator.join(items[:most]) + rest
