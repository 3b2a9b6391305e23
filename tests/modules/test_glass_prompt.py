"""`/context`: what the model read in each step, what the cache had of it, and why not more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.cards import PromptCard, TableCard, TextCard
from core.conversation.messages import StateRecord
from core.events import CommandAnswered
from core.main_terminal import MainTerminal
from modules.cli.render.cards.plain_cards import card_text
from modules.cli.render.cards.prompt_rows import prompt_rows
from modules.translator import Translator
from tests.anthropic_simulator import AnthropicSimulator, call, reply, text, thinking
from tests.anthropic_simulator.validation import signature_of
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.scripted_model import run_turn
from tests.simulator import Call, Cut, Refuse, Say, Simulator, Step, Think
from tests.simulator.cache import PromptCache
from utils.api_client import ApiClient
from utils.llm.account import ANTHROPIC_ACCOUNT
from utils.llm.anthropic_api.anthropic import AnthropicMessages

LONG = "words that fill a good many blocks of the cache " * 60
TOO_LONG = (
    "This model's maximum context length is 5500 tokens. However, you requested 5600 tokens "
    "(5500 in the messages, 100 in the completion)."
)
BLOCKS = "the server caches whole blocks only"
NEW = "new text at the end"
MODE = "thinking was turned on or off; each has its own cache"


@contextmanager
def session(base: Path, server: Simulator) -> Iterator[AssembledTerminal]:
    client = ApiClient(server.url, "sk-test", model="deepseek-flash", retries=2)
    try:
        with assembled_terminal(base, model=client, summary_prompt="Sum it up.") as one:
            yield one
    finally:
        client.close()


def answer(terminal: MainTerminal, line: str) -> CommandAnswered:
    (event,) = run_turn(terminal, line)
    assert isinstance(event, CommandAnswered)
    return event


def rows(terminal: MainTerminal) -> list[list[str]]:
    card = answer(terminal, "/context").card
    assert isinstance(card, TableCard)
    return [[str(cell) for cell in row] for row in card.rows[:-1]]


def causes(terminal: MainTerminal) -> list[list[str]]:
    """Return why each step was read anew, without the tokens, which must make up what was."""
    found = []
    for *_, missed, _, why in rows(terminal):
        lines = [line.partition(": ") for line in why.splitlines()]
        assert sum(int(tokens.replace(",", "")) for tokens, _, _ in lines) == int(
            missed.replace(",", "")
        )
        found.append([reason for _, _, reason in lines])
    return found


def prompt(terminal: MainTerminal, line: str) -> PromptCard:
    card = answer(terminal, line).card
    assert isinstance(card, PromptCard), card
    return card


def labels(card: PromptCard) -> list[str]:
    return [str(part.label) for part in card.parts]


def texts_of(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield every text of a chat-completions request that a model reads."""
    for message in body["messages"]:
        yield message["content"]
        yield message.get("reasoning_content", "")
        for one in message.get("tool_calls", ()):
            yield f"{one['function']['name']} {one['function']['arguments']}"


def test_every_step_shows_its_tokens_its_price_and_why_it_was_read_anew(tmp_path: Path) -> None:
    script: list[Step] = [Call("list_files"), Say("a"), Say("b")]
    with Simulator(script) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, LONG)
        run_turn(one.terminal, "again")
        assert causes(one.terminal) == [["start of the session"], [BLOCKS, NEW], [BLOCKS, NEW]]
        shown = rows(one.terminal)
        usage = one.terminal.usage
    assert [row[:2] for row in shown] == [["1", "1.1"], ["2", "1.2"], ["3", "2.1"]]
    sent, hit, missed = (sum(int(row[n].replace(",", "")) for row in shown) for n in (2, 3, 4))
    assert (sent, hit, missed) == (
        usage.prompt_tokens,
        usage.cache_hit_tokens,
        usage.cache_miss_tokens,
    )
    dollars = sum(float(row[5].split()[0].lstrip("$")) for row in shown)
    assert dollars == pytest.approx(usage.cost_usd, abs=3e-6)


