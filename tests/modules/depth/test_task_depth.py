"""How deep a task goes shows in what it is sent with, and never takes its tools away."""

# ruff: noqa: RUF001 - Chinese has its own punctuation
from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cards import Card, TableCard
from core.conversation.messages import Context
from core.events import CommandAnswered, TurnFinished
from core.main_terminal import MainTerminal
from modules.depth.feature import BRIEF_NOTE, TaskDepth
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.scripted_model import Item, call_reply, run_turn, text_reply
from utils.llm.anthropic_api.anthropic_request import AnthropicWriter
from utils.llm.completion import Completion, Wire
from utils.llm.openai_api.request import LOW_THOUGHT_TOKENS, RequestWriter

LIMIT = 150


def cut_reply(text: str) -> list[Item]:
    return [
        replace(item, is_cut=True) if isinstance(item, Completion) else item
        for item in text_reply(text)
    ]


def answer(terminal: MainTerminal, line: str) -> Card:
    (event,) = run_turn(terminal, line)
    assert isinstance(event, CommandAnswered)
    assert event.card is not None
    return event.card


def rows(terminal: MainTerminal, line: str = "/depth") -> list[list[str]]:
    card = answer(terminal, line)
    assert isinstance(card, TableCard)
    return [[str(cell) for cell in row] for row in card.rows]


def depth_of(opened: AssembledTerminal, line: str) -> str | None:
    opened.model.replies.append(text_reply("Yes."))
    run_turn(opened.terminal, line)
    feature = opened.terminal.features.find(TaskDepth)
    assert feature is not None
    return feature.last_depth


def notes_of(opened: AssembledTerminal) -> list[str]:
    records = [record for _, record in opened.terminal.history.records]
    return [r.text for r in records if isinstance(r, Context) and not r.sections]


def test_thanks_has_a_short_reply_the_same_tools_and_the_same_beginning(tmp_path: Path) -> None:
    replies = [text_reply("Done."), text_reply("You are welcome."), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies) as opened:
        for line in ("Write a function that parses dates", "谢谢！", "Add a test for it"):
            run_turn(opened.terminal, line)
        first, second, third = opened.model.requests
        assert second[: len(first)] == first
        assert [m["content"] for m in second[len(first) :]] == ["Done.", "谢谢！"]
        assert third[: len(second)] == second
        assert opened.model.tool_lists[0]
        assert opened.model.tool_lists == [opened.model.tool_lists[0]] * 3
        usual, limit, after = opened.model.reply_limits
        assert (usual, after) == (0, 0)
        assert 0 < limit < LIMIT


def test_thanks_does_not_think(tmp_path: Path) -> None:
    replies = [text_reply("You are welcome."), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies, mode="think") as opened:
        run_turn(opened.terminal, "thanks")
        run_turn(opened.terminal, "Write a function that parses dates")
        assert opened.model.think_flags == [False, True]


def test_a_cut_reply_to_thanks_is_the_last_word(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, cut_reply("You are welcome, and")) as opened:
        finished = run_turn(opened.terminal, "thanks")[-1]
        assert isinstance(finished, TurnFinished)
        assert finished.why == "done"
        assert len(opened.model.requests) == 1


def test_a_reply_that_was_cut_before_its_first_word_goes_on_without_the_limit(
    tmp_path: Path,
) -> None:
    with assembled_terminal(tmp_path, cut_reply(""), text_reply("Welcome.")) as opened:
        run_turn(opened.terminal, "thanks")
        limit, after = opened.model.reply_limits
        assert limit
        assert not after


def test_a_call_after_thanks_runs_all_the_same(tmp_path: Path) -> None:
    call = call_reply("read_file", path="a.txt")
    with assembled_terminal(tmp_path, call, text_reply("It says: hello.")) as opened:
        (opened.root / "a.txt").write_text("hello of a.txt")
        run_turn(opened.terminal, "thanks")
        assert "hello of a.txt" in json.dumps(opened.model.requests[1])
        assert opened.model.reply_limits[1] == 0


