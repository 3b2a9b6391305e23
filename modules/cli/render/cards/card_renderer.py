"""Each card drawn once, for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, assert_never

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from core.cards import (
    MACHINE_PLACE,
    OUTSIDE_PLACE,
    Card,
    DiffCard,
    LinksCard,
    OriginsCard,
    PromptCard,
    ResultCard,
    RunCard,
    SearchCard,
    TableCard,
    TextCard,
    TodoCard,
    TreeCard,
)
from core.conversation.messages import ResultState
from modules.cli.render.cards.call_titles import CallTitles
from modules.cli.render.cards.card_rows import (
    NO_NEWLINE,
    diff_lines,
    diff_row,
    hit_row,
    size,
    todo_row,
)
from modules.cli.render.cards.columns import Columns
from modules.cli.render.cards.heading import Heading, ShownIfCut
from modules.cli.render.cards.origins import origins_view
from modules.cli.render.cards.plain_cards import (
    change_phrase,
    duration,
    found_phrase,
    is_stopped_job,
    left_out_phrase,
    picture_phrase,
    result_phrase,
    run_ending,
    run_picture_phrase,
    unsearched_phrase,
)
from modules.cli.render.cards.program_view import ProgramView
from modules.cli.render.markdown import LeftRule, WrappedText
from modules.cli.render.theme import MARKS
from modules.translator import Translator
from utils.i18n import Phrase, phrase
from utils.i18n import Text as Said
from utils.text.clean import clean, visible, visible_lines

BRIEF_ROWS = 12
"""Rows of a card in the flow of a task; whoever wants more opens the file."""
FULL_ROWS = 400
MAX_REMARK_CELLS = 50
"""Cells of a text that may stand on the first line of a card."""
INDENT = 2
"""Cells by which the rest of a card is moved to the right of its first line."""
MIN_SHOWN_SECONDS = 0.1
"""Calls that are over sooner are shown without a time."""


class CardRenderer:
    """Draws cards in the language of *translator*. What it returns may be printed as it is.

    Where there is no key that shows all of it (*has_show_all_key*), a program is hardly ever cut.
    """

    def __init__(
        self,
        translator: Translator,
        titles: CallTitles | None = None,
        *,
        has_show_all_key: bool = True,
        show_key: Callable[[], str] = lambda: "Ctrl-O",
    ) -> None:
        self._translator = translator
        self._titles = titles or CallTitles()
        self._has_show_all_key = has_show_all_key
        self.show_key = show_key
        """Returns the name of that key."""

    def head(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        mark: tuple[str, str],
        seconds: float | None = None,
        card: Card | None = None,
        state: ResultState = "done",
        tier: str = "",
    ) -> Heading:
        """Return the first line of a call's card: a mark, a verb, what it is done to, the time.

        *tier* is that of a run which has no *card* yet.
        """
        verb = clean(self._translator.render(self._titles.verb(name)))
        lead = Text.assemble((f"{mark[0]} ", mark[1]), (verb, "bold"))
        about = visible(self._titles.subject(name, arguments))
        is_all = "\n" not in str(arguments.get("command", "")).strip()
        line = Heading(lead, f" {about}" if about else "", is_all=is_all)
        if isinstance(card, DiffCard):
            line.append(f"  +{card.added}", "green")
            line.append(f" −{card.removed}", "red")
        if remark := self._remark(card, state):
            line.append(f" · {remark}", "dim")
        if seconds is not None and seconds >= MIN_SHOWN_SECONDS:
            line.append(f" · {duration(seconds)}", "dim")
        if tier := card.tier if isinstance(card, RunCard) else tier:
            place = _place(tier, len(card.shown_folders) if isinstance(card, RunCard) else 0)
            line.append(f" · {self._translator.render(place)}", "dim")
        return line

    def title(self, name: str, arguments: Mapping[str, Any]) -> Said:
        """Return what a call does and to what, in one line."""
        return self._titles.title(name, arguments)

    def mark(self, card: Card, state: ResultState) -> tuple[str, str]:
        """Return the sign of how a call ended, and its style; a failed program has failed."""
        if isinstance(card, RunCard) and state == "done" and not _is_well(card):
            return MARKS["failed"]
        return MARKS[state]

    def result(
        self,
        card: Card,
        state: ResultState,
        head: Heading,
        command: str = "",
        *,
        rows: int = BRIEF_ROWS,
    ) -> RenderableType | None:
        """Return what stands below *head*, the first line of a finished call, or None.

        The *command* that it ran comes first where that line does not show all of it.
        """
        body = self._result(card, state, rows)
        if command and not (isinstance(card, RunCard) and "\n" in command):
            parts = [self.indented(ShownIfCut(head, self.program(command, "bash", rows)))]
            return Group(*parts, *([body] if body else []))
        return body

    def _result(self, card: Card, state: ResultState, rows: int) -> RenderableType | None:
        if isinstance(card, TextCard) and state != "done":
            return self.indented(self._failure(card, MARKS[state][1]))
        if self._remark(card, state):
            return None
        body = self.card(card, rows=rows, is_result=True)
        return None if body is None else self.indented(body)

    def _remark(self, card: Card | None, state: ResultState) -> str:
        """Return all that *card* adds to the first line of its call if that is short, else ""."""
        if not isinstance(card, TextCard) or state != "done" or card.pictures:
            return ""
        body = self._translator.render(card.body)
        is_short = "\n" not in body and cell_len(visible(body)) <= MAX_REMARK_CELLS
        return visible(body) if is_short else ""

    def answer(self, card: Card, *, ok: bool) -> RenderableType:
        """Return the card that answers a slash command."""
        if ok:
            return self.card(card, rows=FULL_ROWS) or ""
        if isinstance(card, TextCard):
            return self._failure(card, "red")
        return self.card(card, rows=FULL_ROWS) or ""

    def card(  # noqa: C901 - one case for each card
        self, card: Card, *, rows: int, is_result: bool = False
    ) -> RenderableType | None:
        """Return *card* in about *rows* rows; as the *is_result* of a call, its head is known."""
        match card:
            case TextCard():
                return self._text(card, rows, is_result=is_result)
            case DiffCard():
                head = [] if is_result else [WrappedText(visible(card.path), "bold")]
                return self._stack([*head, *self._diff(card, max(rows * 2, BRIEF_ROWS))])
            case RunCard():
                return self._run(card, rows, is_result=is_result)
            case SearchCard():
                return self._stack(self._hits(card, rows))
            case TreeCard():
                return self._stack(self._tree(card, rows, is_result=is_result))
            case TableCard():
                return self._table(card, is_result=is_result)
            case LinksCard():
                return self._stack(self._links(card, rows))
            case TodoCard():
                return self._stack(todo_row(todo) for todo in card.todos)
            case PromptCard():
                return self._stack(self._prompt(card))
            case OriginsCard():
                return origins_view(card, self._translator)
            case ResultCard():
                return self._stack(self._handed_over(card))
            case _:
                assert_never(card)

    def _handed_over(self, card: ResultCard) -> Iterator[RenderableType]:
        yield WrappedText(visible(card.title), "bold")
        yield self.dim(result_phrase(card))

    def _prompt(self, card: PromptCard) -> Iterator[RenderableType]:
        from modules.cli.render.cards.prompt_rows import prompt_rows  # hardly ever needed

        for text, style in prompt_rows(card, self._translator):
            yield WrappedText(text, style)

    def draft(self, card: Card, rows: int, *, width: int) -> tuple[RenderableType, bool]:
        """Return what a call is about to do, to the letter, and whether *rows* cut it.

        *width* is the number of cells in which it will be drawn.
        """
        if isinstance(card, RunCard):
            program = self.program(card.code, card.language, rows)
            return program, program.is_cut(width)
        text = self._literal_text(card)
        is_cut = text.count("\n") >= rows
        shown = visible_lines("\n".join(text.split("\n")[:rows]))
        match card:
            case TextCard():
                title = (
                    self._translator.render(card.title) if isinstance(card.title, Phrase) else ""
                )
                head = [WrappedText(clean(title), "yellow")] if title else []
                body: RenderableType = Group(*head, Text(shown, overflow="fold"))
            case DiffCard():
                body = self._stack(self._diff(card, rows)) or ""
                return body, is_cut  # it says itself how much more there is
            case _:
                body = self.card(card, rows=rows, is_result=True) or ""
        if is_cut:
            body = Group(body, self.more(text.count("\n") + 1 - rows))
        return body, is_cut

    def _literal_text(self, card: Card) -> str:
        """Return what of *card*, which is no program, must be read to the letter before a yes."""
        match card:
            case DiffCard():
                return card.diff
            case TextCard():
                return self._translator.render(card.body)
            case _:
                return ""

    def more(self, count: int) -> Text:
        return self.dim(
            phrase("… 1 more line") if count == 1 else phrase("… {n:,} more lines", n=count)
        )

    def line(self, text: Said, style: str = "") -> Text:
        """Return a sentence of Onefold's own."""
        return WrappedText(clean(self._translator.render(text)), style)

    def dim(self, text: Said) -> Text:
        return self.line(text, "dim")

    def indented(self, body: RenderableType) -> RenderableType:
        return Padding(body, (0, 0, 0, INDENT))

    # --- one card each ---------------------------------------------------------------------------

    def _stack(self, parts: Sequence[RenderableType] | Iterator[RenderableType]) -> Group | None:
        shown = list(parts)
        return Group(*shown) if shown else None

    def _failure(self, card: TextCard, style: str) -> RenderableType:
        title_and_body = phrase("{title}: {body}", title=card.title, body=card.body)
        text = title_and_body if card.title and card.body else card.title or card.body
        return WrappedText(clean(self._translator.render(text)), style)

    def _text(self, card: TextCard, rows: int, *, is_result: bool) -> RenderableType | None:
        title, body = (
            clean(self._translator.render(text)).strip("\n") for text in (card.title, card.body)
        )
        lines = body.split("\n") if body else []
        parts: list[RenderableType] = []
        if title and not is_result:
            parts.append(WrappedText(title, "bold"))
        parts += [WrappedText(line, "dim" if is_result else "") for line in lines[:rows]]
        if len(lines) > rows:
            parts.append(self.more(len(lines) - rows))
        parts += [self.dim(picture_phrase(picture)) for picture in card.pictures]
        return self._stack(parts)

    def _diff(self, card: DiffCard, limit: int) -> Iterator[RenderableType]:
        if note := self._translator.render(card.note):
            yield self.dim(note)
        lines = list(diff_lines(card.diff))
        digits = max((len(str(number)) for _, number, _ in lines), default=1)
        for sign, number, text in lines[:limit]:
            if sign == "\\":
                yield self.dim(" " * (digits + 3) + self._translator.render(NO_NEWLINE))
            else:
                yield diff_row(sign, number, text, digits)
        if len(lines) > limit:
            yield self.more(len(lines) - limit)

    def _run(self, card: RunCard, rows: int, *, is_result: bool) -> RenderableType | None:
        parts: list[RenderableType] = []
        if not (is_result and _fits_heading(card)):
            parts.append(self.program(card.code, card.language, rows))
        parts += self._output(card.output, rows)
        if card.exit_code != 0 or not card.output.strip():
            text = clean(self._translator.render(run_ending(card, self._translator)))
            parts.append(WrappedText(text, "dim" if _is_well(card) else "red"))
        parts += [self.dim(run_picture_phrase(picture)) for picture in card.pictures]
        parts += [self.dim(change_phrase(change)) for change in card.changes[:rows]]
        if len(card.changes) > rows:
            parts.append(self.dim(left_out_phrase(len(card.changes) - rows)))
        if card.note:
            parts.append(self.dim(card.note))
        return Group(*parts)

    def program(self, text: str, language: str, rows: int) -> ProgramView:
        """Return a program in about *rows* rows; a key shows what of it they leave out."""
        max_rows = rows if self._has_show_all_key else max(rows, FULL_ROWS)
        return ProgramView(visible_lines(text.strip("\n")), language, max_rows, self._rows_left_out)

    def _rows_left_out(self, count: int) -> Text:
        if self._has_show_all_key:
            return self.dim(
                phrase("… {n:,} more rows · {key} shows all", n=count, key=self.show_key())
            )
        return self.dim(phrase("… {n:,} more rows", n=count))

    def _output(self, output: str, rows: int) -> Iterator[RenderableType]:
        """Yield the last *rows* lines of *output*."""
        lines = clean(output).strip("\n").split("\n")
        if lines == [""]:
            return
        if len(lines) > rows:
            hidden = len(lines) - rows
            above = (
                phrase("… 1 line above") if hidden == 1 else phrase("… {n:,} lines above", n=hidden)
            )
            yield self.dim(above)
        yield LeftRule(Text("\n".join(lines[-rows:]), overflow="fold"))

    def _hits(self, card: SearchCard, rows: int) -> Iterator[RenderableType]:
        for path, hits in groupby(card.hits[:rows], key=lambda hit: hit.path):
            yield WrappedText(visible(path), "cyan")
            for hit in hits:
                if hit.line:
                    yield hit_row(hit.line, hit.text, card.pattern)
        hidden = len(card.hits) - rows
        if hidden > 0:
            yield self.dim(left_out_phrase(hidden + card.total - len(card.hits)))
        elif remainder := self._translator.render(found_phrase(card)):
            yield self.dim(remainder)
        if card.too_large or card.is_cut_short:
            yield self.dim(unsearched_phrase(card))

    def _tree(self, card: TreeCard, rows: int, *, is_result: bool) -> Iterator[RenderableType]:
        if not is_result:
            yield Text(visible(card.path) or ".", "bold")
        for entry in card.entries[:rows]:
            name = visible(entry.path.rpartition("/")[2])
            indent = entry.depth - is_result  # the head of a call is no row of the tree
            row = Text("  " * indent, no_wrap=True, overflow="ellipsis")
            row.append(f"{name}/" if entry.size is None else name, "bold" * (entry.size is None))
            if entry.size is not None:
                row.append(f"  {size(entry.size)}", "dim")
            if entry.note:
                row.append(f"  {visible(self._translator.render(entry.note))}", "italic dim")
            yield row
        hidden = max(len(card.entries) - rows, 0) + card.left_out
        if hidden:
            yield self.dim(left_out_phrase(hidden))

    def _table(self, card: TableCard, *, is_result: bool) -> RenderableType:
        head = tuple(self._cell(cell) for cell in card.columns)
        rows = tuple(tuple(map(self._cell, row)) for row in card.rows)
        table = Columns(head, rows, card.alarms, card.gone)
        title = "" if is_result else clean(self._translator.render(card.title))
        return Group(WrappedText(title, "bold"), table) if title else table

    def _cell(self, cell: Said) -> str:
        return clean(self._translator.render(cell))

    def _links(self, card: LinksCard, rows: int) -> Iterator[RenderableType]:
        for link in card.links[:rows]:
            number = f"[{link.n}] " if link.n else ""
            yield WrappedText(f"{number}{visible(link.title)}", "bold")
            yield Padding(Text(visible(link.url), "blue", overflow="fold"), (0, 0, 0, 2))
            if link.snippet:
                snippet = Text(" ".join(clean(link.snippet).split()), "dim")
                snippet.no_wrap, snippet.overflow = True, "ellipsis"
                yield Padding(snippet, (0, 0, 0, 2))
        if len(card.links) > rows:
            yield self.dim(left_out_phrase(len(card.links) - rows))
        if not card.links:
            yield self.dim(phrase("No matches."))


def _is_well(card: RunCard) -> bool:
    return card.exit_code == 0 or bool(card.job) or is_stopped_job(card)


def _fits_heading(card: RunCard) -> bool:
    """Return whether *card* is of a command that the first line of its call shows."""
    return card.language == "bash" and "\n" not in card.code.strip()


def _place(tier: str, shown: int) -> Phrase:
    """Return where a run of *tier* is, with the number of the person's folders *shown* to it."""
    if tier == OUTSIDE_PLACE:
        return phrase("outside the sandbox")
    if tier == MACHINE_PLACE:
        return phrase("no sandbox")
    place = phrase("sandbox {tier}", tier=visible(tier.partition(":")[0]))
    if not shown:
        return place
    folders = phrase("1 folder shown") if shown == 1 else phrase("{n} folders shown", n=shown)
    return phrase("{tier}, {shown}", tier=place, shown=folders)
