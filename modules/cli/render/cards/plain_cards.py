"""Cards as plain text: for pipes, logs and whoever wants no drawing. Imports no screen library."""

from __future__ import annotations

from itertools import zip_longest
from typing import assert_never
from unicodedata import east_asian_width

from core.cards import (
    RESULT_NAMES,
    Card,
    Change,
    DiffCard,
    Link,
    LinksCard,
    OriginsCard,
    PromptCard,
    ResultCard,
    RunCard,
    RunPicture,
    SearchCard,
    TableCard,
    TextCard,
    TodoCard,
    TreeCard,
    TreeEntry,
)
from modules.cli.render.cards.origin_lines import origin_lines
from modules.translator import Translator
from utils.i18n import Phrase, Text, phrase
from utils.llm.completion import Usage
from utils.llm.prices import in_money
from utils.pictures import Picture
from utils.text.clean import clean, visible, visible_lines, visible_text
from utils.text.lines import format_size

TODO_MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


def card_text(card: Card, translator: Translator) -> str:
    """Return all that *card* says, harmless for a terminal, without a newline at the end."""
    match card:
        case TextCard():
            shown = [translator.render(picture_phrase(picture)) for picture in card.pictures]
            return _join_lines(translator.render(card.title), translator.render(card.body), *shown)
        case DiffCard():
            head = f"{visible(card.path)} (+{card.added} -{card.removed})"
            return _join_lines(head, translator.render(card.note), card.diff)
        case RunCard():
            pictures = [run_picture_phrase(picture) for picture in card.pictures]
            changes = [change_phrase(change) for change in card.changes]
            lines = [translator.render(line) for line in (*pictures, *changes, card.note)]
            return _join_lines(card.output, translator.render(run_ending(card, translator)), *lines)
        case SearchCard():
            hits = [f"{visible(hit.path)}:{hit.line}: {hit.text.strip()}" for hit in card.hits]
            return _join_lines(
                *hits,
                translator.render(found_phrase(card)),
                translator.render(unsearched_phrase(card)),
            )
        case TreeCard():
            rows = ["  " * e.depth + _tree_row(e, translator) for e in card.entries]
            return _join_lines(
                visible(card.path) or ".", *rows, translator.render(left_out_phrase(card.left_out))
            )
        case TableCard():
            return _join_lines(translator.render(card.title), _table(card, translator))
        case LinksCard():
            return _join_lines(*map(_link_lines, card.links))
        case TodoCard():
            return _join_lines(*(f"{TODO_MARKS[todo.status]} {todo.title}" for todo in card.todos))
        case PromptCard() | OriginsCard() | ResultCard():
            return _rare_card_text(card, translator)
        case _:
            assert_never(card)


def _rare_card_text(card: PromptCard | OriginsCard | ResultCard, translator: Translator) -> str:
    if isinstance(card, ResultCard):
        return _join_lines(card.title, translator.render(result_phrase(card)))
    if isinstance(card, OriginsCard):
        return _join_lines(*origin_lines(card, translator))
    from modules.cli.render.cards.prompt_rows import prompt_rows  # hardly ever needed

    return "\n".join(text.rstrip("\n") for text, _ in prompt_rows(card, translator))


def asked_text(card: Card, translator: Translator) -> str:
    """Return all that *card*, which shows what is asked about, says, to be judged by a reader.

    Of a program that is the program, to the letter.
    """
    match card:
        case RunCard():
            return visible_text(card.code)
        case TextCard():
            return visible_text(_lines(translator.render(card.title), translator.render(card.body)))
        case DiffCard():
            head = f"{visible(card.path)} (+{card.added} -{card.removed})"
            return _lines(head, clean(translator.render(card.note)), visible_text(card.diff))
        case _:
            return card_text(card, translator)


def _lines(*parts: str) -> str:
    return "\n".join(filter(None, parts))


def _tree_row(entry: TreeEntry, translator: Translator) -> str:
    name = visible(entry.path.rpartition("/")[2])
    head = f"{name}/" if entry.size is None else f"{name}  {format_size(entry.size)}"
    return f"{head}  {visible(translator.render(entry.note))}" if entry.note else head


def _link_lines(link: Link) -> str:
    number = f"[{link.n}] " if link.n else ""
    return f"{number}{link.title}\n  {link.url}"


def _join_lines(*parts: str) -> str:
    return "\n".join(clean(part).rstrip("\n") for part in parts if part)