def test_every_cause_of_a_miss_is_named(tmp_path: Path) -> None:
    script: list[Step] = [Say(f"reply {n}") for n in range(9)]
    with Simulator(script) as server, session(tmp_path, server) as one:
        main = one.terminal
        run_turn(main, LONG)
        run_turn(main, "/think")
        run_turn(main, "another mode")
        run_turn(main, "/fast")
        main.model.model = "deepseek-v4-pro"
        run_turn(main, "different model")
        run_turn(main, "/tools create_folder off")
        run_turn(main, "other tools")
        main.rewind(main.history.turn, 1)
        run_turn(main, f"taken back: {LONG}")
        main.record(StateRecord("left_out_before", main.history.turn))
        run_turn(main, "left out")
        main.system_prompt = "You are another test."
        run_turn(main, "different instructions")
        server.cache = PromptCache()
        run_turn(main, "expired")
        told = [why[0] for why in causes(main)]
    assert told[:-1] == [
        "start of the session",
        MODE,
        "different model: deepseek-v4-pro has its own cache",
        "different tools: −create_folder",
        "turns were undone; everything since is new",
        "the oldest turns were dropped because they no longer fit",
        "different instructions",
    ]
    assert told[-1].startswith("nothing changed: the server's cache had expired, ")


def test_a_cache_that_expired_is_told_with_the_hours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(time=lambda: 1_000_000.0)
    monkeypatch.setattr("modules.sent_requests.feature.time", clock)
    with Simulator([Say("a"), Say("b")]) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, LONG)
        server.cache = PromptCache()
        clock.time = lambda: 1_000_000.0 + 5.5 * 3600
        run_turn(one.terminal, "still there?")
        expired, new = causes(one.terminal)[1]
    assert expired == (
        "nothing changed: the server's cache had expired, 5.5 hours after the last request"
    )
    assert new == NEW


def test_a_server_that_never_had_anything_cached_did_not_let_it_expire(tmp_path: Path) -> None:
    with Simulator([Say("a"), Say("b")]) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, LONG)
        server.cache = PromptCache()
        run_turn(one.terminal, "again")
        unused = "nothing changed: the server has not used a cache so far"
        assert causes(one.terminal)[1] == [unused, NEW]


def test_answers_that_were_cut_are_named(tmp_path: Path) -> None:
    script: list[Step] = [
        *[Call("read_file", path=f"{n}.txt") for n in range(3)],
        Say("a"),
        Say("b"),
    ]
    with Simulator(script) as server, session(tmp_path, server) as one:
        for n in range(3):
            (one.root / f"{n}.txt").write_text(LONG.replace(" ", "\n"))
        run_turn(one.terminal, "read")
        one.terminal.record(StateRecord("shortened", 2))
        run_turn(one.terminal, "again")
        assert causes(one.terminal)[-1] == ["long tool results were shortened to free up space"]


def test_a_summary_is_a_request_of_its_own_and_breaks_the_next(tmp_path: Path) -> None:
    script: list[Step] = [Say(LONG), Say("b"), Say("## Task\nsummed up\n" * 3), Say("c"), Say("d")]
    with Simulator(script) as server, session(tmp_path, server) as one:
        for line in (LONG, "two", "/compact", "three", "four"):
            run_turn(one.terminal, line)
        assert causes(one.terminal)[2:] == [
            ["a separate request that summarizes turns"],
            ["earlier turns were summarized (compaction)"],
            [BLOCKS, NEW],
        ]
        assert labels(prompt(one.terminal, "/context 3")) == [
            "instructions",
            "turns to summarize",
        ]
        assert "summary" in labels(prompt(one.terminal, "/context 4"))
        usage = one.terminal.usage
        assert sum(int(row[2].replace(",", "")) for row in rows(one.terminal)) == (
            usage.prompt_tokens
        )


