"""How a piece of work wishes to look. Each screen draws each card once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from utils.frozen import frozen
from utils.i18n import Phrase, Text, phrase
from utils.pictures import Picture


@frozen
class Change:
    """One effect on the project folder; *new_path* is set for a rename only."""

    kind: Literal["created", "modified", "deleted", "renamed"]
    path: str
    new_path: str = ""


@frozen
class TextCard:
    """A title, with text of any length below it, and *pictures* that are kept with the session.

    *document* is the path of a document of which the *page*, from 1, is shown; "" for none.
    """

    title: Text
    body: Text = ""
    kind: Literal["text"] = "text"
    pictures: tuple[Picture, ...] = ()
    document: str = ""
    page: int = 1


@frozen
class DiffCard:
    """A changed file; *diff* is a unified diff of its text without the file header lines."""

    path: str
    diff: str
    added: int
    removed: int
    note: Text = ""
    kind: Literal["diff"] = "diff"


OUTSIDE_PLACE = "outside the sandbox"
"""The `RunCard.tier` of a program that nothing confined."""
MACHINE_PLACE = "no sandbox"
"""The `RunCard.tier` of a program on a machine of the agent's own (`--machine`)."""


@frozen
class RunPicture:
    """A picture that a run has made in the project; *size* in bytes."""

    path: str
    mime: str
    size: int = 0


@frozen
class RunCard:
    """A program run; *exit_code* is None when it was killed, and *why* says for what.

    One that still ran when this was made has the number of its *job*, and no exit code either.
    """

    language: Literal["python", "bash"]
    code: str
    output: str
    exit_code: int | None
    why: Text
    seconds: float
    tier: str
    changes: tuple[Change, ...] = ()
    job: int = 0
    kind: Literal["run"] = "run"
    pictures: tuple[RunPicture, ...] = ()
    shown_folders: tuple[str, ...] = ()
    """Folders of the person's, beside the project, that it could read."""
    note: Text = ""
    """What people should know of it beside that."""


@frozen
class Hit:
    """A place found; *line* counts from 1 and is 0 where the whole file is meant."""

    path: str
    line: int
    text: str


@frozen
class SearchCard:
    """Hits of a search in the folder; *total* may be more than the hits carried.

    *too_large* counts the files that were not searched for their size; *is_cut_short* tells of a
    search that its limit ended before it was done.
    """

    pattern: str
    hits: tuple[Hit, ...]
    total: int
    too_large: int = 0
    is_cut_short: bool = False
    kind: Literal["search"] = "search"


@frozen
class TreeEntry:
    """A line of a folder tree; *size* in bytes, None for a folder."""

    path: str
    depth: int
    size: int | None
    note: Text = ""


@frozen
class TreeCard:
    """What is in the folder *path*; *left_out* counts what is not among the *entries*."""

    path: str
    entries: tuple[TreeEntry, ...]
    left_out: int = 0
    kind: Literal["tree"] = "tree"


class Alarm(Phrase):
    """A phrase in a row of a table that is to be seen first."""


@frozen
class TableCard:
    """Rows of cells; without *columns* the first cell of each row is its label.

    *alarms* are the numbers of the rows, from 0, that are shown in red, *gone* those in grey.
    """

    title: Text
    rows: tuple[tuple[Text, ...], ...]
    columns: tuple[Text, ...] = ()
    alarms: tuple[int, ...] = ()
    kind: Literal["table"] = "table"
    gone: tuple[int, ...] = ()


@frozen
class Link:
    """A page of the web; *n* is its number as a source of the task, 0 for none."""

    title: str
    url: str
    snippet: str
    n: int = 0


@frozen
class LinksCard:
    """The pages of the web that a search for *query* found."""

    query: str
    links: tuple[Link, ...]
    kind: Literal["links"] = "links"


@frozen
class Todo:
    """One thing of the model's list of what is to be done."""

    title: str
    status: Literal["pending", "in_progress", "completed"]


