"""Markdown as an outline: parsed by markdown-it, citations as its footnotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote

from core.tools import ToolError
from modules.documents.outline import Block, Outline, Span, Spans, plain_text
from modules.files.project import MissingPath
from utils.i18n import phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from markdown_it.token import Token

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_OPEN_COMMENT = "<!--"
_UNSEEN = re.compile(r"<(script|style|title)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
_LINE = re.compile(r"<br\s*/?>|</(?:p|div|li|tr|h[1-6])\s*>", re.IGNORECASE)
_TAGS = re.compile(r"</?[a-zA-Z][^>]*>")
_IMAGE = re.compile(
    r"""<img\b[^>]*?\bsrc\s*=\s*(?:"([^"]+)"|'([^']+)'|([^"'\s>]+))""", re.IGNORECASE
)
_SPACED_IMAGE = re.compile(
    r"!\[([^\]\n]*)\]\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\.(?:png|jpe?g|gif|webp|svg|bmp|tiff?))\)",
    re.IGNORECASE,
)
"""A picture whose path has blanks and stands in no <…>: to CommonMark it is text."""
_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_MAX_NESTING = 120
"""Lists and quotes within each other, each item counting as well."""
_MAX_LEVEL = 8
"""Of an item: deeper ones stand as far to the right, where there is room for their words."""
PictureIndex = Callable[[str], int]
"""Gives the index of the picture at a path. Raises `ToolError` where there is none."""


def markdown_outline(text: str, picture_index: PictureIndex, title: str = "") -> Outline:
    """Return *text* as an outline; its title is *title*, that of its front matter, or the first
    heading. Raises `ToolError` for a comment without an end.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = (
        MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
        .enable("table")
        .enable("strikethrough")
    )
    walk = _Walk(picture_index)
    tokens = parser.use(footnote_plugin).use(front_matter_plugin).parse(text)
    if any(token.level >= _MAX_NESTING - 1 for token in tokens):  # it drops all from there on
        raise ToolError(phrase("Lists or quotes are nested too deeply in it."))
    walk.tokens(tokens)
    headings = [block for block in walk.blocks if block.kind == "heading"]
    if walk.title and not any(block.level == 1 for block in headings):
        headings = [Block("heading", (Span(walk.title),), level=1)]
        walk.blocks[:0] = headings
    first = headings[0].text if headings else ""
    return Outline(title or walk.title or first, tuple(walk.blocks), tuple(walk.notes))


def inline_spans(text: str) -> Spans:
    """Return one line of Markdown, which is no heading and no list, as spans."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("strikethrough").disable("image")
    (line,) = parser.parseInline(" ".join(text.split()))
    return _Walk(None).spans(line.children or [])[0]


