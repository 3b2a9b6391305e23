"""The part printed for good, in the order in which it came: the model's text, and all between."""

from __future__ import annotations

from rich.console import RenderableType

from modules.cli.render.live import LiveDisplay
from modules.cli.render.markdown import MarkdownText
from modules.cli.render.markdown_stream import Block, MarkdownStream
from utils.text.clean import clean


class Scrollback:
    """Prints on *display*; the model's text goes through *blocks*, whose tail is not printed yet.

    Whole blocks wait for the next frame, or for whatever is printed behind them.
    """

    def __init__(self, display: LiveDisplay, blocks: MarkdownStream) -> None:
        self._display = display
        self._blocks = blocks
        self._pending: list[Block] = []
        self._is_compact = False
        self.sources: dict[int, str] = {}
        """The addresses of what the task has read, by the numbers that the text may cite."""
        self.has_text = False
        """Whether some of the reply's text stands there."""

    def feed(self, text: str) -> None:
        """Take in a piece of the model's text."""
        self._pending += self._blocks.feed(text)
        if not self._display.is_live:  # then nothing else would print them while the model pauses
            self.print_blocks()

    def flush(self) -> None:
        """Print all of the text: no more of it comes."""
        self._pending += self._blocks.finish()
        self.print_blocks()

    def discard(self) -> None:
        """Forget what of the text was not printed yet."""
        self._blocks.discard()
        self._pending.clear()

    def print_blocks(self) -> None:
        """Print the whole blocks that came since the last frame, all at once."""
        if not self._pending:
            return
        is_first_joined = self._pending[0].is_joined and self.has_text
        rows: list[str] = []
        for block in self._pending:
            if rows and not block.is_joined:
                rows.append("")
            rows += self._rows(block)
        self._pending.clear()
        self.has_text, self._is_compact = True, False
        self._display.write("\n".join(rows), gap=not is_first_joined)

    def print(self, renderable: RenderableType, *, gap: bool = True) -> None:
        """Print *renderable*, after one blank line if *gap*."""
        self.print_blocks()
        self._is_compact = False
        self._display.say(renderable, gap=gap)

    def print_card(self, head: RenderableType, body: RenderableType | None) -> None:
        """Print a card; between two that are a *head* alone no line is left blank."""
        self.print_blocks()
        self._display.say(head, gap=not (body is None and self._is_compact))
        if body is not None:
            self._display.say(body, gap=False)
        self._is_compact = body is None

    def _rows(self, block: Block) -> list[str]:
        if self._display.console.is_terminal:
            return self._display.rows(MarkdownText(block.text, self.sources))
        return [clean(block.text)]  # where no person watches, Markdown is worth more than a picture