def test_a_step_that_was_too_long_and_sent_anew_is_counted_once(tmp_path: Path) -> None:
    refusal = Refuse(400, json.dumps({"error": {"message": TOO_LONG}}))
    summary = Say("## Task\nsummed up\n" * 3)
    script: list[Step] = [Say(LONG), Say(LONG), refusal, summary, Say("c")]
    with Simulator(script) as server, session(tmp_path, server) as one:
        for line in (LONG, LONG, "three"):
            run_turn(one.terminal, line)
        shown = rows(one.terminal)
        usage = one.terminal.usage
        card = answer(one.terminal, "/context").card
    assert [row[1] for row in shown] == ["1.1", "2.1", "3.1", "3.1", "3.1"]
    assert shown[2][2:] == ["not counted", "", "", "", NEW]
    assert shown[4][-1].endswith("earlier turns were summarized (compaction)")
    assert isinstance(card, TableCard)
    assert card.rows[-1][2] == f"{usage.prompt_tokens:,}"


def test_a_step_shows_all_that_was_sent_to_the_letter_and_where_it_came_from(
    tmp_path: Path,
) -> None:
    script: list[Step] = [
        (Think("Hm."), Call("read_file", path="a.py")), Call("focus_file", path="a.py"),
        (Say("Yes.\n\n  And  so on. "),), Say("b"),
    ]  # fmt: skip
    with Simulator(script) as server, session(tmp_path, server) as one:
        (one.root / "a.py").write_text("x = 1\ny = 2\n")
        run_turn(one.terminal, "/remember I like 长 names")
        run_turn(one.terminal, "/note a.py what it is for")
        run_turn(one.terminal, "/think")
        run_turn(one.terminal, "read, 看一看")
        run_turn(one.terminal, "again")
        for number, request in enumerate(server.requests, 1):
            card = prompt(one.terminal, f"/context {number} all")
            shown = "\0".join(part.text for part in card.parts)
            body = json.loads(request.raw)
            assert [
                text
                for text in texts_of(body)
                if text.strip() and text not in shown.replace("\0", "")
            ] == []
            for tool in body["tools"]:
                assert json.dumps(tool, ensure_ascii=False) in shown
            assert sum(part.tokens for part in card.parts) == int(
                rows(one.terminal)[number - 1][2].replace(",", "")
            )
        said = labels(card)
    assert said[:2] == ["instructions", "tools: 21"]
    assert {*said} >= {
        *("folder and date", "project map", "memory", "notes", "focus: a.py", "person", "model"),
        *("model's thinking", "call: read_file", "result: read_file"),
    }


def test_what_came_from_the_cache_is_the_beginning_of_the_step(tmp_path: Path) -> None:
    with Simulator([Say(LONG), Say("b")]) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, LONG)
        run_turn(one.terminal, f"new {LONG}")
        first = prompt(one.terminal, "/context 1")
        second = prompt(one.terminal, "/context 2")
        drawn = card_text(second, Translator("en", {}))
    assert all(part.cached == 0 for part in first.parts)
    parts = {str(part.label): part for part in second.parts[:-1]}
    assert parts["instructions"].cached == len(parts["instructions"].text)
    assert parts["model"].cached > 0.9 * len(LONG)  # DeepSeek keeps what it has said as well
    said = second.parts[-1]
    assert (str(said.label), said.change) == ("person", "new")
    assert said.cached < 0.2 * len(said.text)
    assert "You are a test." in drawn
    styles = dict(prompt_rows(second, Translator("en", {})))
    assert styles[f"{LONG[:60].rstrip()}…"] == "dim green"
    assert styles[said.text[said.cached :]] == "yellow"
    assert f"cached\n{LONG[:60].rstrip()}…\n" in drawn
    assert "not cached · new in this step" in drawn


