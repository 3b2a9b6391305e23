"""Sign-in to servers that want one, with an authorization server on loopback."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.cards import TextCard
from core.events import Event, Reply, ToolFinished, Warned
from modules.mcp_client.failures import ServerFailed
from modules.mcp_client.sign_in import oauth
from modules.mcp_client.sign_in.addresses import SignInAddresses
from tests.assembly import AssembledTerminal
from tests.modules.mcp_client.test_mcp_client import (
    HERE,
    answers,
    asked,
    rows,
    say,
    session,
    told,
)
from tests.modules.sandbox.sandbox_home import wait_until
from tests.own_loop import run_in_own_loop
from tests.scripted_model import call_reply

YES = Reply(yes=True)


@contextmanager
def closed_server(*arguments: str) -> Iterator[str]:
    """Run a server that wants a sign-in; yield where it is."""
    command = [sys.executable, str(HERE / "oauth_server.py"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def get(url: str) -> str:
    """Open *url* as a browser does; return the page, also one of an error."""
    try:
        with urllib.request.urlopen(url, timeout=20) as response:
            return str(response.read().decode())
    except urllib.error.HTTPError as error:
        return f"{error.code}: {error.read().decode()}"


def heard(made: AssembledTerminal) -> list[str]:
    """Return the list in which all that is announced to the person appears."""
    lines: list[str] = []

    def show(what: Any) -> bool:
        if not str(what).startswith("Starting"):
            lines.append(str(what))
        return True

    made.terminal.show_news = show
    return lines


def body(made: AssembledTerminal, line: str) -> str:
    card = made.terminal.run_concurrently(line).card
    assert isinstance(card, TextCard)
    return f"{card.title} {card.body}"


def link_in(text: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+/authorize\?\S+", text)
    assert found, text
    return found[0]


def shown(events: list[Event]) -> str:
    cards = [event.card for event in events if isinstance(event, ToolFinished)]
    return " ".join(f"{card.title}" for card in cards if isinstance(card, TextCard))


def kept(base: Path) -> list[Path]:
    return sorted((base / "data" / "mcp-tokens").glob("*.json"))


def test_the_person_signs_in_once_and_the_model_sees_none_of_it(tmp_path: Path) -> None:
    with closed_server() as base, session(tmp_path, {"far": {"url": f"{base}/mcp"}}) as made:
        lines = heard(made)
        events = say(made, answer=lambda _: YES)
        assert asked(events)[0].startswith("The MCP server far at 127.0.0.1:")
        link = link_in(shown(events))
        callback = re.search(r"redirect_uri=([^&]+)", link)
        assert callback
        back = urllib.request.unquote(callback[1])  # type: ignore[attr-defined]
        wrong = [f"{back}?code=x&state=wrong", f"{back}?code=x", back.replace("callback", "x")]
        assert [get(one)[:3] for one in wrong] == ["400", "400", "404"]
        assert "goes on" in get(link)
        assert wait_until(lambda: lines == ["MCP server far: signed in."])
        assert wait_until(lambda: rows(made, "/mcp")[0][1].startswith("running"))
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(wrong[0], timeout=5)  # nobody listens any more
        calls = [call_reply("far__add", id=str(n), a=1, b=n) for n in (1, 2, 3)]
        say(made, calls[0], answer=lambda _: YES, line="a")
        assert "\n2\n" in answers(made)[-1]
        (file,) = kept(tmp_path)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        values = json.loads(file.read_text())
        get(f"{base}/forget")  # a token that counts no more is renewed
        say(made, calls[1], answer=lambda _: YES, line="b")
        assert "\n3\n" in answers(made)[-1]
        renewed = json.loads(file.read_text())
        assert renewed["tokens"]["access_token"] != values["tokens"]["access_token"]
        file.write_text(json.dumps({**renewed, "expires_at": 1}))
        say(made, calls[2], answer=lambda _: YES, line="c")
        assert "\n4\n" in answers(made)[-1]
        seen = json.loads(get(f"{base}/seen"))
        assert seen == ["register", f"authorize {base}/mcp", "refresh", "refresh"]
        for secret in ("access-", "renew-", "authorize?"):
            assert secret not in told(made)
    with session(tmp_path) as again:  # the tokens are there, the server is not
        assert asked(say(again)) == []
        assert "are deleted here" in body(again, "/mcp sign-out far")
        assert kept(tmp_path) == []
        assert "You were not signed in" in body(again, "/mcp sign-out far")


def test_a_token_that_the_server_repeats_is_hidden_also_when_it_is_renewed(tmp_path: Path) -> None:
    with closed_server() as base:
        with session(tmp_path, {"far": {"url": f"{base}/mcp"}}) as made:
            lines = heard(made)
            get(link_in(shown(say(made, answer=lambda _: YES))))
            assert wait_until(lambda: lines == ["MCP server far: signed in."])
            assert wait_until(lambda: rows(made, "/mcp")[0][1].startswith("running"))
            hidden = "it was «SECRET:MCP_TOKEN», then «SECRET:MCP_RENEWAL_TOKEN»"
            for number in (1, 2):
                call = call_reply("far__repeat", id=str(number))
                say(made, call, answer=lambda _: YES, line=f"line {number}")
                assert hidden in answers(made)[-1]
                get(f"{base}/forget")
        with session(tmp_path, {"far": {"url": f"{base}/mcp"}}) as again:
            say(again, call_reply("far__repeat", id="3"), answer=lambda _: YES, line="again")
            assert hidden in answers(again)[-1]
            (file,) = kept(tmp_path)
            for token in ("access_token", "refresh_token"):
                assert json.loads(file.read_text())["tokens"][token] not in told(again)


def test_a_sign_in_that_comes_to_nothing_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        closed_server("refuse") as base,
        session(tmp_path, {"far": {"url": f"{base}/mcp"}}) as made,
    ):
        lines = heard(made)
        nobody = say(made)
        assert "Not signed in: /mcp sign-in far in a dialogue" in shown(nobody)
        warned = " ".join(str(event.what) for event in nobody if isinstance(event, Warned))
        assert "it wants a sign-in: /mcp sign-in far in a dialogue begins it" in warned
        assert asked(say(made, answer=lambda _: YES, line="again")) == []
        get(link_in(body(made, "/mcp sign-in far")))
        failed = "MCP server far: the sign-in failed: "
        assert wait_until(lambda: lines == [f"{failed}it was refused (access_denied)."])
        first = link_in(body(made, "/mcp sign-in far"))
        second = link_in(body(made, "/mcp sign-in far"))
        assert first != second
        with pytest.raises(urllib.error.URLError):  # the first is over with the second
            urllib.request.urlopen(first, timeout=5)
        assert "You were not signed in" in body(made, "/mcp sign-out far")
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(second, timeout=5)
        monkeypatch.setattr(oauth, "SIGN_IN_SECONDS", 1.0)
        link_in(body(made, "/mcp sign-in far"))
        assert wait_until(lambda: lines[-1] == f"{failed}the sign-in timed out.")
        assert kept(tmp_path) == []
        assert "There is no MCP server" in body(made, "/mcp sign-in other")


@pytest.mark.parametrize(
    ("server", "named", "is_allowed"),
    [
        ("https://8.8.8.8/mcp", "https://1.1.1.1/authorize", True),
        ("https://8.8.8.8/mcp", "http://1.1.1.1/authorize", False),
        ("https://8.8.8.8/mcp", "https://10.0.0.1/", False),
        ("https://8.8.8.8/mcp", "https://169.254.169.254/latest/meta-data", False),
        ("https://8.8.8.8/mcp", "http://127.0.0.1:8080/", False),
        ("https://8.8.8.8/mcp", "https://[::ffff:127.0.0.1]/", False),
        ("https://8.8.8.8/mcp", "https://[::1]/", False),
        ("https://8.8.8.8/mcp", "https://0.0.0.0/", False),
        ("https://8.8.8.8/mcp", "https://me@1.1.1.1/", False),
        ("https://8.8.8.8/mcp", "file:///etc/passwd", False),
        ("https://8.8.8.8/mcp", "javascript:alert(1)", False),
        ("https://8.8.8.8/mcp", "https://1.1.1.1/\u202e", False),
        ("https://8.8.8.8/mcp", "https://[1/", False),
        ("https://10.0.0.1/mcp", "https://10.0.0.2/", True),
        ("https://10.0.0.1/mcp", "http://10.0.0.1/", False),
        ("https://10.0.0.1/mcp", "http://127.0.0.1/", False),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/", True),
        ("http://127.0.0.1:1/mcp", "http://1.1.1.1/", False),
    ],
)
def test_a_server_names_only_addresses_that_it_could_reach(
    server: str, named: str, is_allowed: bool
) -> None:
    checking = SignInAddresses(server).check(named)
    if is_allowed:
        run_in_own_loop(checking)
    else:
        with pytest.raises(ServerFailed, match="for the sign-in"):
            run_in_own_loop(checking)
