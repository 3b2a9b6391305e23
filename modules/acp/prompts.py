"""A prompt of the protocol as a message: its text, its pictures, and what it refers to."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never
from urllib.parse import unquote, urlsplit

from acp import RequestError
from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
)

from core.tools import ToolError
from modules.unsaved_edits import differs

Block = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)
MAX_LENGTH = 1_000_000
"""Characters of one message, with all that it embeds."""
_TOUCHING = re.compile(r"[^\s(\[{<\"'`“‘（「]\Z")
_WINDOWS_DRIVE = 3
"""Characters of what begins the path of a file URI on Windows: "/C:"."""


@dataclass
class PromptContent:
    """What a prompt says: *text* in the order of its blocks, *attached* what stands below it.

    *images* are (bytes, name); *links* are the files of the project that it refers to, those in
    *given* are told with it. *typed* is what the person wrote themselves.
    """

    text: str = ""
    typed: str = ""
    attached: list[str] = field(default_factory=list)
    images: list[tuple[bytes, str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    _ends_with_link: bool = False

    def add(self, text: str, *, is_link: bool = False) -> None:
        """Add *text* behind the rest, where it *is_link*, or that ends with one, as words apart."""
        is_word = is_link or text[:1].isalnum()
        touches = _TOUCHING.search(self.text) is not None
        if is_word and touches and (is_link or self._ends_with_link):
            self.text += " "
        self.text += text
        self._ends_with_link = is_link

    @property
    def is_command(self) -> bool:
        """Whether it is a slash command; a path from the root has another slash."""
        word = self.text.split(maxsplit=1)[0] if self.text.strip() else ""
        is_name = word.startswith("/") and "/" not in word[1:]
        return is_name and not (self.attached or self.images)

    @property
    def mentions(self) -> str:
        """What the person typed and refers to, each file with an `@`, but for what is *given*."""
        links = (f'@"{path}"' for path in self.links)
        words = re.split(r"(\s+)", self.typed)
        typed = (one for one in words if _named(one) not in self.given)
        return "\n".join(["".join(typed), *(one for one in links if _named(one) not in self.given)])

    @property
    def message(self) -> str:
        """The line for the terminal, which takes what begins with a slash for a command."""
        message = "\n\n".join(filter(None, [self.text.strip(), *self.attached]))
        return f" {message}" if message.startswith("/") and not self.is_command else message


def read_prompt(blocks: Sequence[Block], root: Path) -> PromptContent:
    """Return what *blocks* say. Raises `RequestError` for a prompt that cannot be."""
    prompt = PromptContent()
    for block in blocks:
        match block:
            case TextContentBlock():
                prompt.add(block.text)
                prompt.typed += f"{block.text}\n"
            case ImageContentBlock():
                name = block.uri.rpartition("/")[2] if block.uri else "picture"
                prompt.images.append((_decoded(block.data), unquote(name)))
            case ResourceContentBlock():
                prompt.add(
                    _mention(prompt, block.uri, block.title or block.name, root), is_link=True
                )
            case EmbeddedResourceContentBlock():
                _embed(prompt, block, root)
            case AudioContentBlock():
                raise _invalid("sound cannot be understood")
            case _:
                assert_never(block)
    if not (prompt.message or prompt.images):
        raise _invalid("the prompt is empty")
    if len(prompt.message) > MAX_LENGTH:
        raise _invalid(f"a message has at most {MAX_LENGTH:,} characters")
    return prompt


def add_unsaved(
    prompt: PromptContent,
    saved_text: Callable[[str], str],
    editor_text: Callable[[str], str | None],
) -> None:
    """Add to *prompt* what the editor shows of the files it mentions, where that is not saved yet.

    Files are read and changed on disk alone: there undo, checkpoints and containment hold. So the
    model is told where the person sees something else. What would be too long is left out.
    """
    for path in dict.fromkeys(prompt.links):
        shown = editor_text(path)
        if shown is None or len(prompt.message) + len(shown) > MAX_LENGTH:
            continue
        try:
            saved = saved_text(path)
        except ToolError:  # there is none on disk, or it is no text
            continue
        if differs(saved, shown):
            note = f"The editor shows {path} with changes that are not saved yet, as:"
            prompt.attached.append(_block(note, shown))
            prompt.given.add(path)


def _embed(prompt: PromptContent, block: EmbeddedResourceContentBlock, root: Path) -> None:
    resource = block.resource
    if isinstance(resource, BlobResourceContents):
        name = unquote(resource.uri.rpartition("/")[2]) or "picture"
        if not (resource.mime_type or "").startswith("image/"):
            raise _invalid(f"{name} is neither text nor a picture")
        prompt.images.append((_decoded(resource.blob), name))
        return
    path = _path_in(resource.uri, root)
    if path:
        prompt.add(f"@{path}", is_link=True)
        prompt.given.add(path)
    prompt.attached.append(_block(f"{path or resource.uri}:", resource.text))


def _mention(prompt: PromptContent, uri: str, name: str, root: Path) -> str:
    """Return how the text refers to *uri*: a file of the project by its path."""
    path = _path_in(uri, root)
    if path:
        prompt.links.append(path)
        fragment = unquote(urlsplit(uri).fragment)
        return f"@{path} ({fragment})" if fragment else f"@{path}"
    return f"[{name}]({uri})"


def _named(word: str) -> str:
    """Return the path that *word*, an `@` before it, names; "" for none."""
    return word[1:].strip("\"'.,;:!?)，。；：！？、）") if word.startswith("@") else ""


def _path_in(uri: str, root: Path) -> str:
    """Return the path, from *root*, of the file *uri*; "" for what is no file of the project."""
    try:
        parts = urlsplit(uri)
        if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
            return ""
        path = unquote(parts.path)
        if path[2:_WINDOWS_DRIVE] == ":":
            path = path[1:]
        relative = Path(path).resolve().relative_to(root).as_posix()
    except (OSError, ValueError, RuntimeError):  # no URI, outside, or a circle of links
        return ""
    return "" if relative == "." else relative


def _block(head: str, text: str) -> str:
    """Return *text* below *head*, between marks that it does not hold itself."""
    end = "" if text.endswith("\n") else "\n"
    mark = "text"
    while f"</{mark}>" in text:
        mark += "-"
    return f"{head}\n<{mark}>\n{text}{end}</{mark}>"


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise _invalid("the data of a picture is no base64") from None


def _invalid(details: str) -> RequestError:
    return RequestError.invalid_params({"details": details})
