"""A confined program answers no question and stops nothing, in whichever tier it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from modules.agents.session_socket import Message, SessionSocket
from modules.agents.socket_folder import key_name, socket_name
from modules.sandbox.backends import selftest, tiers
from modules.sandbox.backends.seccomp import filter_program
from modules.sandbox.sandbox import Program
from tests.modules.sandbox.sandbox_home import SandboxHome, home_of_process, run_to_end
from tests.modules.sandbox.test_sandbox import fragile

pytestmark = pytest.mark.as_root

SESSION = "20261128-120000-abcd"
ATTACK = """
import glob, json, os, socket

def attempt(what, act):
    try:
        print(what, act())
    except OSError:
        pass

def short(folder):
    "An address has 107 bytes at most; to name a folder, nothing need be read."
    return f"/proc/self/fd/{{os.open(folder, os.O_PATH)}}/"

def say(path, key):
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(5)
        line.connect(path)
        line.sendall(key + b"\\n" + json.dumps({{"do": "stop", "work": "x"}}).encode() + b"\\n")
        return line.recv(1000) or 1 / 0

folder = {folder!r}
keys = [b"", b"0" * 64]
roots = ["", *glob.glob("/proc/*/root"), "/proc/{agent}/root", "/proc/{agent}/cwd/../../.."]
for root in roots:
    attempt("list", lambda: os.listdir(root + folder))
    attempt("read", lambda: keys.append(open(root + folder + {key!r}, "rb").read()) or "key")
    attempt("link", lambda: os.link(root + folder + {key!r}, "key"))
    attempt("write", lambda: open(root + folder + {key!r}, "w").write("mine"))
    attempt("remove", lambda: os.unlink(root + folder + {name!r}))
    attempt("replace", lambda: os.rename(root + folder, root + folder + "-moved"))
for key in keys:
    for root in roots:
        try:
            attempt("told", lambda: say(short(root + folder) + {name!r}, key))
        except ZeroDivisionError:
            reached = True
for name in ("{session}", {name!r}, folder + {name!r}):
    attempt("abstract", lambda: say("\\0" + name[-100:], keys[0]))
print("over")
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[SandboxHome]:
    with home_of_process(tmp_path) as sandbox_home:
        yield sandbox_home


@pytest.mark.parametrize("tier", ["A", "B", "C", "C with sockets"])
def test_a_confined_program_is_not_heard(
    home: SandboxHome, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where the filter that allows no socket were not there, it has no key."""
    if tier == "B":
        fragile(home, monkeypatch, when='echo "$*" | grep -q -e "--proc"')
    elif tier != "A":
        monkeypatch.setattr(selftest, "BWRAP_PATHS", ())
    heard: list[Message] = []

    def handle(message: Message) -> Message:
        heard.append(message)
        return {"heard": True}

    folder = home.data / "project" / "sockets"
    sandbox = home.sandbox()
    assert sandbox.report().tier == tier[0]
    if tier == "C with sockets":
        monkeypatch.setattr(tiers, "filter_program", lambda _: filter_program("namespaces"))
    code = ATTACK.format(
        folder=f"{folder}/", name=socket_name(SESSION), key=key_name(SESSION),
        agent=os.getpid(), session=SESSION,
    )  # fmt: skip
    with closing(SessionSocket(folder, SESSION, handle)):
        key = (folder / key_name(SESSION)).read_bytes()
        outside = run_of(code)
        assert "read key" in outside  # the attack is one that works
        assert "told" in outside
        assert heard
        heard.clear()
        done = run_to_end(sandbox, Program("python", code))
        assert done.output == "over\n"
        assert heard == []
        assert (folder / key_name(SESSION)).read_bytes() == key
        assert (folder / socket_name(SESSION)).is_socket()


def run_of(code: str) -> str:
    """Return what *code* prints where nothing confines it, without what would destroy."""
    harmless = [line for line in code.splitlines() if not any(
        word in line for word in ('"write"', '"remove"', '"replace"', '"link"')
    )]  # fmt: skip
    return subprocess.run(
        [sys.executable, "-c", "\n".join(harmless)], capture_output=True, text=True, check=True
    ).stdout
