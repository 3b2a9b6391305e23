"""Calls of tools as a client shows them: their kind, their files and their content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from acp import text_block, tool_content, tool_diff_content
from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    TerminalToolCallContent,
    ToolCallLocation,
    ToolKind,
)

from core.cards import Card, DiffCard, TextCard
from core.conversation.messages import ResultState
from core.tool_spec import ToolSpec
from core.tools import Risk
from modules.cli.render.cards.plain_cards import card_text
from modules.translator import Translator

CallContent = ContentToolCallContent | FileEditToolCallContent | TerminalToolCallContent
Status = Literal["completed", "failed"]
STATUS: dict[ResultState, Status] = {
    "done": "completed",
    "failed": "failed",
    "refused": "failed",
    "stopped": "failed",
}
_KINDS: dict[Risk, ToolKind] = {
    Risk.READ: "read",
    Risk.WRITE: "edit",
    Risk.RUN: "execute",
    Risk.NETWORK: "fetch",
    Risk.DESTROY: "delete",
}
_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,\d+)? \+(?P<new>\d+)(?:,\d+)? @@")
_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def kind_of(spec: ToolSpec | None) -> ToolKind:
    """Return the kind of the calls of a tool; what is not on offer any more is "other"."""
    if spec is None:
        return "other"
    if spec.explores == "searches":
        return "search"
    if spec.destination:
        return "move"
    return _KINDS[spec.risk]


def locations_of(
    spec: ToolSpec | None, arguments: Mapping[str, Any], root: Path
) -> list[ToolCallLocation]:
    """Return the files that a call is about, with the line that it begins at."""
    names = ["path", spec.destination if spec else ""]
    paths = [arguments[name] for name in names if isinstance(arguments.get(name), str)]
    first_line = arguments.get("start_line")
    line = first_line if isinstance(first_line, int) and first_line > 0 else None
    # "@output/3" and the like are no files of the project.
    return [
        ToolCallLocation(path=str(root / path), line=line)
        for path in paths
        if path and not path.startswith("@") and "\0" not in path
    ]


def content_of(card: Card, root: Path, translator: Translator) -> Sequence[CallContent]:
    """Return what *card* shows: a change as one difference for each of its places."""
    if isinstance(card, DiffCard):
        differences = list(_differences(card, root))
        if differences:
            return differences
    return [text_content(markdown_of(card, translator))]


def text_content(text: str) -> CallContent:
    return tool_content(text_block(text))


def markdown_of(card: Card, translator: Translator) -> str:
    """Return *card* as Markdown: as it is, in a block that nothing in it ends."""
    text = card_text(card, translator)
    if isinstance(card, TextCard) and not card.body:
        return text
    return fenced(text)


def fenced(text: str) -> str:
    longest = max((len(fence) for fence in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _differences(card: DiffCard, root: Path) -> Iterator[FileEditToolCallContent]:
    """Yield the text before and after of each hunk; a file that is new has none before."""
    old: list[str] = []
    new: list[str] = []
    is_new = False
    path = str(root / card.path)
    for line in [*card.diff.split("\n"), "@@ -1 +1 @@"]:
        if hunk := _HUNK.match(line):
            if old or new:
                before = None if is_new and not old else "\n".join(old)
                yield tool_diff_content(path, "\n".join(new), before)
            old, new, is_new = [], [], hunk["old"] == "0"
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
        elif line.startswith(" "):
            old.append(line[1:])
            new.append(line[1:])
