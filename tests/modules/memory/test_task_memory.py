"""What a session is about is kept for it, by rule, and told again after a compaction."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from core.cards import TableCard
from core.conversation.messages import Assistant, Record, ToolCall, ToolResult
from core.conversation.result_texts import DENIED_PREFIX
from core.events import CommandAnswered, Informed, Reply
from modules.ask_person import ANSWER_PREFIX
from modules.memory.own_decisions import find_decisions
from modules.memory.working_memory import MAX_LINES, WorkingMemory
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.i18n import phrase


def kept(env: AssembledTerminal) -> str:
    return env.data.task_memory.read_text(encoding="utf-8")


def test_goals_decisions_and_open_questions_are_kept(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path,
        call_reply("ask_person", question="Which database?"),
        text_reply("I decided on a table.\n\nShall I write the tests? Or the docs?"),
        text_reply("Done."),
    ) as env:
        reply = Reply(yes=True, text="PostgreSQL")
        events = run_turn(env.terminal, "Store the orders\nin a table", reply)
        assert kept(env) == (
            f"# Working memory of session {env.terminal.session}\n\n"
            "## Goals\n- Store the orders\n\n"
            "## Decisions\n- Which database? → PostgreSQL\n- I decided on a table.\n\n"
            "## Open questions\n- Shall I write the tests?\n- Or the docs?\n"
        )
        assert stat.S_IMODE(env.data.task_memory.stat().st_mode) == 0o600
        offered = [str(e.what) for e in events if isinstance(e, Informed) and e.command]
        assert "Which database? → PostgreSQL" in offered[0]
        run_turn(env.terminal, "yes")
        assert "Open questions" not in kept(env)
        (answer,) = run_turn(env.terminal, "/memory task")
        assert isinstance(answer, CommandAnswered)
        assert isinstance(answer.card, TableCard)
        assert answer.card.rows == (
            (phrase("Goals"), "Store the orders"),
            (phrase("Decisions"), "Which database? → PostgreSQL"),
            (phrase("Decisions"), "I decided on a table."),
        )


def test_a_refusal_with_a_reason_is_a_decision(tmp_path: Path) -> None:
    delete = call_reply("delete_file", path="a.txt")
    with assembled_terminal(tmp_path, delete, text_reply("ok")) as env:
        (env.root / "a.txt").write_text("a")
        env.terminal.approval.mode = "ask"
        run_turn(env.terminal, "clean up", Reply(yes=False, reason="it is needed"))
        assert "- delete_file was refused: it is needed\n" in kept(env)


def test_decisions_of_the_model_are_kept_told_after_a_compaction_and_forked(
    tmp_path: Path,
) -> None:
    replies = [
        text_reply("Now.\n\n- I will use **SQLite** because the data fits one file.\nDone."),
        *[text_reply("ok")] * 4,
    ]
    decision = "- I will use SQLite because the data fits one file.\n"
    with assembled_terminal(tmp_path, *replies, summary_prompt="Sum up.") as env:
        run_turn(env.terminal, "one")
        assert f"## Decisions\n{decision}" in kept(env)
        run_turn(env.terminal, "two")
        run_turn(env.terminal, "/compact")
        run_turn(env.terminal, "three")
        told = "Decisions of this session:\\n- I will use SQLite because the data fits one file."
        assert str(env.model.requests[-1]).count(told) == 1
        run_turn(env.terminal, "/fork 1")
        assert f"## Decisions\n{decision}" in kept(env)


def test_what_the_model_decided_is_told_from_what_it_offers_or_does() -> None:
    decided = [
        "I decided to keep the old endpoint for compatibility.",
        "We chose Postgres over MySQL.",
        "I'm going with a dataclass rather than a dict, to avoid typos.",
        "Decision: dates are stored as UTC.",
        "So I'll store the tokens in a table instead of a JSON file.",
        "I kept the function synchronous so that the callers need no change.",
        "我决定用 SQLite。",
        "我会采用异步写法\uff0c因为接口要并发。",
        "因为文件很小\uff0c所以我选择一次读完。",
        "决定\uff1a时间一律存 UTC。",
    ]
    others = [
        "I could use SQLite because it is simple.",
        "Shall I use SQLite instead of files?",
        "If you like, I'll use tabs instead of spaces.",
        "I'll read the file now.",
        "I'll take a look to avoid surprises.",
        "The tests passed because the fix is right.",
        "You decided to use Postgres.",
        "I'll run the tests.",
        "```\nI'll use SQLite because it is code.\n```",
        "> I'll use SQLite because it is quoted.",
        "如果需要\uff0c我会采用异步写法。",
        "我可以改用 YAML 而不是 JSON。",
        "你可以选择 A 而不是 B。",
    ]
    assert list(find_decisions("\n".join(decided))) == decided
    assert find_decisions("\n".join(others)) == ()


@pytest.mark.parametrize("aside", ["> It said: no.", "    - indented", "\tcode = 1"])
def test_what_stands_after_a_quoted_or_indented_line_is_read(aside: str) -> None:
    decision = "I decided to keep the old endpoint."
    assert find_decisions(f"Now.\n{aside}\n{decision}") == (decision,)


def test_bullets_below_a_bullet_are_read_and_indented_code_is_not() -> None:
    decisions = ["I decided to keep the old endpoint.", "我决定保留旧接口。"]
    reply = (
        "What I did:\n- Endpoints\n    - {}\n\n\t1. {}\n"
        "      * I decided to drop the old tests.\n"
        "\nAs code:\n\n    - I decided to be code.\n\tI decided to be code as well.\n"
    ).format(*decisions)
    assert find_decisions(reply) == (*decisions, "I decided to drop the old tests.")


def answered(question: str, answer: str) -> list[Record]:
    call = ToolCall("1", "ask_person", json.dumps({"question": question}))
    return [
        Assistant("", calls=(call,)),
        ToolResult("1", "ask_person", f"{ANSWER_PREFIX}{answer}"),
    ]


def test_what_the_person_decided_is_not_pushed_out_by_what_the_model_says() -> None:
    said = Assistant("\n".join(f"I decided on table {n}." for n in range(40)))
    refused = ToolResult("2", "delete_file", f"{DENIED_PREFIX}: it is needed")
    records = [*answered("Which database?", "PostgreSQL"), refused, said]
    decisions = WorkingMemory.of([(1, record) for record in records]).decisions
    assert decisions == [
        "Which database? → PostgreSQL",
        "delete_file was refused: it is needed",
        *(f"I decided on table {n}." for n in range(30, 40)),
    ]


def test_what_is_decided_again_counts_as_new() -> None:
    answers = ["first", *map(str, range(11)), "first", "last"]
    records = [record for one in answers for record in answered("Which?", one)]
    decisions = WorkingMemory.of([(1, record) for record in records]).decisions
    kept_answers = [*map(str, range(1, 11)), "first", "last"]
    assert decisions == [f"Which? → {one}" for one in kept_answers]


def test_a_long_answer_is_looked_through_in_a_time_that_grows_with_its_length_only() -> None:
    asked = Assistant(f"{'word ' * 400_000}Well. Shall I? Or not\uff1f")
    assert WorkingMemory.of([(1, asked)]).questions == ["Shall I?", "Or not\uff1f"]
    assert WorkingMemory.of([(1, Assistant("word " * 400_000))]).questions == []


def test_it_goes_with_the_session(tmp_path: Path) -> None:
    replies = [text_reply("ok")] * 3
    with assembled_terminal(tmp_path, *replies) as env:
        run_turn(env.terminal, "first goal")
        run_turn(env.terminal, "second goal")
        first = env.terminal.session
        run_turn(env.terminal, "/fork 1")
        assert kept(env) == (
            f"# Working memory of session {env.terminal.session}\n\n## Goals\n- first goal\n"
        )
        run_turn(env.terminal, f"/resume {first}")
        assert "second goal" in kept(env)
        run_turn(env.terminal, "/rewind 2")
        assert "second goal" not in kept(env)


def test_it_is_told_again_after_a_compaction(tmp_path: Path) -> None:
    replies = [
        call_reply("ask_person", question="Which database?"),
        *[text_reply("ok")] * 4,
    ]
    with assembled_terminal(tmp_path, *replies, summary_prompt="Sum up.") as env:
        run_turn(env.terminal, "one", Reply(yes=True, text="PostgreSQL"))
        run_turn(env.terminal, "two")
        run_turn(env.terminal, "/compact")
        run_turn(env.terminal, "three")
        told = str(env.model.requests[-1])
        assert told.count("Decisions of this session:\\n- Which database? → PostgreSQL") == 1


def test_it_is_forty_lines_at_most(tmp_path: Path) -> None:
    lines = [f"{n}" * 300 for n in range(100)]
    full = WorkingMemory(lines[:10], lines[:12], lines[:5]).to_markdown("s")
    assert len(full.splitlines()) <= MAX_LINES
    with assembled_terminal(tmp_path, *[text_reply("? " * 50)] * 30) as env:
        for n in range(30):
            run_turn(env.terminal, f"goal number {n}")
        assert len(kept(env).splitlines()) <= MAX_LINES
        assert "goal number 29" in kept(env)
        assert "goal number 3\n" not in kept(env)