@frozen
class TodoCard:
    """The whole list of what is to be done, in its order."""

    todos: tuple[Todo, ...]
    kind: Literal["todo"] = "todo"


PromptSource = Literal["system", "tools", "context", "person", "model", "answers"]
"""Where a part of a request came from: as the status line of the page parts what fills it."""


@frozen
class PromptPart:
    """A part of a request: *text* as the model read it, *label* what it is.

    The server had the first *cached* characters of it from before. *change* says how it stands to
    the request before: one that is "gone" was in that alone.
    """

    source: PromptSource
    label: Text
    text: str
    tokens: int
    cached: int
    change: Literal["", "new", "gone"] = ""


@frozen
class PromptCard:
    """What the model read in one step, in its order, and *facts* of it, each a label and a text.

    One that *is_folded* shows no more than the first words of what came from the cache.
    """

    title: Text
    facts: tuple[tuple[Text, Text], ...]
    parts: tuple[PromptPart, ...]
    is_folded: bool = False
    kind: Literal["prompt"] = "prompt"


@frozen
class LineReceipt:
    """A run of the task in which lines were written; *said* is what it still stands for."""

    command: str
    exit_code: int | None
    state: Literal["green", "red", "grey"]
    said: Text


WrittenBy = Literal["agent", "command", "person", "other"]


@frozen
class LineOrigin:
    """Where the lines of *ranges* (first and last, from 1) come from.

    Of a *call* there are the *session* with its *title*, the *turn*, the words that *asked* for it,
    the *tool* with what it was called (*verb*, "" for what ran in the background) and what it was
    done to (*about*), and the *receipts* of the task. *when* it was there first at the latest is in
    seconds since the epoch, 0 where nobody can tell. *by* is the writer in the words of programs: a
    tool of the agent, a command that it ran, the person in Onefold, or anybody else.
    """

    ranges: tuple[tuple[int, int], ...]
    writer: Literal["call", "person", "others", "before", "unknown"]
    when: float = 0.0
    session: str = ""
    title: str = ""
    turn: int = 0
    call: str = ""
    tool: str = ""
    verb: Text = ""
    about: str = ""
    asked: str = ""
    receipts: tuple[LineReceipt, ...] = ()
    by: WrittenBy = "other"


@frozen
class OriginsCard:
    """Where lines of the file *path* come from, by origin from top to bottom.

    They are its lines *start* to *end*, all for 0; *line* is the text of one alone. *note* says
    what is to be known of the file beside that. Where all have one origin, *by*, *turn*, *call*,
    *task* (the words that asked) and *receipt* (the last one) are those of it, for programs.
    """

    path: str
    origins: tuple[LineOrigin, ...]
    start: int = 0
    end: int = 0
    line: str = ""
    note: Text = ""
    by: WrittenBy | Literal[""] = ""
    turn: int = 0
    call: str = ""
    task: str = ""
    receipt: LineReceipt | None = None
    kind: Literal["origins"] = "origins"


ResultKind = Literal["report", "slides", "sheet", "chart", "page", "data", "code"]
"""What a file is that a task hands over."""
RESULT_NAMES: Mapping[ResultKind, Phrase] = {
    "report": phrase("report"),
    "slides": phrase("slides"),
    "sheet": phrase("sheet"),
    "chart": phrase("chart"),
    "page": phrase("page"),
    "data": phrase("data"),
    "code": phrase("code"),
}


@frozen
class ResultCard:
    """The file *path* that was handed over with the *title*, as the result *number* of its session.

    *size* is in bytes, *facts* what was found in it.
    """

    path: str
    title: str
    result: ResultKind
    number: int
    size: int
    facts: Text = ""
    kind: Literal["result"] = "result"


Card = (
    TextCard
    | DiffCard
    | RunCard
    | SearchCard
    | TreeCard
    | TableCard
    | LinksCard
    | TodoCard
    | PromptCard
    | OriginsCard
    | ResultCard
)
