"""Previews of real jobs in the real sandbox."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

from core.cards import TableCard, TextCard
from core.events import Informed
from modules.preview.feature import Previews
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.jobs.test_jobs import background, command, jobs_of, say
from tests.modules.sandbox.sandbox_home import wait_until

SECONDS = 20.0
ROOT = Path(__file__).parents[3]


def serve(port: int, address: str = "127.0.0.1") -> str:
    return f"python3 -um http.server {port} --bind {address}"


def follow(link: str, path: str) -> tuple[int, bytes]:
    """Ask for *path* as a browser does that followed *link*."""
    host = link.split("/")[2]
    connection = http.client.HTTPConnection("127.0.0.1", int(host.split(":")[1]), timeout=SECONDS)
    connection.request("GET", link.partition(host)[2], headers={"Host": host})
    answer = connection.getresponse()
    answer.read()
    cookie = (answer.getheader("Set-Cookie") or "").split(";")[0]
    connection.close()
    connection.request("GET", path, headers={"Host": host, "Cookie": cookie})
    found = connection.getresponse()
    status, body = found.status, found.read()
    connection.close()
    return status, body


def links(made: AssembledTerminal, line: str = "/preview") -> list[str]:
    card = command(made, line).card
    assert isinstance(card, TableCard)
    return [str(row[1]) for row in card.rows]


def ports(made: AssembledTerminal) -> list[Any]:
    return [port for row in jobs_of(made).rows() for port in row["ports"]]


def test_what_a_job_serves_is_reached_and_nothing_of_this_machine(tmp_path: Path) -> None:
    """Also by IPv6 alone; the same port outside is another one's."""
    host = HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    with assembled_terminal(tmp_path) as made:
        (made.root / "page").write_text("found me")
        assert isinstance(command(made, "/preview").card, TextCard)
        both = f"{serve(host.server_port)} & {serve(host.server_port + 1, '::1')}"
        say(made, background(both))
        assert wait_until(lambda: len(ports(made)) == 2)
        first, second = links(made)
        assert follow(first, "/page") == follow(second, "/page") == (200, b"found me")
        assert follow(first, "/page")[0] == 403
        [again] = links(made, f"/preview {host.server_port}")
        assert follow(again, "/page") == (200, b"found me")
        assert not command(made, "/preview 1").ok
        assert not command(made, "/preview x").ok
        previews = made.terminal.features.find(Previews)
        assert previews is not None
        helpers = [sockets._process.pid for sockets in previews._sockets.values()]
        assert len(helpers) == 1
        command(made, "/jobs stop")
        assert follow(again, "/page")[0] == 410
        assert wait_until(lambda: not Path(f"/proc/{helpers[0]}").exists())
    host.shutdown()
    host.server_close()


def test_a_terminal_shows_the_link_at_once_and_others_do_not(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, background(serve(8000)))
        assert wait_until(lambda: ports(made) == [8000])
        assert not any("Preview of port" in str(event) for event in say(made, line="quiet"))
        previews = made.terminal.features.find(Previews)
        assert previews is not None
        previews.offer_links()
        events = say(made, background(serve(8001), "c"))
        assert wait_until(lambda: 8001 in ports(made))
        assert wait_until(lambda: "Preview of" in f"{events}{jobs_of(made)._news}")
        events += say(made, line="what is new?")
        told = "\n".join(str(event.what) for event in events if isinstance(event, Informed))
        link = re.search(r"Preview of port 8001: (http://\S+)", told)
        assert link
        assert follow(link[1], "/")[0] == 200
        card = command(made, "/jobs").card
        assert isinstance(card, TableCard)
        assert [str(row[1]) for row in card.rows if not row[0]] == [
            "to see it: /preview 8000",
            "to see it: /preview 8001",
        ]


KILLED = """
import sys
from pathlib import Path
from modules.preview.feature import Previews
from tests.assembly import assembled_terminal
from tests.modules.preview.test_feature import background, links, ports, say, serve
from tests.modules.sandbox.sandbox_home import wait_until

with assembled_terminal(Path(sys.argv[1])) as made:
    say(made, background(serve(8000)))
    wait_until(lambda: ports(made) == [8000])
    print(links(made)[0], flush=True)
    previews = made.terminal.features.find(Previews)
    print(next(iter(previews._sockets.values()))._process.pid, flush=True)
    sys.stdin.read()
"""


def test_a_killed_onefold_leaves_nothing_that_listens(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(
        arguments, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as onefold:
        assert onefold.stdout
        link, helper = onefold.stdout.readline(), int(onefold.stdout.readline())
        address = ("127.0.0.1", int(link.split("/")[2].split(":")[1]))
        socket.create_connection(address, SECONDS).close()
        os.kill(onefold.pid, signal.SIGKILL)
    with socket.socket() as other:
        assert other.connect_ex(address) != 0
    assert wait_until(lambda: not Path(f"/proc/{helper}").exists())
