"""Routes about the files of the project."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from core.feature import name_of
from modules.focus import Focus
from modules.web.files import file_names
from modules.web.files.content import MAX_FILE_BYTES, MAX_PATH_LENGTH, FileContents
from modules.web.files.running_pages import RunningPages
from modules.web.files.tree_listing import DEFAULT_COUNT, TreeListing
from modules.web.http.errors import ApiError
from modules.web.http.params import Bounds, Verbatim
from modules.web.http.routes import BinaryResponse, route
from modules.web.sessions.page_redaction import PageRedactor
from modules.web.sessions.session_registry import SessionRegistry
from utils.i18n import Text, phrase
from utils.text.clean import visible
from utils.text.codec import from_plain

_FRAME_ANCESTORS = "frame-ancestors 'self'"
_ACTIVE_CSP = (
    f"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; {_FRAME_ANCESTORS}"
)
_PASSIVE_CSP = (
    f"default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; {_FRAME_ANCESTORS}"
)
_PATH = Annotated[str, "Of a file or folder, seen from the project.", Bounds(1, MAX_PATH_LENGTH)]
_TEXT = Annotated[str, "All that the file is to hold.", Verbatim()]
_BASE = Annotated[str | None, "The hash it was read with; null for a new file."]
_LINE = Annotated[int, "From 1; 0 for the whole file.", Bounds(0)]
_PATH_ANSWER = {"path": "As it is shown, and accepted."}


class FilesApi:
    """Answers about the files of the project."""

    def __init__(
        self,
        files: FileContents,
        listing: TreeListing,
        registry: SessionRegistry,
        redactor: PageRedactor,
        pages: RunningPages,
    ) -> None:
        self._files = files
        self._listing = listing
        self._registry = registry
        self._redactor = redactor
        self._pages = pages

    @route(
        "GET",
        "/api/files",
        "List one folder, or a part of it.",
        answer={
            "path": "Of the folder.",
            "start": "The place of the first entry.",
            "total": "How many entries the folder has.",
            "order": "Parts of another order do not belong together.",
            "entries": "The part, folders first.",
        },
    )
    def folder(
        self,
        path: str = "",
        session: str = "",
        start: int = 0,
        count: int = DEFAULT_COUNT,
        hidden: Annotated[bool, "Also what is ignored or has a dot in front."] = True,
        around: Annotated[str, "A name that is to be in the part."] = "",
    ) -> dict[str, Any]:
        focused_files = self._registry.open(session).snapshot.focus() if session else []
        focused_paths = [item["path"] for item in focused_files]
        answer = self._listing.folder(
            path, focused_paths, start=start, count=count, hidden=hidden, around=around
        )
        for entry in answer["entries"]:
            for name in ("note", "line_notes"):
                if entry[name]:
                    entry[name] = self._redactor.redact(entry[name])
        return answer

    @route(
        "GET",
        "/api/files/list",
        "List every file that no rule ignores.",
        answer={"files": "Their paths.", "left_out": "How many more there are."},
    )
    def files(self) -> dict[str, Any]:
        files, left_out = self._listing.files()
        return {"files": files, "left_out": left_out}

    @route(
        "GET",
        "/api/files/text",
        "Read a text file.",
        answer={
            **_PATH_ANSWER,
            "text": "With the names of secrets in their place.",
            "hash": "SHA-256 of its bytes: the base to write it back with.",
            "encoding": "As it is kept.",
            "newline": "The end of its lines.",
            "size": "Bytes.",
            "is_writable": "Whether it can be written.",
            "note": "The note on it.",
            "line_notes": "Those on its lines: start, end, text, and whether it is_stale.",
            "language": "Its syntax, by its name.",
        },
    )
    def text(self, path: _PATH) -> dict[str, Any]:
        return self._files.text(path)

    @route(
        "GET",
        "/api/files/part",
        "Read a part of a text file of any size.",
        answer={
            **_PATH_ANSWER,
            "number": "Of the part, from 1.",
            "count": "How many parts there are.",
            "text": "With the names of secrets in their place.",
            "first_line": "The number of its first line; null where that was not counted.",
            "size": "Bytes of the file.",
            "encoding": "As it is kept.",
            "newline": "The end of its lines.",
            "language": "Its syntax, by its name.",
        },
    )
    def part(
        self,
        path: _PATH,
        number: Annotated[int, "Which part, from 1; at most the last.", Bounds(1)] = 1,
    ) -> dict[str, Any]:
        return self._files.part(path, number)

    @route(
        "PUT",
        "/api/files/text",
        "Write a text file that nobody changed meanwhile.",
        answer={
            **_PATH_ANSWER,
            "hash": "SHA-256 of its bytes now.",
            "size": "Bytes.",
            "text?": "As it may be seen, where that is another than was sent.",
        },
    )
    def write_text(self, path: _PATH, text: _TEXT, base: _BASE = None) -> dict[str, Any]:
        return self._files.write_text(path, text, base)

    @route(
        "POST",
        "/api/files/upload",
        "Upload a file; its name is made harmless.",
        status=201,
        limit=MAX_FILE_BYTES,
        answer={**_PATH_ANSWER, "hash": "SHA-256 of its bytes."},
    )
    def upload(self, data: bytes, name: str, folder: str = "", replace: bool = False) -> Any:
        return self._files.upload(folder, name, data, replace=replace)

    @route("GET", "/api/files/raw", "Show a file of a harmless kind, or in a sandbox.")
    def raw(self, path: _PATH) -> BinaryResponse:
        media_type = file_names.media_type(path)
        if not media_type:
            message = phrase(
                "Files like {path} cannot be shown. Download it instead.", path=visible(path)
            )
            raise ApiError("unsupported", message)
        data, tag = self._files.tagged_content(path)
        policy = _ACTIVE_CSP if media_type in file_names.ACTIVE_TYPES else _PASSIVE_CSP
        headers = {
            **{"Content-Disposition": "inline", "Content-Security-Policy": policy},
            **{"Accept-Ranges": "bytes", "ETag": f'"{tag}"'},
        }
        return BinaryResponse(
            data, {"Content-Type": media_type + _charset(media_type, data), **headers}
        )

    @route(
        "POST",
        "/api/files/run",
        "Make a link to an HTML file whose scripts run. It works once, on this machine.",
        answer={"url": "The link, for a frame on our page."},
    )
    def run_page(self, path: _PATH) -> dict[str, Any]:
        return {"url": self._pages.link(path)}

    @route("GET", "/api/files/download", "Download a file.")
    def download(self, path: _PATH) -> BinaryResponse:
        path, data = self._files.content(path)
        return attachment(visible(path.rpartition("/")[2]), data)

    @route("POST", "/api/files/folder", "Make a folder.", status=201, answer=_PATH_ANSWER)
    def make_folder(self, path: _PATH) -> dict[str, Any]:
        return self._files.make_folder(path)

    @route("POST", "/api/files/rename", "Rename or move a file or folder.", answer=_PATH_ANSWER)
    def rename(self, path: _PATH, new_path: _PATH) -> dict[str, Any]:
        return self._files.rename(path, new_path)

    @route(
        "PUT",
        "/api/files/note",
        "Set the note on a file, or on lines of it; an empty one removes it.",
        answer={
            **_PATH_ANSWER,
            "note": "The note on it now.",
            "line_notes": "Those on its lines now, as of `GET /api/files/text`.",
        },
    )
    def note(self, path: _PATH, note: str, start: _LINE = 0, end: _LINE = 0) -> dict[str, Any]:
        return self._files.set_note(path, note, start, end)

    @route(
        "POST",
        "/api/files/focus",
        "Put a file into the focus of a session, or take it out.",
        answer={"focus": "The files in it, each with its path and tokens."},
    )
    def focus(self, session: str, path: _PATH, on: bool) -> dict[str, Any]:
        runner = self._registry.open(session)
        answer = runner.run_command(f"{name_of(Focus.focus if on else Focus.unfocus)} {path}")
        if not answer["done"]:
            raise ApiError("failed", from_plain(Text, answer["card"]["title"]))
        return {"focus": runner.snapshot.focus()}


def _charset(media_type: str, data: bytes) -> str:
    """Return the charset parameter of an HTML page; without it a browser guesses a western one.

    A page in another encoding than UTF-8 has to tell that by itself.
    """
    if media_type != "text/html":
        return ""
    try:
        data.decode()
    except UnicodeDecodeError:
        return ""
    return "; charset=utf-8"


def attachment(
    name: str, data: bytes, media_type: str = "application/octet-stream"
) -> BinaryResponse:
    """Return *data* as a file to be kept under *name*, never to be shown."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return BinaryResponse(data, {"Content-Type": media_type, "Content-Disposition": disposition})
