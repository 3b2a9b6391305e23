"""Results of calls and tasks as the protocol has them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent

from core.conversation.messages import ToolResult
from utils.pictures import PictureGone, ReadPicture
from utils.text.lines import replace_lone_surrogates

NOBODY_ASKED = (
    "This client cannot ask the person. They can allow such calls by starting the server with "
    '"--approve all", or use a client that can ask (MCP elicitation).'
)


def text_result(text: str, *, ok: bool = True) -> CallToolResult:
    return CallToolResult(content=[_text(text)], is_error=not ok)


def result_of(
    result: ToolResult, read_picture: ReadPicture, *, was_unasked: bool
) -> CallToolResult:
    """Return *result* with its pictures; where the person *was unasked*, it says what to do."""
    text = result.text
    if was_unasked and result.state == "refused":
        text = f"{text}\n{NOBODY_ASKED}"
    content: list[ContentBlock] = [_text(text), *_pictures(result, read_picture)]
    return CallToolResult(content=content, is_error=result.state != "done")


def task_result(result: Mapping[str, Any], *, was_unasked: bool) -> CallToolResult:
    """Return the result of a whole task: as text for a model, and as it is for a program."""
    lines = [str(result["answer"])]
    if result["status"] != "done":
        lines.append(f"The task ended with status {result['status']!r}: {result['error'] or ''}")
    lines.extend(_file_lines(result["files"]))
    if was_unasked:
        lines.append(NOBODY_ASKED)
    text = "\n\n".join(filter(None, lines)) or "Done."
    return CallToolResult(
        content=[_text(text)],
        structured_content=dict(result),
        is_error=result["status"] != "done",
    )


def _file_lines(files: Mapping[str, Any]) -> Iterator[str]:
    for kind in ("created", "modified", "deleted"):
        if files[kind]:
            yield f"Files {kind}: {', '.join(files[kind])}"
    if files["renamed"]:
        moves = (f"{one['from']} to {one['to']}" for one in files["renamed"])
        yield f"Files renamed: {', '.join(moves)}"


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=replace_lone_surrogates(text))


def _pictures(result: ToolResult, read_picture: ReadPicture) -> Iterator[ContentBlock]:
    for picture in result.pictures:
        try:
            data = b64encode(read_picture(picture.digest)).decode()
        except PictureGone:
            yield _text(f"[{picture.description}]")
            continue
        yield ImageContent(type="image", data=data, mime_type=picture.media_type)