def _table(card: TableCard, translator: Translator) -> str:
    """Return the rows of *card* in columns; all lines of a cell stay in its own."""
    rows = [
        [visible_lines(translator.render(cell)).split("\n") for cell in row]
        for row in (card.columns, *card.rows)
        if row
    ]
    columns = max(map(len, rows), default=0)
    widths = [
        max(_cells(line) for row in rows if i < len(row) for line in row[i]) for i in range(columns)
    ]
    lines = (
        "  ".join(cell + " " * (widths[i] - _cells(cell)) for i, cell in enumerate(line))
        for row in rows
        for line in zip_longest(*row, fillvalue="")
    )
    return "\n".join(line.rstrip() for line in lines)


def _cells(text: str) -> int:
    """Return the columns of a terminal that *text* takes; a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


# --- sentences that both drawings of a card need -------------------------------------------------


def run_ending(card: RunCard, translator: Translator) -> Phrase:
    """Return how the run of *card* ended: its exit code, or what killed it, or that it runs on."""
    if card.job:
        return phrase("job {n} is running", n=card.job)
    if is_stopped_job(card):
        return phrase("stopped")
    if card.exit_code is None:
        return phrase("stopped: {why}", why=translator.render(card.why) or "–")
    return phrase("exit code {code}", code=card.exit_code)


def is_stopped_job(card: RunCard) -> bool:
    """Return whether *card* is of a job that was told to stop: it has not failed."""
    return isinstance(card.why, Phrase) and card.why.template == "job {n} was stopped"


def change_phrase(change: Change) -> Phrase:
    path, new_path = visible(change.path), visible(change.new_path)
    match change.kind:
        case "created":
            return phrase("created {path}", path=path)
        case "modified":
            return phrase("modified {path}", path=path)
        case "deleted":
            return phrase("deleted {path}", path=path)
        case "renamed":
            return phrase("renamed {path} to {new_path}", path=path, new_path=new_path)
        case _:
            assert_never(change.kind)


def run_picture_phrase(picture: RunPicture) -> Phrase:
    """Tell of a picture that a run has made."""
    size = format_size(picture.size)
    return phrase("picture {path} ({size})", path=visible(picture.path), size=size)


def result_phrase(card: ResultCard) -> Phrase:
    """Tell of the file that *card* hands over."""
    kind, path, size = RESULT_NAMES[card.result], visible(card.path), format_size(card.size)
    if not card.facts:
        return phrase("{kind} {path} · {size}", kind=kind, path=path, size=size)
    return phrase(
        "{kind} {path} · {size} · {facts}", kind=kind, path=path, size=size, facts=card.facts
    )


def picture_phrase(picture: Picture) -> Phrase:
    """Tell of a picture that is kept with the session."""
    return phrase("picture {what}", what=visible(picture.description))


def found_phrase(card: SearchCard) -> Phrase:
    if not card.total:
        return phrase("No matches.")
    if card.total > len(card.hits):
        return phrase("… and {n:,} more", n=card.total - len(card.hits))
    return Phrase("")


def unsearched_phrase(card: SearchCard) -> Phrase:
    """Say that files were not searched, if that is so: too large, or the limit came first."""
    if card.is_cut_short:
        return phrase("The search timed out; results are incomplete.")
    if not card.too_large:
        return Phrase("")
    n = card.too_large
    files = phrase("1 file") if n == 1 else phrase("{n:,} files", n=n)
    return phrase("Too large to search: {files}", files=files)


def left_out_phrase(count: int) -> Phrase:
    return phrase("… and {n:,} more", n=count) if count else Phrase("")


def duration(seconds: float) -> str:
    """Return a time as people write it: 0.4 s (a whole number: 4 s), 12 s, 3 min 05 s."""
    if isinstance(seconds, float) and seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def usage_parts(usage: Usage, yuan: float = 0.0) -> list[Text]:
    """Return what a turn used, by parts; nothing when the model was not asked.

    *yuan* is what a dollar of it is in yuan; 0: its cost is in dollars alone.
    """
    if not usage.requests:
        return []
    cached = round(100 * usage.cache_hit_tokens / max(usage.prompt_tokens, 1))
    return [
        phrase("{n:,} tokens sent, {cached} % from cache", n=usage.prompt_tokens, cached=cached),
        phrase("{n:,} received", n=usage.completion_tokens),
        in_money(usage.cost_usd, yuan),
    ]
