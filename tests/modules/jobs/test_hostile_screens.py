"""What a program writes for the terminal of a person: nothing of it gets there, from a real one."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from core.cards import RunCard
from core.events import Reply, ToolFinished
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.jobs.test_jobs import answers, jobs_of
from tests.scripted_model import call_reply, run_turn, text_reply

WRITTEN = {
    "a folder of the terminal": b"\x1b]7;file://evil/EVIL\x07",
    "a notice": b"\x1b]9;EVIL\x07",
    "a notice of another kind": b"\x1b]777;notify;EVIL;EVIL\x07",
    "a file": b"\x1b]1337;File=inline=1:RVZJTA==EVIL\x07",
    "a variable": b"\x1b]1337;SetUserVar=EVIL=RVZJTA==\x07",
    "a command of the terminal": b"\x1b]1337;RunApplescript=EVIL\x07",
    "a mark of a prompt": b"\x1b]133;A;EVIL\x07\x1b]133;C;EVIL\x07",
    "a colour by a question": b"\x1b]4;1;?\x07\x1b]11;?EVIL\x07",
    "a question for a name": b"\x1bP+q4556494cEVIL\x1b\\",
    "a question for a setting": b"\x1bP$qEVIL\x1b\\",
    "a picture in points": b"\x1bPq#0;2;0;0;0EVIL\x1b\\",
    "keys of another kind": b"\x1b[>1u\x1b[=5u\x1b[?u",
    "keys that are programmed": b"\x1bP1;1|17/4556494c\x1b\\",
    "a paste that ends": b"\x1b[201~\x1b[200~",
    "a mouse that is watched": b"\x1b[?1003h\x1b[?1006h",
    "a window that moves": b"\x1b[3;0;0t\x1b[8;1;1t\x1b[2t",
    "another set of letters": b"\x1b%@\x1b%G\x1b(0\x1b(B",
    "a test of the screen": b"\x1b[2J",
    "a reset": b"\x1bc",
    "a printer": b"\x1b[4i\x1b[5i",
    "a report of a checksum": b"\x1b[1;1;1;1;1;1*y",
    "a clipboard that is asked for": b"\x1b]52;c;?\x07",
    "a title that is asked for": b"\x1b]2;EVIL\x07\x1b[21t",
    "an answer of the machine": b"\x05",
    "a link with a command": b"\x1b]8;;ssh://-oProxyCommand=EVIL\x1b\\",
    "a string that goes on": b"\x1b]0;EVIL\x18\x1b]0;EVIL\x1a",
    "a sequence in a sequence": b"\x1b[1\x1b]0;EVIL\x07m",
    "a size in a sequence": b"\x1b[99999999999999999999C",
    "words from right to left": "\u202eLIVE\u2066".encode(),
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssembledTerminal]:
    with assembled_terminal(tmp_path_factory.mktemp("screens")) as one:
        yield one


@pytest.mark.parametrize("name", WRITTEN)
def test_it_is_shown_to_nobody(made: AssembledTerminal, name: str) -> None:
    text = base64.b64encode(WRITTEN[name]).decode()
    command = f"echo {text} | base64 -d; echo; echo over"
    made.model.replies += [
        call_reply("run_command", id="t", command=command, tty=True), text_reply("done"),
    ]  # fmt: skip
    events = run_turn(made.terminal, "go", Reply(yes=True))
    card = next(event.card for event in events if isinstance(event, ToolFinished))
    assert isinstance(card, RunCard)
    said = answers(made)[-1] + card.output
    assert "over" in said
    assert not [one for one in said if one != "\n" and not one.isprintable()]
    assert "EVIL" not in said
    assert "\x1b" not in repr(jobs_of(made).rows())
