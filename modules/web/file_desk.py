"""What can be asked about files over HTTP."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from modules.web import file_names
from modules.web.files import LARGEST_FILE, Files
from modules.web.listing import WINDOW, Listing
from modules.web.refusal import Refused
from modules.web.routes import Sent, route
from modules.web.veil import Veil
from modules.web.workspace import Workspace
from utils.clean import visible
from utils.codec import from_plain
from utils.phrases import Text, phrase

_FRAMED = "frame-ancestors 'self'"
_STILL = f"sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; {_FRAMED}"
_SHOWN = f"default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; {_FRAMED}"
_BASE = Annotated[str | None, "The hash it was read with; null for a new file."]


class FileDesk:
    """Answers about the files of the project."""

    def __init__(self, files: Files, listing: Listing, workspace: Workspace, veil: Veil) -> None:
        self._files = files
        self._listing = listing
        self._workspace = workspace
        self._veil = veil

    @route("GET", "/api/files", "List one folder, or a part of it.")
    def folder(
        self,
        path: str = "",
        session: str = "",
        start: int = 0,
        count: int = WINDOW,
        hidden: Annotated[bool, "Also what is ignored or has a dot in front."] = True,
        around: Annotated[str, "A name that is to be in the part."] = "",
    ) -> dict[str, Any]:
        focus = self._workspace.open(session).picture.focus() if session else []
        focused = [one["path"] for one in focus]
        told = self._listing.folder(
            path, focused, start=start, count=count, hidden=hidden, around=around
        )
        for entry in told["entries"]:
            if entry["note"]:
                entry["note"] = self._veil.hidden(entry["note"])
        return told

    @route("GET", "/api/files/list", "List every file that no rule ignores.")
    def files(self) -> dict[str, Any]:
        files, left_out = self._listing.files()
        return {"files": files, "left_out": left_out}

    @route("GET", "/api/files/text", "Read a text file.")
    def text(self, path: str) -> dict[str, Any]:
        return self._files.text(path)

    @route("PUT", "/api/files/text", "Write a text file that nobody changed meanwhile.")
    def write_text(self, path: str, text: str, base: _BASE = None) -> dict[str, Any]:
        return self._files.write_text(path, text, base)

    @route("POST", "/api/files/upload", "Upload a file.", status=201, limit=LARGEST_FILE)
    def upload(self, data: bytes, name: str, folder: str = "", replace: bool = False) -> Any:
        return self._files.upload(folder, name, data, replace=replace)

    @route("GET", "/api/files/raw", "Show a file of a harmless kind, or in a sandbox.")
    def raw(self, path: str) -> Sent:
        kind = file_names.media_type(path)
        if not kind:
            what = phrase("{path} is of a kind that is not shown; download it.", path=visible(path))
            raise Refused("unsupported", what)
        _, data = self._files.content(path)
        policy = _STILL if kind in file_names.ACTIVE else _SHOWN
        headers = {"Content-Disposition": "inline", "Content-Security-Policy": policy}
        return Sent(data, {"Content-Type": kind, **headers})

    @route("GET", "/api/files/download", "Download a file.")
    def download(self, path: str) -> Sent:
        path, data = self._files.content(path)
        return attachment(visible(path.rpartition("/")[2]), data)

    @route("POST", "/api/files/folder", "Make a folder.", status=201)
    def make_folder(self, path: str) -> dict[str, Any]:
        return self._files.make_folder(path)

    @route("POST", "/api/files/rename", "Rename or move a file or folder.")
    def rename(self, path: str, new_path: str) -> dict[str, Any]:
        return self._files.rename(path, new_path)

    @route("PUT", "/api/files/note", "Set the note on a file; an empty one removes it.")
    def note(self, path: str, note: str) -> dict[str, Any]:
        return self._files.note(path, note)

    @route("POST", "/api/files/focus", "Put a file into the focus of a session, or take it out.")
    def focus(self, session: str, path: str, on: bool) -> dict[str, Any]:
        seat = self._workspace.open(session)
        answer = seat.command(f"{'/focus' if on else '/unfocus'} {path}")
        if not answer["done"]:
            raise Refused("failed", from_plain(Text, answer["card"]["title"]))
        return {"focus": seat.picture.focus()}


def attachment(name: str, data: bytes, kind: str = "application/octet-stream") -> Sent:
    """Return *data* as a file to be kept under *name*, never to be shown."""
    where = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Sent(data, {"Content-Type": kind, "Content-Disposition": where})
