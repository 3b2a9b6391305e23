"""An old conversation is brought in whole, and every request that goes on with it is valid."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.conversation.messages import ToolCall, User
from modules.import_history.importer import ImportReport, import_history
from modules.import_history.old_messages import Repair
from modules.import_history.repair import MISSING_ANSWER, MISSING_BEGINNING, repair_messages
from modules.import_history.source import MAX_FILE_BYTES
from modules.sessions.store import Sessions
from tests.assembly import assembled_terminal
from tests.core.loop.test_turn import check_whole
from tests.request_validation import recipe_error
from tests.scripted_model import run_turn, text_reply
from utils.i18n import UserError

Wire = dict[str, Any]


def wire_of(messages: list[Any]) -> list[Wire]:
    """Return *messages* as they would be sent, after checking that they may be."""
    records = [record for _, record in repair_messages(messages).records if record.kind != "shift"]
    wire: list[Wire] = [record.to_wire() for record in records]
    check_whole(wire)
    body = {"model": "deepseek-flash", "messages": wire, "thinking": {"type": "enabled"}}
    assert recipe_error(json.dumps(body).encode()) is None
    return wire


def repairs_of(messages: list[Any]) -> dict[Repair, list[int]]:
    return {repair: list(numbers) for repair, numbers in repair_messages(messages).repairs.items()}


def brought_in(tmp_path: Path, content: str | bytes) -> ImportReport:
    path = tmp_path / "conversation_history.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    store = Sessions(tmp_path / "sessions.sqlite")
    try:
        return import_history(path, store, model="m", redact=str)
    finally:
        store.close()


def a_call(
    call_id: Any = "c1", name: Any = "create_file", arguments: Any = '{"path": "a"}'
) -> Wire:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def reply(*calls: Any, content: Any = "", **more: Any) -> Wire:
    return {"role": "assistant", "content": content, "tool_calls": list(calls), **more}


def answer(call_id: Any = "c1", content: Any = "done", **more: Any) -> Wire:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def user(text: Any = "做吧") -> Wire:
    return {"role": "user", "content": text}


WHOLE: list[Wire] = [
    user(),
    reply(a_call(), content="I write.", reasoning_content="Hm."),
    answer(name="create_file"),
    {"role": "assistant", "content": "Done."},
]


def test_a_whole_conversation_needs_no_mending_and_stays_as_it_is() -> None:
    assert repairs_of(WHOLE) == {}
    assert wire_of(WHOLE) == [
        {"role": "user", "content": "做吧"},
        {"role": "assistant", "content": "I write.", "reasoning_content": "Hm.",
         "tool_calls": [a_call()]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "Done.", "reasoning_content": ""},
    ]  # fmt: skip


def test_turns_are_counted_and_a_note_before_a_message_belongs_to_its_turn() -> None:
    note = {"role": "system", "content": "By the way."}
    mended = repair_messages(
        [note, user("one"), reply(content="1", tool_calls=None), note, user("two")]
    )
    assert [(turn, record.kind) for turn, record in mended.records[:-1]] == [
        (1, "user"), (1, "assistant"), (2, "context"), (2, "user"),
    ]  # fmt: skip
    assert mended.repairs == {Repair.SYSTEM: [1]}


@pytest.mark.parametrize(
    ("messages", "repair", "number"),
    [
        ([user(), 7, *WHOLE], Repair.NO_MESSAGE, 2),
        ([user(), reply(content=None, tool_calls=None)], Repair.EMPTY, 2),
        ([{"role": "developer", "content": "Be good."}, *WHOLE], Repair.SYSTEM, 1),
        ([{"role": " Human ", "content": "hi"}], Repair.ROLE, 1),
        ([user(), {"role": "observer", "content": "hm"}], Repair.UNKNOWN_ROLE, 2),
        ([user([{"type": "text", "text": "a"}, "b"])], Repair.CONTENT, 1),
        ([user(5)], Repair.CONTENT, 1),
        ([user([{"type": "image_url", "image_url": {"url": "x"}}])], Repair.PART, 1),
        ([user(), reply(content="<think>Hm.</think>\n\nYes.")], Repair.THINKING, 2),
        ([user(), reply("nothing", content="x")], Repair.CALL, 2),
        ([user(), reply({"id": "c1", "function": {"name": "f", "arguments": "{}"}}), answer()],
         Repair.CALL_TYPE, 2),
        ([user(), reply(a_call(None)), answer("c1")], Repair.CALL_ID, 2),
        ([*WHOLE, *WHOLE], Repair.CALL_ID, 6),
        ([user(), reply(a_call(name=""), content=""), answer(name="read_file")],
         Repair.CALL_NAME, 2),
        ([user(), reply(a_call(arguments={"path": "a"})), answer()], Repair.ARGUMENTS, 2),
        ([user(), reply(a_call(arguments=None)), answer()], Repair.ARGUMENTS, 2),
        ([user(), reply(a_call(arguments='{"path": "a\nb",}')), answer()], Repair.ARGUMENTS, 2),
        ([user(), reply(a_call(arguments='"{\\"path\\": \\"a\\"}"')), answer()],
         Repair.ARGUMENTS, 2),
        ([user(), reply(a_call(arguments="{'path': 'a', 'all': True}")), answer()],
         Repair.ARGUMENTS, 2),
        ([user(), reply(a_call(arguments="{'path': open('a')}")), answer()], Repair.BROKEN, 2),
        ([user(), reply(a_call(arguments="{'path': {1, 2}}")), answer()], Repair.BROKEN, 2),
        ([user(), reply(a_call(arguments='{"path": "a')), answer()], Repair.BROKEN, 2),
        ([user(), reply(a_call(arguments="[1]")), answer()], Repair.BROKEN, 2),
        ([user(), reply(a_call()), answer(None)], Repair.ANSWER_ID, 3),
        ([user(), reply(a_call()), answer("other")], Repair.ANSWER_ID, 3),
        ([user(), {"role": "assistant", "content": None,
                   "function_call": {"name": "f", "arguments": "{}"}},
          {"role": "function", "name": "f", "content": "1"}], Repair.ANSWER_ID, 3),
        ([user(), reply(a_call()), {"role": "assistant", "content": "Done."}, answer()],
         Repair.ANSWER_PLACE, 4),
        ([user(), answer(), reply(a_call())], Repair.ANSWER_PLACE, 2),
        ([user(), answer("nobody")], Repair.ORPHAN, 2),
        ([*WHOLE[:3], answer(content="twice")], Repair.ORPHAN, 4),
        ([user(), reply(a_call())], Repair.UNANSWERED, 2),
        (WHOLE[1:], Repair.BEGINNING, 1),
    ],
)  # fmt: skip
def test_what_lacks_is_mended_and_told(messages: list[Any], repair: Repair, number: int) -> None:
    wire_of(messages)
    assert repairs_of(messages)[repair] == [number]


def test_an_id_that_is_made_up_is_none_that_a_later_call_has() -> None:
    made_up, own = reply(a_call(None)), reply(a_call("call_1"))
    messages = [user(), made_up, answer(None), own, answer("call_1")]
    assert repairs_of(messages) == {Repair.CALL_ID: [2], Repair.ANSWER_ID: [3]}
    assert [m["tool_call_id"] for m in wire_of(messages) if "tool_call_id" in m] == [
        "call_2", "call_1",
    ]  # fmt: skip


def test_arguments_that_python_printed_are_read() -> None:
    said = "{'path': \"it's.txt\", 'all': True, 'old': None, 'new': '\\d\\ud800'}"
    wire = wire_of([user(), reply(a_call(arguments=said)), answer()])
    read = json.loads(wire[1]["tool_calls"][0]["function"]["arguments"])
    assert read == {"path": "it's.txt", "all": True, "old": None, "new": "\\d\ufffd"}


def test_answers_find_their_calls_by_id_else_by_name_else_by_order() -> None:
    calls = [a_call(None, "list_files"), a_call(None, "read_file"), a_call("x", "read_file")]
    answers = [answer("x", "third"), answer(None, "second", name="read_file"), answer("y", "first")]
    wire = wire_of([user(), reply(*calls), *answers])
    assert [one["content"] for one in wire[2:]] == ["first", "second", "third"]
    assert [one["tool_call_id"] for one in wire[2:]] == [c["id"] for c in wire[1]["tool_calls"]]


def test_a_late_answer_comes_right_behind_its_call_and_nothing_is_dropped() -> None:
    wire = wire_of([user("one"), reply(a_call()), user("two"), answer(content="late"),
                    answer("nobody", "lone", name="f")])  # fmt: skip
    assert [(one["role"], one["content"]) for one in wire] == [
        ("user", "one"), ("assistant", ""), ("tool", "late"), ("user", "two"),
        ("system", "Result of an earlier call of f: lone"),
    ]  # fmt: skip


def test_what_a_call_said_is_kept_even_where_it_cannot_be_read() -> None:
    records = repair_messages([user(), reply(a_call(arguments='{"path": "a'))]).records
    call = records[1][1].calls[0]  # type: ignore[union-attr]
    assert call == ToolCall("c1", "create_file", "{}", broken='{"path": "a')
    assert records[2][1].text == MISSING_ANSWER  # type: ignore[union-attr]


def test_a_missing_beginning_is_said() -> None:
    assert wire_of(WHOLE[1:])[0] == {"role": "user", "content": MISSING_BEGINNING}


# --- the file ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [
        lambda m: json.dumps(m),
        lambda m: json.dumps({"messages": m}),
        lambda m: json.dumps({"conversation": m, "timestamp": "2025-07-01"}),
        lambda m: "\ufeff" + json.dumps(m, ensure_ascii=False, indent=2),
        lambda m: json.dumps(m, ensure_ascii=False).encode("gb18030"),
        lambda m: json.dumps(m, ensure_ascii=False).encode("utf-16"),
        lambda m: "\n".join(json.dumps(one) for one in m),
    ],
)
def test_every_shape_is_read(tmp_path: Path, shape: Callable[[Any], str | bytes]) -> None:
    done = brought_in(tmp_path, shape(WHOLE))
    assert (done.messages, done.turns, done.history.repairs) == (4, 1, {})
    store = Sessions(tmp_path / "sessions.sqlite")
    assert store.info(done.session).title == "做吧"
    store.close()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is incomplete: it ends in line 1|is not valid JSON"),
        ("hello", "is not valid JSON: .* in line 1, column 1"),
        (json.dumps(WHOLE)[:-20], "is incomplete: it ends in line 1"),
        (json.dumps(WHOLE, indent=1)[:-3], "is incomplete: it ends in line"),
        ('[{"role": "user", "content": "a"} x]', "is not valid JSON: .* column 35"),
        ("[" * 100_000, "is not valid JSON"),
        ('{"name": "package", "version": 1}', "No conversation"),
        ("[1, 2, 3]", "No conversation"),
        ('"role"', "No conversation"),
        ('[{"role": "system", "content": "x"}]', "No conversation"),
        (b"\x00\xff\xfe\x81", "is not text|is not valid JSON"),
    ],
)
def test_what_is_no_conversation_is_told_and_leaves_nothing(
    tmp_path: Path, content: str | bytes, told: str
) -> None:
    with pytest.raises(UserError, match=told):
        brought_in(tmp_path, content)
    store = Sessions(tmp_path / "sessions.sqlite")
    assert store.sessions() == []
    store.close()


def test_a_file_that_is_missing_no_file_or_huge_is_told(tmp_path: Path) -> None:
    store = Sessions(tmp_path / "sessions.sqlite")
    huge = tmp_path / "huge.json"
    with huge.open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    for path, told in [
        (tmp_path / "none.json", "Cannot read .*: No such file"),
        (tmp_path, "is not a file"),
        (huge, "too large to import: 100 MB .limit: 100 MB."),
        (Path("nul\0"), "Cannot read"),
    ]:
        with pytest.raises(UserError, match=told):
            import_history(path, store, model="m", redact=str)
    store.close()


# --- going on ------------------------------------------------------------------------------------


def old_history(chance: random.Random, messages: int) -> list[Any]:
    """Return a conversation such as an older program kept, with every kind of damage."""
    made: list[Any] = []
    while len(made) < messages:
        made.append(user(chance.choice(["写一个文件", "go on", ["text"], None, 3])))
        for _ in range(chance.randint(0, 4)):
            ids = [chance.choice([None, "", "call_1", f"call_{len(made)}_{n}"])
                   for n in range(chance.randint(1, 3))]  # fmt: skip
            texts = ["{}", '{"path": "a"}', {"path": "a"}, '{"a": "b\nc",}', '{"x', None, "null"]
            calls = [a_call(one, chance.choice(["read_file", "", "a b"]), chance.choice(texts))
                     for one in ids]  # fmt: skip
            for one in calls:
                if chance.random() < 0.3:
                    del one["type"]
            made.append(reply(*calls, content=chance.choice([None, "", "ok", [], 4])))
            answers = [answer(one, chance.choice(["ok", None, {"success": True}, ["x"]]))
                       for one in ids if chance.random() < 0.9]  # fmt: skip
            chance.shuffle(answers)
            made += answers
            if chance.random() < 0.1:
                made.insert(chance.randint(0, len(made)), answer("lone", "?"))
        made.append({"role": chance.choice(["assistant", "AI", "bot"]), "content": "Done."})
        if chance.random() < 0.2:
            made.append({"role": chance.choice(["developer", "system"]), "content": "Note."})
    return made[:messages]


@pytest.mark.parametrize("seed", range(20))
def test_a_long_damaged_history_goes_on(tmp_path: Path, seed: int) -> None:
    messages = old_history(random.Random(seed), 300)
    path = tmp_path / "old.json"
    path.write_text(json.dumps(messages), encoding="utf-8")
    with assembled_terminal(tmp_path, text_reply("Here I am."), text_reply("Again.")) as env:
        done = import_history(path, env.store, model="m", redact=env.terminal.redact)
        env.terminal.resume(done.session)
        before = env.terminal.history.turn
        run_turn(env.terminal, "And now?")
        run_turn(env.terminal, "/status")
        run_turn(env.terminal, "Again?")
        first, second = env.model.requests
        for request in (first, second):
            check_whole(request)
            body = {"model": "deepseek-flash", "messages": request}
            assert (
                recipe_error(json.dumps({**body, "thinking": {"type": "enabled"}}).encode()) is None
            )
        assert second[: len(first)] == first
        assert env.terminal.history.turn == before + 2
    assert len(first) > 100


def test_secrets_of_the_project_are_not_brought_in(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps([user("use hunter2-hunter2"), answer("x", "hunter2-hunter2")]))
    with assembled_terminal(tmp_path) as env:
        (env.root / ".env").write_text("PASSWORD=hunter2-hunter2\n")
        done = import_history(path, env.store, model="m", redact=env.terminal.redact)
        assert "hunter2" not in str(env.store.load(done.session))
        assert env.store.info(done.session).title == "use «SECRET:PASSWORD»"


def test_an_export_comes_back_without_what_was_taken_back(tmp_path: Path) -> None:
    with assembled_terminal(
        tmp_path, text_reply("One."), text_reply("Two."), text_reply("Three.")
    ) as env:
        run_turn(env.terminal, "one")
        run_turn(env.terminal, "two")
        run_turn(env.terminal, "/rewind 2")
        run_turn(env.terminal, "three")
        run_turn(env.terminal, "/export talk.json")
        sent = env.terminal.history.messages()
        path = env.root / "talk.json"
        done = import_history(path, env.store, model="m", redact=env.terminal.redact)
        run_turn(env.terminal, "/new")
        env.terminal.resume(done.session)
        said = [one for one in env.terminal.history.messages() if one["role"] != "system"]
        assert said == [one for one in sent if one["role"] != "system"]
        assert [one["content"] for one in said] == ["one", "One.", "three", "Three."]


def test_pictures_that_an_export_refers_to_are_named() -> None:
    shown = [{"name": "a.png", "digest": "0" * 64}, "x", {}]
    said = [
        {"role": "user", "content": "", "pictures": shown},
        {"role": "assistant", "content": "A"},
    ]
    assert User("[picture a.png left out]") in [r for _, r in repair_messages(said).records]
