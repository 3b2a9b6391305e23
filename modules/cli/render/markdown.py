"""Markdown as Onefold draws it: calm, without boxes, with Chinese wrapped as Chinese is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from markdown_it import MarkdownIt
from rich import markdown
from rich.cells import cell_len, chop_cells
from rich.console import (
    Console,
    ConsoleOptions,
    JustifyMethod,
    OverflowMethod,
    RenderableType,
    RenderResult,
)
from rich.containers import Lines
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from modules.cli.render.citations import linked, mark_citations
from utils.text.clean import clean

CODE_THEME = "ansi_dark"
"""The terminal's own colours: right on a dark background and on a light one."""

_OPENING = "（「『【《〈“‘［｛"
_CLOSING = "，。、；：？！）」』】》〉”’］｝…—～"
_WIDE = "\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_UNIT = re.compile(
    rf"\s+|[{_OPENING}]*(?:(?![{_OPENING}{_CLOSING}])[{_WIDE}]|[^\s{_WIDE}]+)?[{_CLOSING}]*\s*"
)


def breaks(text: str, width: int) -> list[int]:
    """Return the offsets at which *text* is broken to fit *width* cells.

    Between words, and between any two Chinese or Japanese characters, but for marks that must not
    begin or end a line; inside of a word only if it is wider than a line.
    """
    offsets: list[int] = []
    used = 0
    for unit in _UNIT.finditer(text):
        start, cells = unit.start(), cell_len(unit[0].rstrip())
        if used + cells <= width:
            used += cell_len(unit[0])
            continue
        pieces = chop_cells(unit[0], width) if cells > width else [unit[0]]
        for piece in pieces:
            if start:
                offsets.append(start)
            start += len(piece)
        used = cell_len(pieces[-1])
    return offsets


class WrappedText(Text):
    """A text that breaks its lines with `breaks` and pads none of them."""

    def wrap(
        self,
        console: Console,  # noqa: ARG002 - the signature is rich's
        width: int,
        *,
        justify: JustifyMethod | None = None,  # noqa: ARG002
        overflow: OverflowMethod | None = None,  # noqa: ARG002
        tab_size: int = 8,
        no_wrap: bool | None = None,  # noqa: ARG002
    ) -> Lines:
        lines = Lines()
        for line in self.split(allow_blank=True):
            if "\t" in line:
                line.expand_tabs(tab_size)
            for part in line.divide(breaks(line.plain, width)):
                part.rstrip()
                lines.append(part)
        return lines


class _Paragraph(markdown.Paragraph):
    def on_enter(self, context: markdown.MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WrappedText()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _Heading(markdown.Heading):
    def on_enter(self, context: markdown.MarkdownContext) -> None:
        super().on_enter(context)
        self.text = WrappedText()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.text


class _CodeBlock(markdown.CodeBlock):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Padding(code(str(self.text).rstrip("\n"), self.lexer_name), (0, 0, 0, 2))


class _ListItem(markdown.ListItem):
    def render_bullet(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return self._render(console, options, "• ")

    def render_number(
        self,
        console: Console,
        options: ConsoleOptions,
        number: int,
        last_number: int,  # noqa: ARG002
    ) -> RenderResult:
        return self._render(console, options, f"{number}. ")

    def _render(self, console: Console, options: ConsoleOptions, sign: str) -> RenderResult:
        width = max(options.max_width - len(sign), 1)
        lines = console.render_lines(self.elements, options.update(width=width), pad=False)
        for number, line in enumerate(lines):
            yield Segment(" " * len(sign) if number else sign, console.get_style("markdown.sign"))
            yield from line
            yield Segment.line()


class _Cell(markdown.TableDataElement):
    """A cell of a table, wrapped where it is too wide: rich would cut it."""

    def on_leave(self, context: markdown.MarkdownContext) -> None:
        self.content.overflow = "fold"
        super().on_leave(context)


class _HorizontalRule(markdown.HorizontalRule):
    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:  # noqa: ARG002
        yield Text("───", style="dim")


class MarkdownText(markdown.Markdown):
    """One block of Markdown, made harmless; HTML in it is shown as it is written."""

    elements: ClassVar[dict[str, type[markdown.MarkdownElement]]] = {
        **markdown.Markdown.elements,
        "paragraph_open": _Paragraph,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
        "list_item_open": _ListItem,
        "hr": _HorizontalRule,
        "td_open": _Cell,
        "th_open": _Cell,
    }

    def __init__(self, text: str, sources: Mapping[int, str] | None = None) -> None:
        """*sources* are the addresses of what the task has read, by number: see `citations`."""
        # Not rich's own __init__: it makes a parser for each text, which costs more than the rest.
        self.code_theme = self.inline_code_theme = CODE_THEME
        self.justify = self.inline_code_lexer = None
        self.style = "none"
        self.hyperlinks = False
        self.markup = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.parsed = _parser().parse(self.markup)
        self._sources = sources or {}
        if self._sources:
            mark_citations(self.parsed, self._sources)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the block without the blank lines that rich puts around some of them."""
        drawn = super().__rich_console__(console, options)
        segments = (part for part in drawn if isinstance(part, Segment))
        lines = list(Segment.split_lines(segments))
        while lines and _is_blank(lines[-1]):
            lines.pop()
        while lines and _is_blank(lines[0]):
            lines.pop(0)
        for line in lines:
            yield from linked(line, self._sources) if self._sources else line
            yield Segment.line()


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])


def _is_blank(line: list[Segment]) -> bool:
    return not any(segment.text.strip() for segment in line)


def code(text: str, language: str) -> Syntax:
    """Return *text* with colours, on the terminal's own background."""
    return Syntax(text, language, theme=CODE_THEME, background_color="default", word_wrap=True)


@dataclass(frozen=True)
class HangingIndent:
    """A text behind a head; what does not fit on its line goes on below the text, not the head."""

    head: Text
    body: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        margin = self.head.cell_len
        width = max(options.max_width - margin, 1)
        for number, line in enumerate(
            console.render_lines(self.body, options.update(width=width), pad=False)
        ):
            yield from [Segment(" " * margin)] if number else self.head.render(console)
            yield from line
            yield Segment.line()


@dataclass(frozen=True)
class LeftRule:
    """Something with a line along its left side: what a program said.

    Only the last *rows* rows of it are drawn; 0: all.
    """

    body: RenderableType
    rows: int = 0

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(options.max_width - 2, 1)
        lines = console.render_lines(self.body, options.update(width=width), pad=False)
        for line in lines[-self.rows :]:
            yield Segment("│ ", Style(dim=True))
            yield from line
            yield Segment.line()
