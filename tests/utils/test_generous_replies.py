"""Replies of servers that are looser than DeepSeek's are read as they were meant."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.loop.response import to_tool_call
from tests.simulator import Cut, Raw, Step
from tests.utils.client_helpers import StreamResult, stream_from_script
from utils.llm.calls.lenient_json import read_lenient, repair_object
from utils.llm.calls.think_tag import ThinkTag

ARGUMENTS = '{"path": "a", "content": "x\\n"}'
Delta = dict[str, Any]


def chunk(delta: Delta, finish: str | None = None) -> Raw:
    event = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return Raw(b"data: " + json.dumps(event).encode() + b"\n\n")


def heard(*deltas: Delta, finish: str | None = "stop", done: bool = True) -> StreamResult:
    step: Step = (*map(chunk, deltas), chunk({}, finish), Cut(done=done))
    told = stream_from_script(step)
    assert told.retries == []
    return told


def function(arguments: Any = ARGUMENTS, **more: Any) -> Delta:
    return {"function": {"name": "create_file", "arguments": arguments}, **more}


def called(*deltas: Delta, finish: str | None = "tool_calls") -> list[tuple[str, Any]]:
    """Return name and arguments of each call that would run."""
    done = heard(*deltas, finish=finish).completion
    calls = [to_tool_call(call) for call in done.calls]
    assert len({call.id for call in calls}) == len(calls)
    assert not any(call.broken for call in calls)
    return [(call.name, json.loads(call.arguments)) for call in calls]


MEANT = ("create_file", {"path": "a", "content": "x\n"})


@pytest.mark.parametrize("finish", [None, "eos", "end_turn", "stop_sequence", "tool_use"])
def test_a_reply_ends_with_any_reason_or_none_that_is_no_failure(finish: str | None) -> None:
    assert (
        heard({"content": "All "}, {"content": "done."}, finish=finish).completion.text
        == "All done."
    )
    assert called({"tool_calls": [function(index=0, id="c")]}, finish=finish) == [MEANT]


@pytest.mark.parametrize("finish", ["length", "max_tokens", "model_length"])
def test_a_call_that_the_limit_may_have_cut_is_marked_whatever_the_limit_is_called(
    finish: str,
) -> None:
    done = heard({"tool_calls": [function(index=0, id="c")]}, finish=finish).completion
    assert done.is_cut
    assert [call.is_cut for call in done.calls] == [True]


def test_a_content_that_is_a_list_is_text_and_thinking() -> None:
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, "All "]
    told = heard({"content": parts}, {"content": [{"type": "text", "text": "done."}]})
    assert (told.text, told.thinking, told.completion.text) == ("All done.", "Hm.", "All done.")


def test_a_think_tag_at_the_start_is_thinking_however_it_is_cut_up() -> None:
    text = "\n<think>secret\n<b>plan</b> < goes</thi on</think>\n\nAll <think> done.</think>"
    for seed in range(30):
        chance = random.Random(seed)
        cuts = sorted({0, len(text), *chance.choices(range(len(text)), k=seed)})
        pieces = [text[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]
        tag = ThinkTag()
        fed = [tag.feed(piece) for piece in pieces]
        assert "".join(thought for thought, _ in fed) == "secret\n<b>plan</b> < goes</thi on"
        assert "".join(said for _, said in fed) == "All <think> done.</think>"
        assert tag.close(is_thought=False) == ""
    told = heard(*({"content": char} for char in text))
    assert told.completion.text == told.text == "All <think> done.</think>"
    assert told.completion.thinking == told.thinking == "secret\n<b>plan</b> < goes</thi on"


@pytest.mark.parametrize(
    "text", ["<", "<thin", "<thinker> is", "`<think>` is a tag", "a <think>b</think>", " \n<p>"]
)
def test_what_is_no_think_tag_at_the_start_is_text(text: str) -> None:
    assert heard({"content": text}).completion.text == text
    assert heard(*({"content": char} for char in text)).completion.text == text


def test_a_think_tag_without_end_is_text_but_thinking_where_the_reply_was_cut() -> None:
    assert heard({"content": "<think> is a tag"}).completion.text == "<think> is a tag"
    cut = heard({"content": "<think>I think"}, finish="length").completion
    assert (cut.text, cut.thinking, cut.is_cut) == ("", "I think", True)
    assert called({"content": "<think>Hm"}, {"tool_calls": [function(id="c")]}) == [MEANT]


@pytest.mark.parametrize("gap", [" ", "\n", "</s>", "</answer>", "</think>"])
def test_a_long_reply_is_read_in_a_time_that_grows_with_its_length_only(gap: str) -> None:
    text = f"x{gap * 300_000}y"  # with the square of it the day would not suffice
    assert heard({"content": text}).completion.text.endswith("y")


@pytest.mark.parametrize(
    "pieces",
    [
        [function()],
        [function(index=0, id="")],
        [function(json.loads(ARGUMENTS), index=0)],
        [function(json.dumps(ARGUMENTS), index=0)],
        [{"name": "create_file", "arguments": ARGUMENTS}],
        [function('{"path": "a", "content": "x\n"}')],
        [function('{"path": "a", "content": "x\\n",}')],
        [function(json.dumps('{"path": "a", "content": "x\n",}'))],
        [function(ARGUMENTS[:9]), {"function": {"arguments": ARGUMENTS[9:]}}],
        [function(ARGUMENTS[n : n + 9]) for n in range(0, len(ARGUMENTS), 9)],
        [function(ARGUMENTS[:n], index=0, id="c") for n in (1, 9, 20, 99)],
        [function(ARGUMENTS, index=0, id="c"), function(ARGUMENTS, index=0, id="c")],
        [{"name": "create_"}, {"name": "file"}, {"arguments": ARGUMENTS}],
        [{"name": "create_file", "parameters": json.loads(ARGUMENTS)}],
        [{"name": "create_file", "input": json.loads(ARGUMENTS)}],
        [function(json.dumps(json.dumps(ARGUMENTS)), index=0)],
        [function(str(json.loads(ARGUMENTS)))],
        [function(ARGUMENTS.replace("{", "{ // it's where\n", 1))],
        [function(ARGUMENTS.replace("{", "{/* where */", 1))],
        [function("{“path”: “a”, “content”: “x\\n”}")],
        [function(f"```json\n{ARGUMENTS}\n```")],
        [function(f"\ufeff{ARGUMENTS}")],
    ],
    ids=str,
)
def test_a_call_is_read_in_every_form(pieces: list[Delta]) -> None:
    assert called(*({"tool_calls": [piece]} for piece in pieces)) == [MEANT]


def test_calls_that_are_one_object_and_no_list_are_read() -> None:
    assert called({"tool_calls": function(index=0, id="c")}) == [MEANT]


@pytest.mark.parametrize("arguments", [None, "", "null", "None", "{}", {}])
def test_a_call_without_arguments_has_none(arguments: Any) -> None:
    piece = {"function": {"name": "list_files", "arguments": arguments}, "index": 0}
    assert called({"tool_calls": [piece]}) == [("list_files", {})]


def test_two_calls_without_index_and_id_are_two() -> None:
    assert called({"tool_calls": [function(), function()]}) == [MEANT, MEANT]
    assert called({"tool_calls": [function()]}, {"tool_calls": [function()]}) == [MEANT, MEANT]
    both = [{**function(), "index": 0}, {**function(), "index": 0}]
    assert called({"tool_calls": both}) == [MEANT, MEANT]


def test_the_older_form_of_a_call_is_one() -> None:
    assert called({"function_call": function()["function"]}, finish="function_call") == [MEANT]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ('{"a": ",}", "b": ",]",}', {"a": ",}", "b": ",]"}),
        ('{"a": "x\ty\r\n\\",}"\n,\n}', {"a": 'x\ty\r\n",}'}),
        ('{"a": "// it\'s ’None’ /* “b”", "c": None,}', {"a": "// it's ’None’ /* “b”", "c": None}),
        ("{'a': 'say \"it\\'s\" /* x', 'b': True}", {"a": 'say "it\'s" /* x', "b": True}),
    ],
)
def test_lenient_json_changes_no_string(text: str, value: Any) -> None:
    assert read_lenient(text) == value
    assert json.loads(repair_object(text)) == value


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": "b', '{"a": "b"', '{"a": "b",', "[1]", '"a"', "NaN", "{,}x", "{a: 1}"]
)
def test_nothing_that_was_left_open_is_closed(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        repair_object(text)


TEXT = st.text(alphabet="ab'\"\\ ,{}[]:/*“”’#\n\t世", max_size=20)


@given(st.dictionaries(TEXT, TEXT, min_size=1), st.data())
def test_a_python_object_is_read_and_none_of_its_cuts(
    value: dict[str, str], data: st.DataObject
) -> None:
    text = str(value)
    assert read_lenient(text) == value
    with pytest.raises(ValueError, match="."):
        read_lenient(text[: data.draw(st.integers(0, len(text) - 1))])
