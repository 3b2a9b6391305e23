"""Long-term memory: what every session of a project should know, in a file people may edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cards import Card, TableCard, TextCard
from core.conversation.messages import MEMORY_MARKS, ToolResult, User
from core.events import Informed
from core.feature import Feature, Section, SessionHandle, command
from core.hooks import (
    BindsToSession,
    FinishesTurns,
    FollowsSession,
    KeepsState,
    PreparesContext,
    ProposesCommands,
    ProvidesContext,
    ProvidesStatus,
)
from core.tools import Outcome, Risk, ToolError, tool
from modules.memory.memory_items import (
    MemoryItem,
    blocks_of,
    category_of,
    decode_lines,
    encode,
    item_line,
    items_of,
    parse_line,
    with_item,
    without_item,
)
from modules.memory.task_memory import TaskMemory
from utils.i18n import Phrase, Text, UserError, phrase
from utils.system.shared_file import SharedFile, Stamp
from utils.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from modules.memory.memory_offers import Offer
    from modules.memory.session_decisions import SessionDecisions

ADDRESS = "@memory"
MAX_TOKENS = 2_000
"""Tokens up to which the model is told the whole memory; of a longer one, what fits the task."""
_GAP = r"\n\s*\n"
_EMPTY_SECTION = r"(?m)^#[^\n]*+\n++(?=#|\Z)"
_HEADING_FOR_MODEL = "Memory of earlier sessions, agreed with the person:"
_LONG_MEMORY = (
    "Memory of earlier sessions, agreed with the person: it is long, and below stands what may "
    f'fit the task. Reading "{ADDRESS}" shows all.'
)
_MOST_OFFERS = 5  # decisions of earlier sessions
_MAX_ITEM_LENGTH = 1_000  # characters that the model is told of a single one


class Memory(
    Feature,
    ProvidesContext,
    PreparesContext,
    BindsToSession,
    FollowsSession,
    ProvidesStatus,
    KeepsState,
    FinishesTurns,
    ProposesCommands,
):
    """The memory of one project in the Markdown file *path*; *today* is what it is dated by.

    Beside it stands *task_memory*, that of the session. What the person says that sounds as if it
    should last is offered to be remembered, once: *offered* is the file that knows what was. What a
    session decided is in the file *decided* until it was offered in the one after it.
    """

    def __init__(
        self,
        path: Path,
        offered: Path,
        decided: Path,
        task_memory: TaskMemory,
        *,
        today: Callable[[], date] = date.today,
    ) -> None:
        self._file = SharedFile(path)
        self._offered = SharedFile(offered)
        self._task_memory = task_memory
        self._today = today
        self._decided_file = SharedFile(decided)
        self._decisions: SessionDecisions | None = None
        self._offers: Sequence[Offer] = ()
        self._is_just_opened = True
        self.offers_decisions = True
        """Whether somebody is there after a task, to say what is worth remembering."""
        self._proposals: list[Informed] = []
        self._cached_text: tuple[Stamp | None, str] = (None, "")
        self._is_long = False
        self._cached_lines: tuple[Stamp | None, list[str]] = (None, [])
        self._session_handle: SessionHandle | None = None
        self._recalled: list[str] = []
        self._recalled_for: tuple[str, str, Stamp | None] | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    @tool(
        Risk.WRITE,
        phrase("Remember a sentence for later sessions."),
        verb=phrase("Remember"),
        icon="brain",
        subject="{text}",
        state="memory",
        # Nothing enters the memory without the person's yes, whatever else needs none.
        always_ask=phrase(
            "What is remembered is told to the model in every later session of this project."
        ),
    )
    def remember(self, text: str, category: str = "fact") -> Outcome:
        """Keep one fact, preference or decision for later sessions. Only what lasts and is not
        in the files."""
        item = self._add_item(text, category)
        card = TextCard(phrase("Remembered"), phrase("as {id}", id=item.id))
        return Outcome("Remembered for later sessions.", card)

    @command(
        "/memory [task]",
        "Show the memory of this project, or of this session.",
        is_concurrent=True,
    )
    def show(self, argument: str) -> Card:
        if argument:
            return self._task_card(argument)
        items = items_of(self._text())
        if not items:
            return TextCard(
                phrase("Memory"),
                phrase(
                    "Nothing remembered yet. Add something with /remember TEXT. It is saved "
                    "in {path}.",
                    path=str(self._file.path),
                ),
            )
        rows = tuple((item.id, item.line) for item in items)
        return TableCard(phrase("Memory: {path}", path=str(self._file.path)), rows)

    def _task_card(self, argument: str) -> Card:
        if argument != "task":
            problem = phrase("/memory shows the memory, /memory task that of this session.")
            raise UserError(problem)
        title = phrase("Memory of this session: {path}", path=str(self._task_memory.path))
        sections = self._task_memory.now().sections()
        rows = tuple((name, line) for name, lines in sections for line in lines)
        return TableCard(title, rows) if rows else TextCard(title, phrase("Nothing yet."))

    @command(
        "/remember [TEXT]",
        "Remember TEXT, or the last suggestion, for later sessions of this project.",
        is_concurrent=True,
        shortcut=MEMORY_MARKS,
    )
    def remember_command(self, argument: str) -> Card:
        lines = [argument] if argument else [offer.line for offer in self._offers]
        if not lines:
            raise ToolError(phrase("Usage: /remember TEXT"))
        title = phrase("Remembered")
        if len(lines) == 1:
            item = self._add_item(lines[0], "fact")
            return TextCard(title, f"{item.id}  {item.line}")
        rows: list[tuple[str, str]] = []
        for line in lines:
            with suppress(ToolError):  # that one is remembered already
                item = self._add_item(line, "fact")
                rows.append((item.id, item.line))
        return TableCard(title, tuple(rows)) if rows else TextCard(phrase("Nothing new."))

    @command(
        "/forget ID",
        "Forget the entry ID of /memory.",
        is_concurrent=True,
    )
    def forget(self, argument: str) -> Card:
        if not argument:
            raise ToolError(phrase("Usage: /forget ID. /memory shows the IDs."))
        forgotten: list[MemoryItem] = []

        def without(before: bytes) -> bytes:
            forgotten[:] = [_find_item(before, argument)]
            lines = decode_lines(before)
            return encode("".join(lines[: forgotten[0].start] + lines[forgotten[0].end :]))

        self._file.change(without)
        return TextCard(phrase("Forgotten"), forgotten[0].line)

    def before_request(self) -> None:
        """Recall what fits the task, once for each, where the memory is too long to be told."""
        handle, text = self._session_handle, self._for_model()
        if handle is None or not self._is_long:
            return
        task = (handle.session, handle.task, self._cached_text[0])
        if not handle.task or task == self._recalled_for:
            return
        from modules.memory.memory_recall import recall  # for long memories only

        self._recalled_for = task
        for item in recall(blocks_of(text), handle.task, self._today()):
            if item.id not in self._recalled:
                self._recalled.append(item.id)

    def context(self) -> Iterable[Section]:
        text = self._for_model()
        if not self._is_long:
            return [_section(_HEADING_FOR_MODEL, text.splitlines())]
        items = {item.id: item for item in blocks_of(text)} if self._recalled else {}
        recalled = [_cut(f"- {items[id_].line}") for id_ in self._recalled if id_ in items]
        return [_section(_LONG_MEMORY, recalled or ["(Nothing.)"])]

    def read(self, address: str) -> str:
        """Return all that the model may read at *address*. Raises `ToolError` for another one."""
        if address != ADDRESS:
            raise ToolError(phrase("The memory is at {address}.", address=ADDRESS))
        return self._for_model() + "\n"

    def on_session_changed(self, session: str) -> None:  # noqa: ARG002
        self._is_just_opened = True

    def on_turn_finished(self) -> None:
        """Offer what the person said or decided in the turn, unless the model remembered some; else
        what sessions before decided, once after this one was opened."""
        handle = self._session_handle
        if handle is None:
            return
        try:
            offers = self._new_offers(handle)
        except UserError:  # the disk: /memory and /status tell of it, and nothing is lost
            return
        if offers:
            self._offers = offers
            self._proposals.append(Informed(_proposal(offers), command="/remember"))

    def _new_offers(self, handle: SessionHandle) -> Sequence[Offer]:
        """Return what to offer at the end of a turn. Raises `UserError`."""
        from modules.memory.session_decisions import SessionDecisions  # for ends of turns

        if self._decisions is None:
            self._decisions = SessionDecisions(self._decided_file)
        own = self._task_memory.lasting_decisions()
        self._decisions.keep(handle.session, [handle.redact(line) for line in own])
        if offer := self._new_offer(handle):
            return [offer]
        if not (self._is_just_opened and self.offers_decisions):
            return ()
        self._is_just_opened = False
        return self._unheard(self._decisions.take_others(handle.session))

    def _unheard(self, decisions: Sequence[str]) -> Sequence[Offer]:
        """Return offers of the newest *decisions* that were neither offered nor remembered."""
        from modules.memory.memory_offers import Offer, OfferedTexts

        known = {item.text for item in items_of(self._text())}
        offers = [Offer(line, "fact") for line in decisions if line not in known]
        texts = OfferedTexts(self._offered)
        return [offer for offer in offers[-_MOST_OFFERS:] if texts.add(offer)]

    def _new_offer(self, handle: SessionHandle) -> Offer | None:
        from modules.memory.memory_offers import (
            Offer,
            OfferedTexts,
            find_offer,
        )  # for ends of turns

        history = handle.history
        records = [one for one in history.records if one[0] == history.turn]
        remember = self.remember.__name__
        if any(isinstance(r, ToolResult) and r.name == remember for _, r in records):
            return None
        said = [r.text for _, r in records if isinstance(r, User) and not r.is_private]
        decided = self._task_memory.decided_by_person(records)
        offer = find_offer(said[0]) if said else None
        if offer is None and decided:
            offer = Offer(decided[-1], "fact")
        known = {item.text for item in items_of(self._text())}
        if offer is None or offer.text in known:
            return None
        return offer if OfferedTexts(self._offered).add(offer) else None

    def proposals(self) -> Sequence[Informed]:
        pending, self._proposals = self._proposals, []
        return pending

    def status(self) -> Iterable[tuple[Phrase, Text]]:
        try:
            count = len(items_of(self._text()))
        except UserError as error:
            return [(phrase("Memory"), error.message)]
        path = str(self._file.path)
        return [(phrase("Memory"), phrase("{count} saved in {path}", count=count, path=path))]

    def state(self) -> dict[str, Any]:
        """Return the items, which a session does not own, and which of them it was told."""
        stamp = self._file.stamp()
        if stamp != self._cached_lines[0]:
            with suppress(UserError):  # /memory and /status tell of it
                self._cached_lines = (stamp, [item.line for item in items_of(self._text())])
        recalled = {"recalled": list(self._recalled)} if self._recalled else {}
        return {"memory": self._cached_lines[1], **recalled}

    def restore(self, state: dict[str, Any]) -> None:
        """Leave the memory as it is: it is the project's, whichever session goes on."""
        self._recalled = list(state.get("recalled", ()))
        self._recalled_for = None

    def undo_change(self, before: Any, after: Any) -> list[Phrase]:
        """Forget the items that *after* has more than *before*, and remember those it has less."""
        undone: list[Phrase] = []
        remembered = {item.line for item in items_of(self._text())}
        for line in after or []:
            if line not in (before or []) and _current_line(line) in remembered:
                self._file.change(partial(without_item, line=line))
                undone.append(phrase("forgotten: {text}", text=line))
        for line in before or []:
            if line not in (after or []) and _current_line(line) not in remembered:
                self._file.change(partial(with_item, line=line))
                undone.append(phrase("remembered again: {text}", text=line))
        return undone

    def _add_item(self, text: str, category: str) -> MemoryItem:
        words = " ".join(text.split())
        if not words:
            raise ToolError(phrase("There is nothing to remember: the text is empty."))
        label = " ".join(category.split())
        if (known := category_of(label)) is None and label:
            words = f"{label}: {words}"
        kind, day, words = parse_line(words, known or "fact")
        if day is None:
            day = self._today()
        for item in items_of(self._text()):
            if (item.category, item.text) == (kind, words):
                raise ToolError(phrase("That is remembered already, as {id}.", id=item.id))
        self._file.change(lambda before: with_item(before, item_line(kind, day, words)))
        added = (kind, words)
        return next(i for i in items_of(self._text()) if (i.category, i.text) == added)

    def _text(self) -> str:
        return "".join(decode_lines(self._file.read()))

    def _for_model(self) -> str:
        """Return the memory as the model reads it, and find out whether it is long."""
        stamp = self._file.stamp()
        if stamp != self._cached_text[0]:
            text = _without_comments(self._text_or_nothing())
            self._cached_text = (stamp, text)
            self._is_long = estimate_tokens(text) > MAX_TOKENS
        return self._cached_text[1]

    def _text_or_nothing(self) -> str:
        try:
            return self._text()
        except UserError:  # told by /memory and /status; the model can do nothing about it
            return ""