@pytest.mark.parametrize("writer_class", [RequestWriter, AnthropicWriter])
def test_only_the_limit_of_the_reply_differs_in_the_bytes(writer_class: Any) -> None:
    def body(reply_tokens: int, *, think: bool = False) -> dict[str, Any]:
        writer = writer_class(max_tokens=8_000, context_limit=100_000, effort="high")
        messages: Sequence[Wire] = [{"role": "user", "content": "thanks"}]
        tool = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}
        tools: Sequence[Wire] = [{"type": "function", "function": tool}]
        written = writer.write(
            "deepseek-flash", messages, tools, think=think, reply_tokens=reply_tokens
        )
        parsed: dict[str, Any] = json.loads(written)
        return parsed

    assert body(140) == {**body(0), "max_tokens": 140}
    assert list(body(140)) == list(body(0))
    assert body(140, think=True) == body(0, think=True)


def test_a_thanks_in_a_task_of_low_effort_has_a_limit_with_room_for_a_thought() -> None:
    writer = RequestWriter(max_tokens=8_000, context_limit=100_000, effort="high")
    messages: Sequence[Wire] = [{"role": "user", "content": "thanks"}]
    how: dict[str, Any] = {"think": True, "effort": "low"}
    free = json.loads(writer.write("deepseek-flash", messages, [], **how))
    limited = json.loads(writer.write("deepseek-flash", messages, [], reply_tokens=140, **how))
    assert limited == {**free, "max_tokens": 140 + LOW_THOUGHT_TOKENS}


def test_the_request_of_thanks_begins_with_the_bytes_of_the_one_before() -> None:
    writer = RequestWriter(max_tokens=8_000, context_limit=100_000, effort="high")
    tool = {"name": "look", "description": "Look.", "parameters": {"type": "object"}}
    tools: Sequence[Wire] = [{"type": "function", "function": tool}]
    messages: list[Wire] = [{"role": "user", "content": "Write it."}]
    first = writer.write("deepseek-flash", messages, tools, think=False)
    messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "谢谢"}]
    second = writer.write("deepseek-flash", messages, tools, think=False, reply_tokens=140)
    kept = first[: first.index(b'],"thinking"')]
    assert b"Write it." in kept
    assert second.startswith(kept)


def test_a_simple_question_is_told_to_be_brief_behind_the_line(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("A module."), mode="think") as opened:
        run_turn(opened.terminal, "What does config.py do?")
        asked, note = [m["content"] for m in opened.model.requests[0][-2:]]
        assert (asked, note) == ("What does config.py do?", BRIEF_NOTE)
        assert opened.model.think_flags == [False]


def test_a_small_model_is_told_so_only_where_the_person_chose_it(tmp_path: Path) -> None:
    line = "What does config.py do?"
    with assembled_terminal(tmp_path, text_reply("One."), text_reply("Two.")) as opened:
        opened.model.is_well_known = False
        run_turn(opened.terminal, line)
        assert opened.model.requests[0][-1]["content"] == line
        answer(opened.terminal, "/depth brief")
        run_turn(opened.terminal, line)
        assert [m["content"] for m in opened.model.requests[1][-2:]] == [line, BRIEF_NOTE]