def test_what_changed_since_the_step_before_is_shown_alone(tmp_path: Path) -> None:
    with (
        Simulator([Call("list_files"), Say("a"), Say("b")]) as server,
        session(tmp_path, server) as one,
    ):
        run_turn(one.terminal, "look")
        run_turn(one.terminal, "/tools create_folder off")
        run_turn(one.terminal, "again")
        grown = prompt(one.terminal, "/context 2 diff")
        other = prompt(one.terminal, "/context 3 diff")
        begun = prompt(one.terminal, "/context 1 diff")
    assert [(str(part.label), part.change) for part in grown.parts] == [
        ("call: list_files", "new"),
        ("result: list_files", "new"),
    ]
    changed = [(str(part.label), part.change) for part in other.parts]
    assert changed[:2] == [("tools: 21", "gone"), ("tools: 20", "new")]
    assert ("person", "new") in changed
    assert labels(begun)[0] == "instructions"


def test_what_is_said_again_is_new_all_the_same(tmp_path: Path) -> None:
    with Simulator([Say("Yes.")] * 4) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, "and now?")
        run_turn(one.terminal, "and now?")
        again = prompt(one.terminal, "/context 2 diff")
        one.terminal.rewind(2, 1)
        run_turn(one.terminal, "and then?")
        instead = prompt(one.terminal, "/context 3 diff")
    assert [(part.text, part.change) for part in again.parts] == [
        ("Yes.", "new"),
        ("and now?", "new"),
    ]
    assert [(part.text, part.change) for part in instead.parts][-2:] == [
        ("and now?", "gone"),
        ("and then?", "new"),
    ]


def test_tries_are_one_step_and_what_was_not_counted_says_so(tmp_path: Path) -> None:
    script: list[Step] = [
        *(Refuse(503), Call("list_files"), (Say("ha"), Cut()), Say("Done.")),
        *([Refuse(500)] * 3),
        Say("b"),
    ]
    with Simulator(script) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, LONG)
        run_turn(one.terminal, "fails")
        run_turn(one.terminal, "again")
        shown = rows(one.terminal)
        card = prompt(one.terminal, "/context 1")
    assert [row[1] for row in shown] == ["1.1", "1.2", "2.1", "3.1"]
    assert shown[2][2] == "not counted"
    assert shown[2][-1] == NEW
    assert ("tried", "2 times; this is the last request") in [
        (str(label), str(fact)) for label, fact in card.facts
    ]


def test_a_secret_that_was_learnt_later_is_in_nothing_that_is_shown(tmp_path: Path) -> None:
    value = "ghp_0123456789abcdefghij"
    script: list[Step] = [
        Say("I keep it."),
        Call("create_file", path="a", content="x"),
        Say("Yes."),
    ]
    with Simulator(script) as server, session(tmp_path, server) as one:
        run_turn(one.terminal, f"the token is {value}")
        (one.root / ".env").write_text(f"API_TOKEN={value}\n")
        run_turn(one.terminal, "and now?")
        shown = [
            card_text(prompt(one.terminal, f"/context {n}{how}"), Translator("en", {}))
            for n in (1, 2, 3)
            for how in ("", " all", " diff")
        ]
        assert "person" in labels(prompt(one.terminal, "/context 1"))
        assert value in server.requests[0].raw.decode()
    assert [text for text in shown if value in text] == []
    assert "API_TOKEN" in shown[1]


def test_a_session_that_goes_on_later_and_a_fork_say_what_they_begin_with(tmp_path: Path) -> None:
    with Simulator([Say("a"), Say("b"), Say("c")]) as server:
        with session(tmp_path, server) as one:
            run_turn(one.terminal, LONG)
            begun = one.terminal.session
        with session(tmp_path, server) as again:
            again.terminal.resume(begun)
            run_turn(again.terminal, "again")
            assert causes(again.terminal) == [["start of the session"], [BLOCKS, NEW]]
            again.terminal.resume(again.terminal.fork(1))
            run_turn(again.terminal, "otherwise")
            ((*_, why),) = rows(again.terminal)
    assert why.endswith("the first saved request (a fork, or older ones are no longer kept)")


