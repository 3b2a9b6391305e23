"""Baseline agent loop of five tools, to compare Onefold with: only what a model needs to act.

    python -m tests.bench.bare_loop BASE_URL FOLDER TASK

prints one JSON object: the calls, natively or found in the text, those that failed, the answer.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

MAX_STEPS = 20
TIMEOUT_SECONDS = 1_800
RUN_SECONDS = 60
MAX_OUTPUT_CHARS = 8_000
SYSTEM = (
    "You are an agent that works in one folder through tools. Do the task with them, then say "
    "briefly what you did or found. Paths are relative to the folder."
)
Wire = dict[str, Any]


def tool(name: str, description: str, **parameters: str) -> Wire:
    properties = {one: {"type": "string", "description": what} for one, what in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


TOOLS = [
    tool("list_files", "List all files of the folder."),
    tool("read_file", "Read a file.", path="the file"),
    tool("write_file", "Write a whole file.", path="the file", content="its new content"),
    tool("edit_file", "Replace a text in a file.", path="the file", old="old text", new="new text"),
    tool("run_command", "Run a command in bash.", command="the command"),
]


class Folder:
    """Implementation of the tools. A failure raises `ValueError`, whose text the model gets."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    def run(self, name: str, arguments: Mapping[str, Any]) -> str:
        tools: dict[str, Callable[..., str]] = {
            "list_files": self.list_files,
            "read_file": self.read_file,
            "write_file": self.write_file,
            "edit_file": self.edit_file,
            "run_command": self.run_command,
        }
        if name not in tools:
            raise ValueError(f"There is no tool {name}.")
        try:
            return tools[name](**arguments)
        except TypeError as error:
            raise ValueError(str(error)) from None
        except OSError as error:
            raise ValueError(error.strerror or "It cannot be done.") from None

    def list_files(self) -> str:
        names = (path.relative_to(self._root) for path in sorted(self._root.rglob("*")))
        return "\n".join(map(str, names)) or "The folder is empty."

    def read_file(self, path: str) -> str:
        return self._inside(path).read_text(errors="replace")

    def write_file(self, path: str, content: str) -> str:
        file = self._inside(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return f"Wrote {path}."

    def edit_file(self, path: str, old: str, new: str) -> str:
        file = self._inside(path)
        text = file.read_text()
        if old not in text:
            raise ValueError(f"{path} does not hold that text.")
        file.write_text(text.replace(old, new, 1))
        return f"Changed {path}."

    def run_command(self, command: str) -> str:
        """Run *command* where it can write only into the folder, and reaches no network."""
        command_line = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
        command_line += ["--tmpfs", "/tmp", "--bind", *[str(self._root)] * 2, "--unshare-all"]  # noqa: S108
        command_line += ["--die-with-parent", "--chdir", str(self._root), "bash", "-c", command]
        try:
            result = subprocess.run(  # noqa: S603 - confined
                command_line, capture_output=True, text=True, errors="replace", timeout=RUN_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise ValueError(f"It took longer than {RUN_SECONDS} seconds.") from None
        return f"exit code {result.returncode}\n{result.stdout}{result.stderr}"[:MAX_OUTPUT_CHARS]

    def _inside(self, path: str) -> Path:
        file = (self._root / path).resolve()
        if not file.is_relative_to(self._root):
            raise ValueError(f"{path} is outside the folder.")
        return file


def request_message(base_url: str, messages: list[Wire]) -> Wire:
    """Return the model's next message."""
    body = {"model": "local", "messages": messages, "tools": TOOLS, "max_tokens": 1024}
    request = urllib.request.Request(
        f"{base_url}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer local"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        message: Wire = json.load(answer)["choices"][0]["message"]
    return message


def calls_of(message: Wire) -> Iterator[tuple[str, str, Any, bool]]:
    """Yield id, name, arguments (None where they are no JSON), and whether a text held the call."""
    if message.get("tool_calls"):
        for call in message["tool_calls"]:
            function = call["function"]
            yield call.get("id") or "", function["name"], parsed(function["arguments"]), False
        return
    for number, found in enumerate(calls_in(message.get("content") or "")):
        yield f"text-{number}", found["name"], parsed(found.get("arguments", {})), True


def calls_in(text: str) -> list[Wire]:
    """Return the JSON objects in *text* that name a tool: in tags, in fences, or bare."""
    decoder, found, position = json.JSONDecoder(strict=False), [], 0
    while (start := text.find("{", position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, start)
        except ValueError:
            position = start + 1
            continue
        if isinstance(value, dict) and value.get("name") in names():
            found.append(value)
    return found


def to_history(message: Wire, calls: list[tuple[str, str, Any, bool]]) -> Wire:
    """Return *message* for the history; calls found in the text stand there as if made natively."""
    if not calls or not calls[0][3]:
        values = {name: message.get(name) for name in ("role", "content", "tool_calls")}
        return {name: value for name, value in values.items() if value is not None}
    functions = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for call_id, name, arguments, _ in calls
    ]
    return {"role": "assistant", "content": "", "tool_calls": functions}


def names() -> list[str]:
    return [one["function"]["name"] for one in TOOLS]


def parsed(arguments: Any) -> Any:
    try:
        value = json.loads(arguments, strict=False) if isinstance(arguments, str) else arguments
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def run(folder: Folder, name: str, arguments: Any) -> tuple[str, bool]:
    """Return what the model reads of a call, and whether it failed."""
    if arguments is None:
        return "The arguments are no JSON object.", True
    try:
        return folder.run(name, arguments), False
    except ValueError as error:
        return f"It failed: {error}", True


def run_task(base_url: str, folder: Folder, task: str) -> Wire:
    messages: list[Wire] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": task},
    ]
    stats: Wire = {"native": 0, "recovered": 0, "failed": 0, "last_failed": False}
    for _ in range(MAX_STEPS):
        message = request_message(base_url, messages)
        calls = list(calls_of(message))
        messages.append(to_history(message, calls))
        if not calls:
            return stats | {"answer": re.sub(r"</?tool_response>", "", message["content"] or "")}
        for call_id, name, arguments, is_text in calls:
            answer, has_failed = run(folder, name, arguments)
            stats["recovered" if is_text else "native"] += 1
            stats["failed"] += has_failed
            stats["last_failed"] = has_failed
            messages.append({"role": "tool", "tool_call_id": call_id, "content": answer})
    return stats | {"answer": "", "is_loop": True}


if __name__ == "__main__":
    base, root, text = sys.argv[1:]
    sys.stdout.write(json.dumps(run_task(base, Folder(Path(root)), text)) + "\n")