def test_an_ordinary_task_is_told_nothing_and_leaves_no_file(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        assert depth_of(opened, "fix the failing test") == "standard"
        assert notes_of(opened) == []
        assert opened.model.requests[0][-1]["content"] == "fix the failing test"
        assert not opened.data.config.exists()


def test_praise_after_a_question_is_a_task(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Done.\nShall I commit it?")) as opened:
        run_turn(opened.terminal, "fix the failing test")
        assert depth_of(opened, "great!") == "standard"
        assert depth_of(opened, "great!") == "social"


def test_praise_is_a_task_while_todos_are_open(tmp_path: Path) -> None:
    todos = [{"title": "Test it", "status": "pending"}]
    call = call_reply("update_todos", todos=todos)
    with assembled_terminal(tmp_path, call, text_reply("So far."), text_reply("Yes.")) as opened:
        run_turn(opened.terminal, "fix the failing test")
        assert depth_of(opened, "great!") == "standard"
        assert depth_of(opened, "thanks!") == "social"


def test_the_depth_of_a_session_is_chosen_in_words_and_goes_on_with_it(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        assert depth_of(opened, "Where is main()?") == "brief"
        answer(opened.terminal, "/depth standard")
        assert depth_of(opened, "Where is main()?") == "standard"
        assert depth_of(opened, "briefly: where is main()?") == "brief"
        session = opened.terminal.session
    with assembled_terminal(tmp_path) as opened:
        opened.terminal.resume(session)
        assert depth_of(opened, "Where is main()?") == "standard"
        answer(opened.terminal, "/depth auto")
        assert depth_of(opened, "Where is main()?") == "brief"


def test_the_settings_can_choose_it(tmp_path: Path) -> None:
    settings = replace(SETTINGS, depth="standard")
    with assembled_terminal(tmp_path, app_settings=settings) as opened:
        assert depth_of(opened, "Where is main()?") == "standard"


def test_rules_are_seen_added_and_forgotten(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        assert ["question", "brief"] in [row[:2] for row in rows(opened.terminal)]
        added = rows(opened.terminal, "/depth add deep: release *")
        assert added[0] == ["1", "deep", "release *"]
        assert depth_of(opened, "release 2.0") == "deep"
        assert stat.S_IMODE(opened.data.config.stat().st_mode) == 0o600
        rows(opened.terminal, "/depth forget 1")
        assert depth_of(opened, "release 2.0") == "standard"


def test_a_rule_of_ours_is_switched_off_and_on(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        off = rows(opened.terminal, "/depth off question")
        assert ["question (off)", "brief"] in [row[:2] for row in off]
        assert depth_of(opened, "Where is main()?") == "standard"
        on = rows(opened.terminal, "/depth on question")
        assert ["question", "brief"] in [row[:2] for row in on]
        assert depth_of(opened, "Where is main()?") == "brief"


@pytest.mark.parametrize(
    "line",
    [
        *("/depth shallow", "/depth deep now", "/depth add", "/depth add deep:", "/depth add x: y"),
        *("/depth add social: thanks *", "/depth forget 1", "/depth forget", "/depth off nothing"),
    ],
)
def test_what_cannot_be_meant_is_explained_and_changes_nothing(tmp_path: Path, line: str) -> None:
    with assembled_terminal(tmp_path) as opened:
        (event,) = run_turn(opened.terminal, line)
        assert isinstance(event, CommandAnswered)
        assert not event.ok
        assert not opened.data.config.exists()


def test_the_file_is_the_persons_to_edit(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        opened.data.config.write_text(
            "# Mine\n\n## 偏好\n\n- 用中文回答\n\n## 深度\n\n<!-- - deep: main -->\n"
            "- 标准：main\n- 关闭：courtesies\n- nonsense\n"
        )
        assert depth_of(opened, "Where is main()?") == "standard"
        assert depth_of(opened, "thanks") == "standard"
        assert "用中文回答" in json.dumps(opened.model.requests[0], ensure_ascii=False)
        assert ["invalid rule", "", "nonsense"] in rows(opened.terminal)
        rows(opened.terminal, "/depth add brief: why")
        assert opened.data.config.read_text().endswith(
            "- 关闭：courtesies\n- nonsense\n- brief: why\n"
        )
        rows(opened.terminal, "/depth on courtesies")
        assert depth_of(opened, "thanks") == "social"


def test_preferences_are_told_once_and_again_where_they_change(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        opened.data.config.write_text("## Preferences\n- tabs\n")
        for line in ("fix the test", "fix the other one"):
            depth_of(opened, line)
        assert json.dumps(opened.model.requests[1]).count("- tabs") == 1
        opened.data.config.write_text("## Preferences\n- spaces and tabs\n")
        depth_of(opened, "fix the last one")
        assert json.dumps(opened.model.requests[2]).count("- spaces") == 1


def test_a_file_that_cannot_be_read_is_no_reason_to_stop(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as opened:
        opened.data.config.mkdir()
        assert depth_of(opened, "Where is main()?") == "brief"
        status = [row for row in rows(opened.terminal, "/status") if row[0] == "Depth"]
        assert "CONFIG.md" in status[0][1]


@pytest.mark.parametrize(
    "said",
    [
        "I can mend the second one as well.",
        "1. Read it\n2. Change it",
        "Next comes the parser.",
        "Let me know.",
        "要不要我提交",
        "接下来修改解析器。",
    ],
)
def test_ok_is_a_task_where_the_answer_before_left_something_to_do(
    said: str, tmp_path: Path
) -> None:
    with assembled_terminal(tmp_path, text_reply(said)) as opened:
        run_turn(opened.terminal, "look at the tests")
        assert depth_of(opened, "ok") == "standard"


def test_ok_is_a_courtesy_where_nothing_is_left_to_do(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("Done. The file is renamed.")) as opened:
        assert depth_of(opened, "好的") == "social"
        opened.model.replies.clear()
        opened.model.replies.append(text_reply("Done. The file is renamed."))
        run_turn(opened.terminal, "rename it")
        assert depth_of(opened, "ok") == "social"