def test_claude_is_shown_by_the_same_parts(tmp_path: Path) -> None:
    thought = thinking("I should look.", signature_of("I should look."), 0)
    script: list[Any] = [
        lambda _: reply(thought, call("toolu_a", "list_files", "{}", 1), stop="tool_use"),
        reply(text("Done.")),
        reply(text("Again.")),
    ]
    with AnthropicSimulator(script) as server:
        client = ApiClient(
            server.url,
            "sk-ant-0123456789",
            api=AnthropicMessages(ANTHROPIC_ACCOUNT),
            model="claude-opus-5-5",
            retries=0,
        )
        with assembled_terminal(tmp_path, model=client) as one:
            run_turn(one.terminal, "/think")
            run_turn(one.terminal, LONG)
            run_turn(one.terminal, "again")
            told = causes(one.terminal)
            said = labels(prompt(one.terminal, "/context 3"))
        client.close()
    assert told[0] == ["start of the session"]
    assert told[1][-1] == NEW
    assert said[0].startswith("tools: ")
    assert {"instructions", "folder and date", "person", "model's thinking",
            "call: list_files", "result: list_files", "model"} <= {*said}  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ({"protocol": "vcp"}, ["instructions", "folder and date", "person", "model"]),
        ({"alternating": True, "system_messages": "first"},
         ["instructions", "folder and date", "tools: 21", "person", "call: list_files"]),
        ({"tool_messages": False},
         ["instructions", "tools: 21", "folder and date", "person", "model"]),
    ],
    ids=["vcp", "alternating", "calls as text"],
)  # fmt: skip
def test_servers_of_another_shape_are_shown_by_the_same_parts(
    tmp_path: Path, profile: dict[str, Any], said: list[str]
) -> None:
    block = "<<<[TOOL_REQUEST]>>>\ntool_name:「始」list_files「末」\n<<<[END_TOOL_REQUEST]>>>"
    call_step = Say(block) if "protocol" in profile else Call("list_files")
    script: list[Step] = [call_step, Say("a"), Say("b")]
    with Simulator(script, is_validated=False) as server, session(tmp_path, server) as one:
        one.terminal.model.set_profile(profile)
        run_turn(one.terminal, LONG)
        run_turn(one.terminal, "again")
        assert all(NEW in why for why in causes(one.terminal)[1:])
        shown = labels(prompt(one.terminal, "/context 3"))
    answers = "tool results" if "alternating" not in profile else "result: list_files"
    assert shown == [*said, answers, "model", "person"]


def test_a_server_that_does_not_say_what_its_cache_had_is_told_of(tmp_path: Path) -> None:
    with Simulator([Say("a"), Say("b")]) as server, session(tmp_path, server) as one:
        one.terminal.model.set_profile({"cache_figures": "none"})
        run_turn(one.terminal, LONG)
        run_turn(one.terminal, "again")
        told = causes(one.terminal)
    assert told == [["start of the session"], ["the server does not report its cache"]]


def test_what_cannot_be_shown_says_so(tmp_path: Path) -> None:
    with Simulator([Say("a")]) as server, session(tmp_path, server) as one:
        nothing = answer(one.terminal, "/context")
        run_turn(one.terminal, "hi")
        wrong = [answer(one.terminal, f"/context {words}") for words in ("x", "0", "1 raw", "2")]
    said = [one.card.title for one in (nothing, *wrong) if isinstance(one.card, TextCard)]
    assert not any(one.ok for one in (nothing, *wrong))
    assert [str(title) for title in said] == [
        "Nothing has been sent to the model in this session yet.",
        *["Usage: /context, /context N, /context N all or /context N diff."] * 3,
        "No step 2; there are 1.",
    ]