class _Walk:
    """Walks the tokens of a Markdown text and collects its blocks and footnotes.

    Without *picture_index* it has no pictures: they stay text.
    """

    def __init__(self, picture_index: PictureIndex | None) -> None:
        self._picture_index = picture_index
        self.blocks: list[Block] = []
        self.notes: list[Spans] = []
        self.title = ""
        """What a front matter says that it is."""
        self._lists: list[int] = []
        """The number of the next item of each list that is open, 0 for one without numbers."""
        self._heading = self._quotes = 0
        self._is_item_start = self._is_note = False
        self._rows: list[list[Spans]] = []

    @property
    def _level(self) -> int:
        """In how many lists what comes next stands, as far as it is shown."""
        return min(len(self._lists), _MAX_LEVEL + 1)

    def tokens(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            self._token(token)

    def _token(self, token: Token) -> None:
        kind, _, side = token.type.rpartition("_")
        if side in ("open", "close"):
            self._container(kind, token, is_open=side == "open")
            return
        match token.type:
            case "fence" | "code_block":
                code = Span(token.content.rstrip("\n"), code=True)
                self.blocks.append(Block("code", (code,), self._level))
            case "hr":
                self.blocks.append(Block("break"))
            case "html_block":
                self._html(token.content, line=(token.map or [0])[0] + 1)
            case "front_matter" if title := _TITLE.search(token.content):
                self.title = title[1].strip().strip("'\"")
            case "inline":
                self._inline(token)

    def _container(self, kind: str, token: Token, *, is_open: bool) -> None:
        """Take in that something with other blocks in it begins or ends."""
        match kind:
            case "heading":
                self._heading = int(token.tag[1:]) if is_open else 0
            case "bullet_list" | "ordered_list":
                self._list(token, is_open=is_open)
            case "list_item":
                self._is_item_start = is_open
            case "blockquote":
                self._quotes += 1 if is_open else -1
            case "table" | "tr":
                self._table(kind, is_open=is_open)
            case "footnote":
                self._is_note = is_open
                self.notes += [()] if is_open else []

    def _list(self, token: Token, *, is_open: bool) -> None:
        if is_open:
            is_ordered = token.type.startswith("ordered")
            self._lists.append(int(token.attrs.get("start", 1)) if is_ordered else 0)
        else:
            self._lists.pop()

    def _table(self, kind: str, *, is_open: bool) -> None:
        if kind == "tr":
            self._rows += [[]] if is_open else []
            return
        if not is_open:
            rows = tuple(map(tuple, self._rows))
            self.blocks.append(Block("table", level=self._level, rows=rows))
        self._rows = []

    def _html(self, content: str, line: int) -> None:
        """Take in *content*, HTML that begins in *line* of the text. Raises `ToolError`."""
        if _OPEN_COMMENT in _COMMENT.sub("", content):
            raise ToolError(
                phrase(
                    "Line {line} begins a comment (<!--) that has no end (-->): all that follows "
                    "would be left out.",
                    line=line,
                )
            )
        for comment in _COMMENT.findall(content):
            if comment.strip():
                self.blocks.append(Block("speaker", (Span(comment.strip()),)))
        shown = _LINE.sub("\n", _CELL.sub("  ", _UNSEEN.sub("", _COMMENT.sub("", content))))
        for one in unescape(_TAGS.sub("", shown)).splitlines():
            if one.strip():
                text = Span(" ".join(one.split()))
                self.blocks.append(Block("text", (text,), self._level))
        self.blocks += self._html_pictures(shown)

    def _html_pictures(self, content: str) -> list[Block]:
        paths = (unescape("".join(found)) for found in _IMAGE.findall(content))
        files = map(self._picture, paths)
        return [Block("picture", level=self._level, file=file) for file in files]

    def _picture_block(self, alt: str, path: str) -> Block:
        return Block("picture", (Span(alt),), self._level, file=self._picture(path))

    def _picture(self, path: str) -> int:
        """Return the index of the picture at *path*, which CommonMark has percent-encoded."""
        index = self._picture_index
        assert index is not None  # noqa: S101 - else no picture is looked for
        name = unquote(path)
        try:
            return index(name)
        except MissingPath:
            if name == path:
                raise
        try:
            return index(path)
        except MissingPath:
            raise MissingPath(phrase("There is no {path}.", path=visible(name))) from None

    def _inline(self, token: Token) -> None:
        spans, pictures = self.spans(token.children or [])
        if self._is_note:
            between: Spans = (Span(" "),) if self.notes[-1] else ()
            self.notes[-1] = (*self.notes[-1], *between, *spans)
        elif self._rows:
            self._rows[-1].append(spans)
        elif plain_text(spans).strip() or not pictures:
            self.blocks.append(self._block(spans))
        if not self._is_note:
            self.blocks += pictures

    def _block(self, spans: Spans) -> Block:
        if self._heading:
            return Block("heading", spans, level=self._heading)
        if self._lists:
            level, number = self._level - 1, 0
            if self._is_item_start and self._lists[-1]:
                number = self._lists[-1]
                self._lists[-1] += 1
            if not self._is_item_start:
                return Block("text", spans, self._level)
            self._is_item_start = False
            return Block("item", spans, level, number)
        return Block("quote" if self._quotes else "text", spans)

    def spans(self, children: Sequence[Token]) -> tuple[Spans, list[Block]]:
        """Return the spans of a line, and the pictures in it, which stand behind it."""
        spans: list[Span] = []
        pictures: list[Block] = []
        look = Span("")
        for child in children:
            look = _look_behind(look, child)
            match child.type:
                case "image":
                    pictures.append(self._picture_block(child.content, str(child.attrs["src"])))
                case "footnote_ref":
                    spans.append(Span("", note=int(child.meta["id"]) + 1))
                case "softbreak" | "hardbreak":
                    spans.append(replace(look, text=" " if child.type == "softbreak" else "\n"))
                case "html_inline" if _LINE.match(child.content):
                    spans.append(replace(look, text="\n"))
                case "html_inline":
                    pictures += self._html_pictures(child.content)
                case "code_inline" if child.content:
                    spans.append(replace(look, text=child.content, code=True))
                case "text" if child.content:
                    text = child.content
                    if self._picture_index:
                        spaced = _SPACED_IMAGE.findall(text)
                        pictures += [self._picture_block(alt, path) for alt, path in spaced]
                        text = _SPACED_IMAGE.sub("", text)
                    spans += [replace(look, text=text)] if text else []
        return tuple(_joined(spans)), pictures


def _look_behind(look: Span, token: Token) -> Span:
    """Return the look of what stands behind *token*, before which it was *look*."""
    is_open = token.nesting > 0
    match token.type.rpartition("_")[0]:
        case "strong":
            return replace(look, bold=is_open)
        case "em":
            return replace(look, italic=is_open)
        case "s":
            return replace(look, struck=is_open)
        case "link":
            return replace(look, link=str(token.attrs.get("href", "")) if is_open else "")
        case _:
            return look


def _joined(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield *spans* without a space between Chinese lines: these are joined as they are."""
    for number, span in enumerate(spans):
        if span.text == " " and 0 < number < len(spans) - 1:
            before, after = spans[number - 1].text[-1:], spans[number + 1].text[:1]
            if _is_chinese(before) and _is_chinese(after):
                continue
        yield span


def _is_chinese(letter: str) -> bool:
    return bool(letter) and ("\u2e80" <= letter <= "\u9fff" or "\uff00" <= letter <= "\uffef")
