"""A session as a file to keep or to pass on: Markdown to read, JSON to work with."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from core.cards import Card, Change, Link, TextCard
from core.conversation.citations import sources_of
from core.conversation.helper_records import HELPER, unwrapped
from core.conversation.history import repaired
from core.conversation.messages import (
    Assistant,
    Context,
    Record,
    ShellResult,
    StateRecord,
    ToolCall,
    ToolResult,
    User,
    Wire,
)
from core.conversation.proof import PROOF, Proof, proof_in
from core.conversation.store import SessionInfo, Store
from core.events import CommandAnswered
from core.feature import Feature, SessionHandle, command
from core.hooks import BindsToSession, FollowsSession
from core.redaction import map_strings
from modules.sent_requests.request_log import RequestLog, requests_as_json
from utils.i18n import UserError, phrase
from utils.text.codec import to_plain

if TYPE_CHECKING:
    from modules.files.git.secret_scan import SecretNamesIn


class Export(Feature, BindsToSession, FollowsSession):
    """The command `/export`: the session as it is on disk, into a file of the person's choice."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        request_log: RequestLog,
        system: str,
        names_in: SecretNamesIn = lambda _text: (),
    ) -> None:
        """*folder* is where a relative path begins; *system* is the system text of the requests.

        *request_log* has them as they were sent, and *names_in* knows the secrets in a text.
        """
        self._request_log = request_log
        self._names_in = names_in
        self._store = store
        self._folder = folder
        self._system = system
        self._session = ""
        self._session_handle: SessionHandle | None = None

    def bind(self, session_handle: SessionHandle) -> None:
        self._session_handle = session_handle

    def on_session_changed(self, session: str) -> None:
        self._session = session

    @command(
        "/export FILE",
        "Export the session to a file: Markdown, or JSON if the name ends in .json.",
        is_concurrent=True,
        belongs_to_session=True,
    )
    def export(self, argument: str) -> CommandAnswered:
        if not argument:
            raise UserError(phrase("Usage: /export talk.md or /export talk.json"))
        if not self._session:
            raise UserError(phrase("Nothing to export yet."))
        records = [record for _, record in repaired(self._store.load(self._session))]
        info = self._store.info(self._session)
        requests = self._requests(argument)
        if self._session_handle:  # a secret may have become one only after it was said
            redact = self._session_handle.redact
            records, info, requests = map_strings((records, info, requests), redact)
        path = new_file(self._folder, argument)
        card = export(records, info, path, system=self._system, requests=requests)
        names = sorted(self._names_in(path.read_text(encoding="utf-8", errors="replace")))
        if names:  # they are not hidden in this project
            warning = phrase("It contains secrets: {names}", names=", ".join(names))
            body = phrase("{above}\n{below}", above=str(path.resolve()), below=warning)
            card = TextCard(phrase("Exported"), body)
        return CommandAnswered("/export", card, changes=changes_of_file(self._folder, path))

    def _requests(self, name: str) -> list[dict[str, Any]]:
        """Return the requests for an export called *name*, none for one to read."""
        if not _is_json(Path(name)):
            return []
        return requests_as_json(self._request_log.read(self._session))


def new_file(folder: Path, name: str) -> Path:
    """Return the path that *name* means, in quotes or not, seen from *folder*.

    Raises `UserError`.
    """
    if name[:1] in "'\"" and name[:1] == name[-1:] and len(name) > 2:
        name = name[1:-1]
    try:
        return folder / Path(name).expanduser()
    except RuntimeError as error:  # "~somebody" whom the system does not know
        why = str(error)
        raise UserError(phrase("Cannot write {path}: {why}.", path=name, why=why)) from None


def changes_of_file(folder: Path, path: Path) -> tuple[Change, ...]:
    """Return what the new file *path* is to the project *folder*: nothing, if it is elsewhere."""
    path, folder = path.resolve(), folder.resolve()
    if not path.is_relative_to(folder):
        return ()
    return (Change("created", path.relative_to(folder).as_posix()),)


def export(
    records: Sequence[Record],
    info: SessionInfo,
    path: Path,
    *,
    system: str = "",
    requests: Sequence[Mapping[str, Any]] = (),
) -> Card:
    """Write the session to *path*: JSON if that ends in ".json", else Markdown.

    *system* is the system text of the *requests*, both for JSON. Raises `UserError` when the file
    exists or cannot be written, or is to be a page; half a file is never left.
    """
    if path.suffix.lower() in (".html", ".htm"):
        raise UserError(phrase("Export a web page from the browser; here use .md or .json."))
    if _is_json(path):
        document = to_json(records, info, system=system, requests=requests)
        data = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        if not _has_utf8(data):
            data = json.dumps(document, indent=1) + "\n"
    else:
        data = to_markdown(records, info)
    write_new(path, data.encode("utf-8", "replace"))
    return TextCard(phrase("Exported"), str(path.resolve()))