def _without_comments(text: str) -> str:
    """Return *text* without comments, gaps, and headings that have nothing below them."""
    parts, end = [], 0
    while (start := text.find("<!--", end)) >= 0 and (close := text.find("-->", start + 4)) >= 0:
        parts.append(text[end:start])
        end = close + len("-->") + text.startswith("\n", close + len("-->"))
    text = "".join([*parts, text[end:]]).encode("utf-8", "replace").decode()
    text = re.sub(_GAP, "\n", text).strip().removeprefix("# Memory").strip()
    return re.sub(_EMPTY_SECTION, "", text).strip()


def _proposal(offers: Sequence[Offer]) -> Phrase:
    if len(offers) == 1:
        text = offers[0].text
        return phrase("Remember “{text}” for later sessions? /remember saves it.", text=text)
    return phrase(
        "Earlier sessions decided {count} things. /remember saves them for later ones: {texts}",
        count=len(offers),
        texts="; ".join(f"“{offer.text}”" for offer in offers),
    )


def _cut(line: str) -> str:
    return line if len(line) <= _MAX_ITEM_LENGTH else f"{line[:_MAX_ITEM_LENGTH]}…"


def _section(heading: str, lines: Sequence[str]) -> Section:
    """Return *lines* under *heading*; a change of them is told by what came and what went."""
    if not lines:
        return Section("memory", "")
    whole = "\n".join([heading, *lines])

    def describe_change(previous: str) -> str:
        before = previous.splitlines()
        added = [line for line in lines if line.strip() and line not in before]
        removed = [line for line in before[1:] if line.strip() and line not in lines]
        change = "\n".join(
            [
                *(["Added to the memory:", *added] if added else []),
                *(["No longer in the memory:", *removed] if removed else []),
            ]
        )
        return change if change and len(change) < len(whole) else whole

    return Section("memory", whole, describe_change)


def _current_line(line: str) -> str:
    """Return *line*, which an older version may have kept, as `MemoryItem.line` has it."""
    return item_line(*parse_line(line))


def _find_item(data: bytes, id_prefix: str) -> MemoryItem:
    items = items_of("".join(decode_lines(data)))
    matches = [item for item in items if item.id == id_prefix] or [
        item for item in items if item.id.startswith(id_prefix.lower())
    ]
    if len(matches) != 1:
        raise ToolError(phrase("No memory {id!r}. /memory shows the IDs.", id=id_prefix))
    return matches[0]
