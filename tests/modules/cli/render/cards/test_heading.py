"""The first line of a call, and where all of a long command stands."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from core.cards import RunCard, TextCard
from core.conversation.messages import ResultState
from core.events import ToolFinished, ToolOutput, ToolStarted
from modules.cli.render.cards.heading import elide_middle
from tests.modules.cli.screens import make_screen
from utils.i18n import phrase

LONG = "grep -rn 'a long pattern with words' src tests | sort | uniq -c | head -40 > 报告.txt"


@pytest.mark.parametrize("room", [12, 20, 41, 60])
@pytest.mark.parametrize("text", [LONG, "报告" * 40, "x" * 100])
def test_a_long_text_keeps_its_beginning_and_its_end(text: str, room: int) -> None:
    short = elide_middle(text, room)
    assert cell_len(short) <= room
    start, end = short.split("…")
    assert text.startswith(start)
    assert text.endswith(end)
    assert start
    assert end


def test_what_fits_is_not_cut() -> None:
    assert elide_middle(LONG, cell_len(LONG)) == LONG


@pytest.mark.parametrize(
    ("state", "card"),
    [
        ("done", RunCard("bash", LONG, "out\n", 0, "", 12.0, "bubblewrap: all")),
        ("stopped", TextCard(phrase("Interrupted."))),
    ],
)
def test_a_long_command_stands_whole_below_a_line_with_seconds_and_tier(
    state: ResultState, card: RunCard | TextCard
) -> None:
    screen, out = make_screen(terminal=True)
    with screen.turn():
        screen.show(ToolStarted("c", "run_command", {"command": LONG}))
        screen.show(ToolFinished("c", "run_command", state, card, 12.0))
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    head, *below = [line for line in text.splitlines() if line]
    assert "…" in head
    assert ("· 12 s · sandbox bubblewrap" if state == "done" else "· 12 s") in head
    assert cell_len(head) <= 60
    assert "".join(LONG.split()) in "".join("".join(below).split())


@pytest.mark.parametrize("tier", ["", "A+: bubblewrap and a control group", "no sandbox"])
def test_while_it_runs_the_whole_command_the_figures_and_the_key_that_stops_are_in_sight(
    tier: str,
) -> None:
    screen, _ = make_screen(terminal=True)
    with screen.turn():
        screen.show(ToolStarted("c", "run_command", {"command": LONG}, tier=tier))
        assert screen._live_region.call
        screen._live_region.call.started_at -= 75
        console = Console(file=StringIO(), width=60)
        with console.capture() as capture:
            console.print(screen._live_region())
    text = capture.get()
    head = next(line for line in text.splitlines() if "Run" in line)
    said = {"": "", "no sandbox": " · no sandbox"}.get(tier, " · sandbox A+")
    assert head.endswith(f"· 1 min 15 s{said} · Ctrl-C stops")
    assert "".join(LONG.split()) in "".join(text.split())


def test_head_and_command_stay_in_sight_below_long_lines_of_output_and_what_is_typed() -> None:
    screen, out = make_screen(terminal=True)
    console = Console(file=out, width=80, height=24, force_terminal=True)
    screen._display.console, screen._display.is_live = console, True
    screen.show(ToolStarted("c", "run_command", {"command": LONG}))
    screen.show(ToolOutput("c", f"{'long output ' * 40}\n" * 20))
    screen.show_typed(["one", "two"])
    rows = ["".join(part.text for part in line) for line in screen._display._live_lines()]
    assert len(rows) <= 22
    assert "Run" in rows[1]
    assert rows[1].endswith("Ctrl-C stops")
    assert "".join(LONG.split()) in "".join("".join(rows).split())
    assert rows[-2:] == ["› one", "› two"]


def test_a_short_command_is_said_once() -> None:
    screen, out = make_screen(terminal=True)
    with screen.turn():
        screen.show(ToolStarted("c", "run_command", {"command": "make"}))
        card = RunCard("bash", "make", "out\n", 0, "", 0.2, "bubblewrap: all")
        screen.show(ToolFinished("c", "run_command", "done", card, 0.2))
    assert out.getvalue().count("make") == 1
