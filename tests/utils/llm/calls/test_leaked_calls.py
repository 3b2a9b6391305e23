"""Call markup in the text of a reply is never shown: it is read back as calls, or asked again."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulator import Call, CallText, Cut, Delivery, Finish, Say, Simulator, Think, markup
from tests.utils.client_helpers import client_of, stream_from_script, stream_once
from utils.llm.calls.leaked_calls import MarkupGuard, RecoveredCall, read_calls
from utils.llm.completion import ModelError

READ = Call("read_file", path="a <b>|世界.txt", start_line=3)
WRITE = Call("create_file", path="b", content="x\n</b> & ｜ <i>\n", overwrite=True)
CALLS = [RecoveredCall(call.name, call.arguments) for call in (READ, WRITE)]
OLD = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n"
    '```json\n{"path": "a"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
)
OLDER = (
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{"path": "a"}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
)
ASCII = (
    '<|tool_calls_begin|><|tool_call_begin|>read_file<|tool_sep|>{"path": "a"}'
    "<|tool_call_end|><|tool_calls_end|>"
)
FORMS = [
    markup(READ, WRITE, bars=bars, space=space, outer=outer)
    for bars in ("｜", "｜｜", "|", "||", " | ")
    for space in (" ", "")
    for outer in ("calls", "tool_calls", "function_calls")
]
HALVES = [
    markup(READ, whole=False),
    markup(READ)[:-40],
    "<｜DSML｜ calls>",
    "</｜DSML｜ calls>",
    markup(READ).replace(' string="true"', ""),
    markup(Call("a", n=1)).replace(">1<", ">one<"),
    OLD[:-5],
    OLD.replace('"a"}', '"a"'),
]
HARMLESS = [
    "a < b and b > c, |x| < 1, <| and <｜ and <｜DS are no markup",
    "if (a <|b) { <div class='|'>",
    "The token <｜DSML｜> alone says nothing.",
    "Write `<｜DSML｜ calls>` to call a tool.",
    '```xml\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="x">\n```\nThat is how it looks.',
    "~~~~\n```\n<｜DSML｜ calls>\n~~~~\n",
    "- like this:\n\n  ```\n  <|tool_calls_begin|>\n  ```\n",
    "ends with <",
    "ends with <｜DSML｜ cal",
    "<" + " " * 100,
]


def through(pieces: list[str]) -> tuple[str, str, str]:
    """Return what a guard shows at once, what at the end, and what it keeps."""
    guard = MarkupGuard()
    shown = "".join(guard.feed(piece) for piece in pieces)
    rest = guard.close()
    assert guard.text == shown + rest
    return shown, rest, guard.markup


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_back(form: str) -> None:
    assert read_calls(form) == CALLS


@pytest.mark.parametrize("form", [OLD, OLDER, ASCII])
def test_the_forms_of_older_models_are_read_back(form: str) -> None:
    assert read_calls(form) == [RecoveredCall("read_file", '{"path": "a"}')]


def test_an_invocation_without_a_block_is_read_back() -> None:
    inner = "\n".join(markup(READ).splitlines()[1:-1])
    assert read_calls(inner) == CALLS[:1]


def test_what_follows_the_calls_is_dropped() -> None:
    assert read_calls(markup(READ) + "\n\nThe file says: 42") == CALLS[:1]


@pytest.mark.parametrize("half", HALVES)
def test_what_is_not_whole_is_no_call(half: str) -> None:
    assert read_calls(half) is None


@given(st.sampled_from([*FORMS, *HALVES, OLD, OLDER, ASCII]), st.data())
def test_no_cut_lets_a_marker_through(form: str, data: st.DataObject) -> None:
    text = "I read it.\n\n" + form
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
    pieces = [text[a:b] for a, b in pairwise([0, *cuts, len(text)])]
    assert through(pieces) == ("I read it.\n\n", "", form)
    assert through(list(text)) == ("I read it.\n\n", "", form)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_markup_is_shown(text: str) -> None:
    for pieces in ([text], list(text)):
        shown, rest, kept = through(pieces)
        assert (shown + rest, kept) == (text, "")


@given(st.text(alphabet="<>|｜/ DSMLcals`\n~", max_size=80))
def test_nothing_is_lost_or_changed(text: str) -> None:
    assert "".join(through([text])) == "".join(through(list(text))) == text
    assert through([text])[2] == through(list(text))[2]


def test_an_unclosed_fence_hides_no_leak() -> None:
    guard = MarkupGuard()
    guard.feed("```\nsome code\n" + markup(READ))
    assert guard.has_leaked
    closed = MarkupGuard()
    closed.feed("```\nsome code\n" + markup(READ) + "\n```\n")
    assert not closed.has_leaked


def test_leaked_calls_become_calls() -> None:
    heard = stream_from_script((Say("I look.\n"), Say(markup(READ, WRITE))))
    assert heard.text == heard.completion.text == "I look.\n"
    calls = [(call.name, json.loads(call.arguments)) for call in heard.completion.calls]
    assert calls == [(call.name, json.loads(call.arguments)) for call in (READ, WRITE)]
    assert len({call.id for call in heard.completion.calls}) == 2
    assert heard.retries == []


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_a_leak_is_held_back_at_any_cut_of_the_bytes(size: int) -> None:
    heard = stream_from_script(
        (Delivery(piece_bytes=size), Say("Now. "), Say(markup(READ, bars="｜｜")))
    )
    assert (heard.text, heard.completion.calls[0].name) == ("Now. ", "read_file")


@pytest.mark.parametrize("half", HALVES)
def test_a_broken_leak_is_asked_again(half: str) -> None:
    heard = stream_from_script(Say(f"I look. {half}"), Say("Fine."))
    assert (heard.text, len(heard.retries)) == ("Fine.", 1)


def test_broken_leaks_have_an_end() -> None:
    with Simulator([Say(HALVES[0])] * 9) as server, client_of(server) as client:
        with pytest.raises(ModelError, match="cannot be read") as caught:
            stream_once(client)
        assert len(server.requests) == 4
    assert caught.value.kind == "reply"


def test_a_leak_in_an_unclosed_fence_is_asked_again() -> None:
    assert len(stream_from_script(Say("```\n" + markup(READ)), Say("Fine.")).retries) == 1


def test_an_answer_about_markup_arrives() -> None:
    text = f"A call looks so:\n\n```\n{markup(READ)}\n```\n\nAnd `<｜DSML｜ calls>` opens it."
    heard = stream_from_script(Say(text))
    assert heard.text == heard.completion.text == text
    assert heard.completion.calls == ()


def test_the_markers_of_another_model_are_left_to_who_knows_them() -> None:
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0"
        '<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
    )
    heard = stream_from_script(Say(text))
    assert (heard.completion.text, heard.completion.calls, heard.retries) == (text, (), [])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("In DSML a call looks like this:\n\n", ""),
        ("", "\n\nThat is the syntax of a call."),
        ("The log of the server holds\n\n", ""),
        ("The file contains:\n\n", "\n\nShall I run it?"),
        ("You could send\n", ""),
    ],
)
def test_a_call_that_is_explained_is_text(before: str, after: str) -> None:
    text = before + markup(READ) + after
    heard = stream_from_script(Say(text))
    assert heard.text == heard.completion.text == text
    assert not heard.completion.calls


def test_a_leak_in_thought_is_recovered_when_nothing_else_came() -> None:
    heard = stream_from_script((Think("I call. " + markup(READ)), Finish("stop")), think=True)
    assert heard.thinking == heard.completion.thinking == "I call. "
    assert heard.completion.calls[0].name == "read_file"


def test_a_leak_in_thought_beside_an_answer_is_dropped() -> None:
    heard = stream_from_script((Think("I call. " + markup(READ)), Say("Done.")), think=True)
    assert (heard.completion.thinking, heard.completion.text) == ("I call. ", "Done.")
    assert heard.completion.calls == ()


def test_true_calls_go_before_leaked_ones() -> None:
    heard = stream_from_script((Say("x " + markup(WRITE)), CallText("read_file", "{}")))
    assert [call.name for call in heard.completion.calls] == ["read_file"]


def test_a_leak_cut_off_by_the_limit_is_no_call() -> None:
    done = stream_from_script((Say("I write. " + markup(WRITE)[:-60]), Finish("length"))).completion
    assert (done.text, done.calls, done.is_cut) == ("I write. ", (), True)


def test_a_stream_cut_amid_a_leak_is_broken() -> None:
    assert len(stream_from_script((Say(markup(READ)), Cut()), Say("Fine.")).retries) == 1


def test_a_call_cut_in_a_marker_does_not_take_in_the_next() -> None:
    for cut in ("</｜DSML｜par", "<｜DSML｜t", "</|", ""):
        first, mark = '<｜DSML｜calls>\n<｜DSML｜invoke name="create_file">\n', "｜DSML｜"
        value = f'<{mark}parameter name="content" string="true">one\n{cut}\n'
        second = (
            f'<{mark}calls>\n<{mark}invoke name="delete_file">\n'
            f'<{mark}parameter name="path" string="true">a</{mark}parameter>\n'
            f"</{mark}invoke>\n</{mark}calls>"
        )
        assert read_calls(first + value + second) is None


@pytest.mark.parametrize("start", range(1, len("</｜DSML｜ parameter>")))
def test_a_value_whose_end_is_damaged_does_not_run_on(start: int) -> None:
    ending, mark = "</｜DSML｜ parameter>", "｜DSML｜ "
    path = f'<{mark}parameter name="path" string="true">notes/todo.txt'
    content = f'\n<{mark}parameter name="content" string="true">Buy milk'
    closing = f"{ending}\n</{mark}invoke>\n</{mark}calls>"
    begin = f'<{mark}calls>\n<{mark}invoke name="create_file">\n'
    assert read_calls(begin + path + ending + content + closing) is not None
    for damaged in (ending[:start], ending[start:]):
        assert read_calls(begin + path + damaged + content + closing) is None
    cut_begin = f'{begin}<{mark}parameter name="path" string="true">no'
    assert read_calls(cut_begin + path[start:] + ending + content + closing) is None
