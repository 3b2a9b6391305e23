"""A model server that answers at once: what is left of the time is the client's own.

`python -m tests.bench.instant_server` prints its port and serves until it is killed. The reply
depends on the last user message: "steps N" plays a task of N calls, "deltas N" one reply of N
deltas, anything else "ok". It checks nothing; the simulator does that.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from typing import Any

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(delta: dict[str, Any], finish: str | None = None, usage: Any = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "instant",
            "choices": [choice], "usage": usage}  # fmt: skip
    return f"data: {json.dumps(body)}\n\n".encode()


def call(step: int) -> bytes:
    """Return one of four calls in turn: write, read, edit, search."""
    path = f"f{step % 10}.txt"
    name, arguments = [
        ("create_file", {"path": path, "content": f"line {step}\n" * 20, "overwrite": True}),
        ("read_file", {"path": path}),
        ("modify_file", {"path": path, "operation": "append", "new": f"more {step}\n"}),
        ("list_files", {"path": ".", "depth": 1 + step % 3}),
    ][step % 4]
    function = {"name": name, "arguments": json.dumps(arguments)}
    return chunk({"tool_calls": [{"index": 0, "id": f"call_00_{step:024d}", "type": "function",
                                  "function": function}]})  # fmt: skip


def reply(request: dict[str, Any], size: int) -> bytes:
    messages = request["messages"]
    asked = [m["content"] for m in messages if m["role"] == "user"][-1].split()
    usage = {"prompt_tokens": size // 4, "completion_tokens": 10, "total_tokens": size // 4 + 10,
             "prompt_cache_hit_tokens": 0, "prompt_cache_miss_tokens": size // 4}  # fmt: skip
    done = sum(message["role"] == "tool" for message in messages)
    if asked[0] == "steps" and done < int(asked[1]):
        return call(done) + chunk({"content": ""}, "tool_calls", usage) + b"data: [DONE]\n\n"
    text = b"".join(chunk({"content": f"word{n} "}) for n in range(int(asked[1]))) if (
        asked[0] == "deltas") else chunk({"content": "ok"})  # fmt: skip
    return text + chunk({"content": ""}, "stop", usage) + b"data: [DONE]\n\n"


def serve_one(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, connection.makefile("rb") as file:
        while file.readline():
            began = time.monotonic()
            length = 0
            while (line := file.readline().strip()) != b"":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = file.read(length)
            arrived = time.monotonic()
            answer = reply(json.loads(body), length)
            # An HTTP chunk for each event, as the real server sends them.
            pieces = [event + b"\n\n" for event in answer.split(b"\n\n") if event]
            framed = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
            connection.sendall(HEAD + framed + b"0\r\n\r\n")
            sys.stdout.write(f"{began} {arrived} {time.monotonic()}\n")
            sys.stdout.flush()


def main() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{server.getsockname()[1]}\n")
    sys.stdout.flush()
    while True:
        connection, _ = server.accept()
        threading.Thread(target=serve_one, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
