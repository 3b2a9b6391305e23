"""HTML files of the project, run: each on an origin of its own, beside the files of its folder.

A browser reaches one by the gateway of previews, with a link that works once. So its scripts share
nothing with our page, nor with any other such page, and their policy lets them reach nothing else.
"""

from __future__ import annotations

import socket
import threading
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler
from mimetypes import guess_type
from urllib.parse import quote, unquote, urlsplit

from modules.preview.gateway import PreviewGateway
from modules.preview.preview import Preview
from modules.web.files.content import FileContents
from modules.web.files.file_names import media_type
from modules.web.http.errors import ApiError
from utils.i18n import phrase
from utils.text.clean import visible

MAX_PAGES = 16
"""Pages that are kept at once; the oldest ends."""
_PORT = 80  # that the page is told it is served on; nothing listens there


class RunningPages:
    """The pages of *files* that were opened to be run; None for *gateway* where none can be."""

    def __init__(self, gateway: PreviewGateway | None, files: FileContents) -> None:
        self._gateway = gateway
        self._files = files
        self._pages: OrderedDict[str, Preview] = OrderedDict()
        self._lock = threading.Lock()

    def link(self, path: str) -> str:
        """Return an address, which works once, that shows the HTML file *path*, its scripts run.

        Raises `ApiError`.
        """
        if media_type(path) != "text/html":
            raise ApiError("unsupported", phrase("{path} is not an HTML file.", path=visible(path)))
        if self._gateway is None:
            raise ApiError("failed", phrase("Pages run on this machine only."))
        path, _ = self._files.content(path)
        with self._lock:
            if path not in self._pages:
                folder = path.rpartition("/")[0]
                self._pages[path] = self._gateway.open(_PORT, lambda _: self._connect(folder))
            self._pages.move_to_end(path)
            page = self._pages[path]
            oldest = self._pages.popitem(last=False)[1] if len(self._pages) > MAX_PAGES else None
        if oldest:
            self._gateway.end(oldest)
        return page.link("pane", f"/{quote(path.rpartition('/')[2])}")

    def _connect(self, folder: str) -> socket.socket:
        """Return a connection on which one request for a file of *folder* is answered."""
        client, server = socket.socketpair()
        arguments = (server, folder, self._files)
        threading.Thread(target=_answer, args=arguments, name="running page", daemon=True).start()
        return client


def _answer(connection: socket.socket, folder: str, files: FileContents) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = unquote(urlsplit(self.path).path).lstrip("/")
            data = _read(files, folder, name)
            if data is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", _content_type(name, data))
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base has it
            """Say nothing: the terminal is for the person."""

    with connection:
        try:
            Handler(connection, ("", 0), None)  # type: ignore[arg-type]  # which asks it for nothing
        except OSError:  # who asked went away
            return


def _read(files: FileContents, folder: str, name: str) -> bytes | None:
    """Return the file *name* below *folder*; None if there is none, or it is a hidden one."""
    if any(part.startswith(".") for part in name.split("/")):
        return None
    try:
        return files.content(f"{folder}/{name}" if folder else name)[1]
    except ApiError:
        return None


def _content_type(name: str, data: bytes) -> str:
    kind = guess_type(name)[0] or "application/octet-stream"
    if not kind.startswith("text/") and kind not in ("application/javascript", "application/json"):
        return kind
    try:
        data.decode()
    except UnicodeDecodeError:  # it has to tell its encoding by itself
        return kind
    return f"{kind}; charset=utf-8"
