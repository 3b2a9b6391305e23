"""A served project in a process of its own: `python -m tests.bench.serve_project MODE FOLDER`.

Prints its port, its token and a login link as one line of JSON and serves until its input ends.
Its model does what the message says: "tokens SECONDS RATE" streams tokens that tell the monotonic
time at which they were made, "events N" that many events no two of which can be joined, "story"
a long answer that stays open, "search" looks through all files, anything else answers "ok".
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from core.conversation.messages import Wire
from modules.web.server import WebServer
from modules.web.servers.event_loop import AsyncMode
from tests.assembly import HermeticSettings
from tests.scripted_model import USED, calls_reply, text_reply
from tests.served_model import FixedModel
from tests.web_assembly import assembled_server
from utils.llm.completion import Completion, Delta, Retry
from utils.llm.profiles.server_profile import ServerProfile
from utils.llm.served_model import ModelChoice
from utils.pictures import ReadPicture
from utils.waiting import Stop

SETTINGS = HermeticSettings(
    context_limit=1_000_000,
    allow_unsandboxed=True,
    checkpoint_file_mb=1,
    checkpoint_total_mb=10,
    checkpoint_days=1,
)
SEARCH = calls_reply(
    ("s1", "search_text", '{"pattern": "needle [0-9]+"}'),
    ("s2", "find_files", '{"pattern": "**/*9.txt"}'),
    ("s3", "list_files", '{"path": ".", "depth": 3}'),
)
ANSWER = "## Answer\n\n" + "Some **words** about `code`.\n\n" * 20 + "```python\nx = 1\n```\n"
STORY = "".join(f"Paragraph {n} of a **long** answer with `code` in it.\n\n" for n in range(600))


class CommandedModel:
    """A model that does what the last message of the person says."""

    model = "obedient"
    tariff = None
    is_well_known = True
    profile = usual_profile = ServerProfile()

    def models(self, name: str = "") -> list[str]:  # noqa: ARG002
        """This server does not say what it has."""
        return []

    def set_request_observer(self, on_request: object) -> None:
        """This model is sent no bytes."""

    def set_picture_reader(self, read_picture: ReadPicture) -> None:
        """This model looks at nothing."""

    choice = ModelChoice("obedient")

    def use(self, choice: ModelChoice | None) -> None:
        """There is only this model."""

    def forget_profile(self) -> None:
        """There is nothing that this model has learnt."""

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """There is nothing to say of this model."""

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,  # noqa: ARG002
        effort: str = "",  # noqa: ARG002
    ) -> Iterator[Delta | Retry | Completion]:
        asked = [str(m["content"]) for m in messages if m["role"] == "user"][-1].split()
        match asked:
            case ["tokens", seconds, rate]:
                yield from _tokens(int(seconds), int(rate), stop)
            case ["events", number]:
                yield from _events(int(number), stop)
            case ["story"]:
                yield Delta(f"{STORY}The end of the **story**.")
                stop.wait(600)
            case ["search"] if messages[-1]["role"] != "tool":
                yield from cast("list[Completion]", SEARCH)
                return
            case _:
                yield from cast("list[Delta]", text_reply(ANSWER))
                return
        yield Completion("done", "", (), USED)


def _tokens(seconds: int, rate: int, stop: Stop) -> Iterator[Delta]:
    began = time.monotonic()
    for number in range(1, seconds * rate + 1):
        yield Delta(f"{time.monotonic():.6f} ")
        stop.wait(max(0.0, began + number / rate - time.monotonic()))


def _events(number: int, stop: Stop) -> Iterator[Delta]:
    """Thinking and text in turn are never joined."""
    for n in range(number):
        yield Delta(text=f"{n} ") if n % 2 else Delta(thinking=f"{n} ")
        stop.wait(0.002)


def make_server(mode: AsyncMode, folder: Path) -> WebServer:
    server, _ = assembled_server(
        folder,
        CommandedModel,
        SETTINGS,
        system_prompt="You are a benchmark.",
        mode=mode,
        version="bench",
        language="en",
        model=FixedModel("obedient"),
    )
    return server


def main(mode: AsyncMode, folder: str) -> None:
    server = make_server(mode, Path(folder))
    link = server.url + server.authenticator.new_link()
    token = server.authenticator.token
    info = {"port": server.port, "token": token, "link": link, "url": server.url}
    sys.stdout.write(f"{json.dumps(info)}\n")
    sys.stdout.flush()

    def wait() -> None:
        sys.stdin.read()
        server.stop()

    threading.Thread(target=wait, daemon=True).start()
    gc.collect()
    gc.freeze()
    server.run()


if __name__ == "__main__":
    main(cast("AsyncMode", sys.argv[1]), sys.argv[2])
