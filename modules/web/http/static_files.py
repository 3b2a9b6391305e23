"""Static files of the page, under an address that changes whenever one of them does.

So a browser may keep them for good, and a reload asks for none of them again. Their modules name
each other relatively, which keeps them all under the address of the first.
"""

from __future__ import annotations

import hashlib
import os
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache, partial
from mimetypes import guess_type
from pathlib import Path

from flask import Flask, Response, abort, request
from werkzeug.security import safe_join

from modules.web.http.script_bundle import PageScripts
from modules.web.http.stylesheets import stylesheet

_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_FRAME_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src {script} blob:; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"
)
"""Of a page in `static/frames`, for what is foreign: it has no origin, and reaches nothing."""
SCRIPTS_OF_THE_PAGE = ("js/main.js", "js/conversation/items.js", "js/changes/changes.js")
"""The one that the page runs, and what it imports by itself right after its first paint."""
_AT_THE_ROOT = ("manifest.webmanifest", "service-worker.js")
IMMUTABLE = "private, max-age=31536000, immutable"
_KEPT_BUNDLES = 4
"""A page that is open when its files are edited goes on with the bundle that it has."""


class StaticFiles:
    """The files in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known_stamps: set[str] = set()

    def base_url(self) -> str:
        """Return the base URL of the folder as it is now."""
        stamp = folder_stamp(self._folder)
        self._known_stamps.add(stamp)
        return f"/static/v-{stamp}"

    def serve(self, stamp: str, name: str) -> Response:
        """Answer with a file; under a stamp that we never named the browser asks every time."""
        if stamp not in self._known_stamps:
            return self.serve_uncached(name)
        response = self._answer(name, stamp)
        response.headers["Cache-Control"] = IMMUTABLE
        return response

    def serve_uncached(self, name: str) -> Response:
        """Answer with a file, whole: one that is streamed stays open when its reader goes away."""
        return self._answer(name)

    def _answer(self, name: str, stamp: str = "") -> Response:
        path = Path(safe_join(str(self._folder), name) or "")
        module = path.relative_to(self._folder).as_posix() if path.suffix == ".js" else ""
        is_ours = module.startswith("js/")
        scripts = _bundle(self._folder, stamp or folder_stamp(self._folder)) if is_ours else None
        try:
            data = scripts.text(module).encode() if scripts else _contents(path)
        except (OSError, ValueError):  # ValueError: a NUL
            abort(404)
        response = Response(data, mimetype=_type_of(name))
        if name.endswith(".html"):
            response.headers["Content-Security-Policy"] = _frame_policy(data)
        response.cache_control.no_cache = True
        response.set_etag(hashlib.sha256(data).hexdigest()[:32])
        return response.make_conditional(request)  # type: ignore[return-value]

    def add_to(self, app: Flask) -> None:
        app.add_url_rule("/static/<path:name>", "static", self.serve_uncached)
        app.add_url_rule("/static/v-<stamp>/<path:name>", "kept static", self.serve)
        for name in _AT_THE_ROOT:  # where browsers want them: what they say holds below it
            app.add_url_rule(f"/{name}", name, partial(self.serve_uncached, name))


@lru_cache(_KEPT_BUNDLES)
def _bundle(folder: Path, _stamp: str) -> PageScripts:
    """Return the scripts of the page as *folder* has them now, whose stamp this is.

    Raises `ValueError` or `OSError` where they cannot be joined, a fault in one of them.
    """
    return PageScripts(folder, SCRIPTS_OF_THE_PAGE)


def _frame_policy(page: bytes) -> str:
    """Return the policy of *page*, in which only the scripts that stand in it run, and blobs."""
    hashes = (b64encode(hashlib.sha256(text).digest()).decode() for text in _SCRIPT.findall(page))
    return _FRAME_POLICY.format(script=" ".join(f"'sha256-{each}'" for each in hashes))


def _type_of(name: str) -> str:
    if name.endswith(".webmanifest"):  # which not every system knows
        return "application/manifest+json"
    return guess_type(name)[0] or "application/octet-stream"


def _contents(path: Path) -> bytes:
    """Return what is sent for *path*: a stylesheet comes with those that it imports."""
    return stylesheet(path).encode() if path.suffix == ".css" else path.read_bytes()


def folder_stamp(folder: Path) -> str:
    """Return a hash of *folder*: of names, sizes and times, not of the contents."""
    digest = hashlib.sha256()
    for path, stat_result in sorted(_files(str(folder))):
        digest.update(f"{path}\0{stat_result.st_size}\0{stat_result.st_mtime_ns}\0".encode())
    return digest.hexdigest()[:16]


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path)
            else:
                yield entry.path, entry.stat()
