"""`/why` as people and programs use it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from core.cards import OriginsCard, TextCard
from core.events import CommandAnswered
from modules.cli.render.cards.card_renderer import CardRenderer
from modules.cli.render.cards.plain_cards import card_text
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.text.codec import from_plain, to_plain

TEXT = "def total(price, count):\n    return price + count\n\n\nprint(total(2, 3))\n"
ASKED = "mend the total: it should multiply"


def mended(env: AssembledTerminal) -> None:
    """Let the model mend line 2 and run the file, and somebody else add a line at the end."""
    path = env.root / "app.py"
    path.write_text(TEXT)
    env.model.replies += [
        call_reply("read_file", id="r", path="app.py"),
        call_reply(
            "modify_file", id="m", path="app.py", operation="replace", old="price +", new="price *"
        ),
        call_reply("run_command", id="c", command="python3 app.py"),
        text_reply("The total is right now."),
    ]
    run_turn(env.terminal, ASKED)
    with path.open("a") as file:
        file.write("# theirs\n")


def answer(env: AssembledTerminal, line: str, *, ok: bool = True) -> CommandAnswered:
    (event,) = run_turn(env.terminal, line)
    assert isinstance(event, CommandAnswered)
    assert event.ok is ok, event.card
    return event


def card(env: AssembledTerminal, line: str) -> OriginsCard:
    found = answer(env, line).card
    assert isinstance(found, OriginsCard)
    return found


def refusal(env: AssembledTerminal, line: str) -> str:
    found = answer(env, line, ok=False).card
    assert isinstance(found, TextCard)
    return f"{found.title}{found.body}"


def test_a_line_tells_its_call_its_turn_the_words_that_asked_and_the_receipt(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        found = card(env, "/why app.py:2")
        assert found.line == "    return price * count"
        (origin,) = found.origins
        assert (origin.writer, origin.turn, origin.call, origin.tool) == (
            *("call", 1, "m"),
            "modify_file",
        )
        assert origin.asked == ASKED
        assert origin.session == env.terminal.session
        (receipt,) = [one for one in origin.receipts if one.command == "python3 app.py"]
        assert (receipt.exit_code, receipt.state) == (0, "grey")  # app.py has changed since


def test_programs_are_told_of_a_line_in_the_names_of_the_contract(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, runs_shell_escapes=True) as env:
        mended(env)
        env.model.replies += [
            call_reply("run_command", id="s", command="echo '# of a command' >> app.py"),
            text_reply("Done."),
        ]
        run_turn(env.terminal, "add a remark")
        run_turn(env.terminal, "!echo '# mine' >> app.py")
        told = [to_plain(card(env, f"/why app.py:{line}")) for line in (1, 2, 6, 7, 8)]
        assert [(one["by"], one["turn"], one["call"], one["task"]) for one in told] == [
            ("other", 0, "", ""),
            ("agent", 1, "m", ASKED),
            ("other", 0, "", ""),
            ("command", 2, "s", "add a remark"),
            ("person", 0, "", ""),
        ]
        assert [one["receipt"] and one["receipt"]["command"] for one in told] == [
            *(None, "python3 app.py", None, "echo '# of a command' >> app.py", None)
        ]
        assert [one["origins"][0]["by"] for one in told] == [one["by"] for one in told]
        several = to_plain(card(env, "/why app.py"))
        assert (several["by"], several["task"], several["receipt"]) == ("", "", None)
        assert {one["by"] for one in several["origins"]} == {"agent", "command", "person", "other"}


def test_a_file_tells_all_its_origins_and_a_range_those_of_its_lines(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        assert [(one.writer, one.ranges) for one in card(env, "/why app.py").origins] == [
            ("before", ((1, 1), (3, 5))),
            ("call", ((2, 2),)),
            ("others", ((6, 6),)),
        ]
        assert [(one.writer, one.ranges) for one in card(env, "/why app.py:2-4").origins] == [
            ("call", ((2, 2),)),
            ("before", ((3, 4),)),
        ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/why", "Usage: /why"),
        ("/why nowhere.py:3", "There is no file nowhere.py"),
        ("/why app.py:7", "app.py has 6 lines"),
        ("/why short.py:2", "short.py has 1 line."),
        ("/why app.py:4-2", "Lines count from 1"),
        ("/why app.py:0", "Lines count from 1"),
        ("/why pixel.png:1", "pixel.png is not text"),
        ("/why gone.py:1", "gone.py no longer exists"),
        ("/why ../other.py", "outside"),
    ],
)
def test_what_cannot_be_told_is_said(line: str, said: str, tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        (env.root / "gone.py").write_text("x\n")
        (env.root / "short.py").write_text("x\n")
        (env.root / "pixel.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0")
        mended(env)
        (env.root / "gone.py").unlink()
        assert said in refusal(env, line)


def test_a_file_that_is_gone_or_no_text_tells_who_did_that(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        env.model.replies += [
            call_reply("run_command", id="p", command=r"printf 'a\0b' > a.bin; rm app.py"),
            text_reply("Gone."),
        ]
        run_turn(env.terminal, "away with it")
        for path in ("a.bin", "app.py"):
            found = card(env, f"/why {path}")
            assert [(one.call, one.asked, one.ranges) for one in found.origins] == [
                ("p", "away with it", ())
            ], path
            assert found.note


def test_a_new_start_and_a_session_that_is_gone_tell_what_they_can(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        first = env.terminal.session
    with assembled_terminal(tmp_path) as env:
        assert card(env, "/why app.py:2").origins[0].asked == ASKED
    env.data.sessions.unlink()
    with assembled_terminal(tmp_path) as env:
        (origin,) = card(env, "/why app.py:2").origins
        assert (origin.session, origin.turn, origin.asked) == (first, 1, "")
        assert "no longer kept" in card_text(card(env, "/why app.py:2"), Translator("en", {}))


def test_nothing_is_read_and_nothing_kept_until_it_is_asked(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        (env.root / "app.py").write_text(TEXT)
        env.terminal.features.person_wrote("app.py", b"", TEXT.encode())
        assert not list(tmp_path.rglob("checkpoints.db"))
        assert [one.writer for one in card(env, "/why app.py").origins] == ["before"]


def test_a_card_is_drawn_in_eighty_cells_in_plain_text_and_as_json(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        mended(env)
        found = card(env, "/why app.py")
        for language in ("en", "zh"):
            translator = Translator.of(language)
            console = Console(width=80, record=True, file=io.StringIO())
            drawn = CardRenderer(translator).answer(found, ok=True)
            console.print(drawn)
            rows = console.export_text().splitlines()
            assert all(len(row) <= 80 for row in rows)
            shown = "\n".join(rows)
            for text in (shown, card_text(found, translator)):
                assert "app.py" in text
                assert "1, 3-5" in text
                assert ASKED in text
        assert from_plain(OriginsCard, json.loads(json.dumps(to_plain(found)))) == found
