"""A local double of Tavily's HTTP API: it records what it is asked and fails as told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RESULT = {
    "url": "https://example.org/a",
    "title": "A",
    "content": "snippet",
    "score": 0.73,
    "raw_content": None,
}
LIMITS = {
    401: "Unauthorized: missing or invalid API key.",
    403: "You may not.",
    429: "Your request has been blocked due to excessive requests.",
    432: "This request exceeds your plan's set usage limit.",
    433: "This request exceeds the pay-as-you-go limit.",
}


@dataclass
class TavilyDouble:
    """Serves on a free loopback port while used as a context manager.

    *answer* makes (status, body) from the path and the decoded request; a body that is bytes goes
    out as it is. Requests are kept in *requests* as (path, headers, body).
    """

    answer: Callable[[str, dict[str, Any]], tuple[int, Any]] = field(default=lambda p, b: _ok(p, b))
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def __enter__(self) -> TavilyDouble:
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                double.requests.append((self.path, dict(self.headers), body))
                status, body_value = double.answer(self.path, body)
                data = (
                    body_value if isinstance(body_value, bytes) else json.dumps(body_value).encode()
                )
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def fail(self, status: int) -> None:
        """Answer everything with *status* from now on, in the service's own words."""
        error_body = {"detail": {"error": LIMITS.get(status, "broken")}}
        self.answer = lambda _path, _body: (status, error_body)


def _ok(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    if path == "/search":
        return 200, {"query": body["query"], "results": [RESULT], "response_time": 0.1}
    page = {"url": body["urls"], "raw_content": "# Title\n\nText of the page.", "images": []}
    return 200, {"results": [page], "failed_results": [], "response_time": 0.1}