def to_json(
    records: Sequence[Record],
    info: SessionInfo,
    *,
    system: str = "",
    requests: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the session with every message as it goes over the wire, and all that was kept.

    *requests* are those that were sent, oldest first (`modules.sent_requests`).
    """
    system_messages: list[Wire] = [{"role": "system", "content": system}] if system else []
    messages = [record.to_wire() for record in records if not isinstance(record, StateRecord)]
    return {
        "session": info.id,
        "title": info.title,
        "model": info.model,
        "created": info.created,
        "parent": info.parent,
        "messages": system_messages + messages,
        "records": to_plain(list(records)),
        "requests": list(requests),
    }


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def to_markdown(records: Sequence[Record], info: SessionInfo) -> str:
    """Return a transcript to read, thinking folded, calls and their answers in fences."""
    created = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created))
    head = f"# {info.title or info.id}\n\nSession `{info.id}` · {created} · model `{info.model}`"
    return "\n\n".join([head, *_markdown_blocks(records)]) + "\n"


def _markdown_blocks(  # noqa: C901 - one case for each record
    records: Sequence[Record],
) -> Iterator[str]:
    task: list[Record] = []
    helpers: dict[str, list[Record]] = {}
    for record in records:
        task.append(record)
        match record:
            case User():
                task.clear()
                picture_lines = [f"*Picture: {one.description}*" for one in record.pictures]
                yield "\n\n".join(["## You", *picture_lines, record.text])
            case Assistant():
                yield from _reply_blocks(record, sources_of(task))
            case ToolResult():
                if steps := helpers.pop(record.call_id, None):
                    yield _details("Steps of the helper", "\n\n".join(_markdown_blocks(steps)))
                yield f"**{record.name}** {record.state}:\n\n{_fence(record.text)}"
            case ShellResult():
                yield f"**{record.command}** {record.state}:\n\n{_fence(record.text)}"
            case Context("", _):
                pass
            case Context():
                yield _details("Told to the model", _fence(record.text))
            case StateRecord(name, value) if name == PROOF:
                yield from _proof_blocks(proof_in(value))
            case StateRecord(name, value) if name == HELPER:
                helpers.setdefault(value["call"], []).append(unwrapped(value))
            case StateRecord():
                pass
            case _:
                assert_never(record)


def _proof_blocks(proof: Proof) -> Iterator[str]:
    """Yield what was run in a task, as at its end, and what of its answer no run supports."""
    lines = []
    for one in proof.receipts:
        changed = f", changed: {', '.join(one.files)}" if one.files else ""
        code = " ".join(one.command.split()).replace("`", "'")
        lines.append(f"- `{code}`: exit code {one.exit_code}, {one.state}{changed}")
    lines += [f"- Not verified by a run: {one.text}" for one in proof.claims if not one.supported]
    if lines:
        yield "\n".join(["**Receipts**", "", *lines])


def _reply_blocks(reply: Assistant, sources: Mapping[int, Link]) -> Iterator[str]:
    from core.conversation.citation_marks import with_links  # its patterns cost a start 1 ms

    if reply.thinking:
        seconds = f" ({reply.seconds:.0f} s)" if reply.seconds >= 1 else ""
        yield _details(f"Thinking{seconds}", _fence(reply.thinking))
    if reply.text:
        yield f"## Onefold\n\n{with_links(reply.text, sources)}"
    for call in reply.calls:
        yield f"### `{call.name}`\n\n{_fence(_pretty_arguments(call), 'json')}"


def _pretty_arguments(call: ToolCall) -> str:
    try:
        return json.dumps(json.loads(call.arguments or "{}"), ensure_ascii=False, indent=2)
    except ValueError:
        return call.arguments


def _details(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _fence(text: str, language: str = "") -> str:
    """Return *text* in a code fence that it cannot close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_new(path: Path, data: bytes) -> None:
    """Write the new file *path*, whole or not at all. Raises `UserError`, also if it is there."""
    name = str(path)
    try:
        with path.open("xb") as file:
            try:
                file.write(data)
                file.flush()
            except OSError:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise UserError(phrase("{path} already exists. Choose another name.", path=name)) from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        why = getattr(error, "strerror", None) or str(error)
        raise UserError(phrase("Cannot write {path}: {why}.", path=name, why=why)) from None
