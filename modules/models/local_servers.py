"""OpenAI-compatible servers on this very machine: found by their ports, used after a real probe."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from core.loop.turn_context import Model
from utils.i18n import UserError, phrase
from utils.llm.calls.text_calls import ToolFit, find_calls
from utils.llm.completion import Completion
from utils.system.sockets import shut_down
from utils.waiting import Stop

PORTS = {11434: "Ollama", 8080: "llama.cpp", 1234: "LM Studio", 8000: "vLLM"}
"""The ports these programs listen on unless told otherwise, by their own documentation."""
_PROBE_SECONDS = 0.5
_ANSWER_SECONDS = 2.0  # for the whole answer, however it drips


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    base_url: str
    model: str


def find_servers(ports: dict[int, str] = PORTS) -> Sequence[LocalServer]:
    """Return the servers that answer on loopback and name at least one model."""
    with ThreadPoolExecutor(len(ports)) as pool:
        servers = pool.map(lambda item: _probe(*item), ports.items())
        return [server for server in servers if server]


def _probe(port: int, name: str) -> LocalServer | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PROBE_SECONDS)
    try:
        connection.connect()
        model = _first_model(connection)
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return None
    finally:
        connection.close()
    return LocalServer(name, f"http://127.0.0.1:{port}/v1", str(model))


def _first_model(connection: http.client.HTTPConnection) -> Any:
    """Return what the server behind *connection* names first. Raises what wrong answers raise."""
    timer = threading.Timer(_ANSWER_SECONDS, shut_down, [connection.sock])
    timer.daemon = True
    timer.start()
    try:
        connection.request("GET", "/v1/models")
        return json.loads(connection.getresponse().read(1_000_000))["data"][0]["id"]
    finally:
        timer.cancel()


def check_tools(model: Model, server: LocalServer) -> None:
    """Raise `UserError` unless *model* at *server* answers one real request with a call of a tool.

    One that is written as text counts where a turn would run it too.
    """
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
    }
    function = {"name": "echo", "description": "Say a word back.", "parameters": schema}
    question = {"role": "user", "content": "Call the tool echo with the word hello."}
    tools = [{"type": "function", "function": function}]
    for item in model.stream([question], tools, think=False, stop=Stop()):
        if isinstance(item, Completion) and _calls_echo(item):
            return
    raise UserError(
        phrase(
            "{name} with {model} does not call tools, which Onefold needs. Choose another "
            "model, set DEEPSEEK_API_KEY, or use --offline.",
            name=server.name,
            model=server.model,
        )
    )


def _calls_echo(reply: Completion) -> bool:
    if any(call.name == "echo" for call in reply.calls):
        return True
    found = find_calls(reply.text, _fit_of_call)
    return found is not None and found.is_sure


def _fit_of_call(name: str, arguments: Mapping[str, Any]) -> ToolFit:
    if name != "echo":
        return "unknown"
    return "fits" if arguments.keys() == {"word"} else "misfits"
