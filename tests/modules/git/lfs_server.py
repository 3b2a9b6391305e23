"""A git server on loopback as companies have them: smart HTTP, git LFS beside it, a password."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PASSWORD = "hunter2-of-the-server"
_LOGIN = "Basic " + base64.b64encode(f"me:{PASSWORD}".encode()).decode()
_TICKET = "Ticket of-one-transfer"
"""What the server asks for where contents lie, as stores elsewhere do."""


class GitServer(BaseHTTPRequestHandler):
    """Serves the repositories in *folder*; their contents lie where git-lfs has them.

    *uploads* are the names of those that came.
    """

    protocol_version = "HTTP/1.1"
    folder: Path
    uploads: list[str]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self._body())

    def do_PUT(self) -> None:
        self._serve(self._body())

    def _body(self) -> bytes:
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"] or 0))
        data = b""
        while size := int(self.rfile.readline(), 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _serve(self, body: bytes) -> None:
        is_content = self.path.startswith("/contents/")
        if self.headers["Authorization"] != (_TICKET if is_content else _LOGIN):
            self._answer(401, b"", {"WWW-Authenticate": 'Basic realm="git"'})
        elif is_content:
            self._serve_content(body)
        elif self.path.endswith("/info/lfs/objects/batch"):
            self._serve_batch(json.loads(body))
        elif "/info/lfs/" in self.path:  # of locks this server knows nothing
            self._answer(404, b"{}", {"Content-Type": "application/vnd.git-lfs+json"})
        else:
            self._serve_git(body)

    def _place(self, name: str) -> Path:
        return self.folder / "origin.git/lfs/objects" / name[:2] / name[2:4] / name

    def _serve_content(self, body: bytes) -> None:
        place = self._place(self.path.rpartition("/")[2])
        if self.command == "PUT":
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(body)
            self.uploads.append(place.name)
            self._answer(200, b"")
        else:
            self._answer(200, place.read_bytes())

    def _serve_batch(self, asked: dict[str, Any]) -> None:
        action = {
            "header": {"Authorization": _TICKET},
            "href": f"http://{self.headers['Host']}/contents/",
        }
        objects = []
        for one in asked["objects"]:
            is_here = self._place(one["oid"]).exists()
            if asked["operation"] == "download" and not is_here:
                objects.append({**one, "error": {"code": 404, "message": "not here"}})
            elif asked["operation"] == "upload" and is_here:
                objects.append(one)
            else:
                way = {**action, "href": action["href"] + one["oid"]}
                objects.append({**one, "actions": {asked["operation"]: way}})
        text = json.dumps({"transfer": "basic", "objects": objects}).encode()
        self._answer(200, text, {"Content-Type": "application/vnd.git-lfs+json"})

    def _serve_git(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        environment = {
            **os.environ,
            **{"GIT_PROJECT_ROOT": str(self.folder), "GIT_HTTP_EXPORT_ALL": "1"},
            **{"PATH_INFO": path, "QUERY_STRING": query, "REQUEST_METHOD": self.command},
            **{"CONTENT_LENGTH": str(len(body)), "REMOTE_USER": "me", "REMOTE_ADDR": "127.0.0.1"},
            **{"CONTENT_TYPE": self.headers["Content-Type"] or ""},
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
        }
        made = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=True
        )
        head, _, content = made.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self._answer(int(headers.pop("Status", "200").split()[0]), content, headers)

    def _answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def git_server(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the address of `origin.git` in *folder*, and the names of the contents that come."""
    uploads: list[str] = []
    kind = type("Server", (GitServer,), {"folder": folder, "uploads": uploads})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/origin.git", uploads
        server.shutdown()
