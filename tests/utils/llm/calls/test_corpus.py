"""Calls in text, measured on a corpus: whole ones run, damaged and shown ones never do."""

from __future__ import annotations

import json

import pytest

from tests.utils.llm.calls.corpus import ARGUMENTS, CONTENT, SYNTAXES, Output, corpus
from tests.utils.llm.calls.test_text_calls import judge
from utils.llm.calls.text_calls import find_calls
from utils.llm.completion import Usage
from utils.llm.http.reply_failures import RequestFailed
from utils.llm.openai_api.stream_parser import StreamParser

LEAST = 0.98
"""The part of the whole calls of a syntax that has to run."""


def run_calls(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the calls that a reply of *text* makes: those of the stream, and else of its text."""
    parser = StreamParser()
    choice = {"delta": {"content": text}, "finish_reason": "stop"}
    parser.add(json.dumps({"choices": [choice]}).encode())
    try:
        parser.take_delta()
        parser.close()
        done = parser.completion(Usage())
    except RequestFailed:  # it is asked for again
        return []
    if done.calls:
        made = [(call.name, json.loads(call.arguments)) for call in done.calls]
        return [one for one in made if judge(*one) == "fits"]
    reading = find_calls(done.text, judge)
    is_sure = reading is not None and reading.is_sure
    return [(c.name, dict(c.arguments)) for c in reading.calls] if reading and is_sure else []


def is_right(output: Output) -> bool:
    """Return whether *output* makes the one call that it is meant to make."""
    made = run_calls(output.text)
    if len(made) != 1 or made[0][0].removeprefix("functions.") != "create_file":
        return False
    content = made[0][1].get("content", "")
    is_same = made[0][1].get("path") == ARGUMENTS["path"]
    return is_same and content.strip() == CONTENT.strip()  # tags put line breaks around it


ALL = list(corpus())


def test_the_corpus_is_large_and_has_every_kind() -> None:
    assert len({output.text for output in ALL}) > 1000
    assert {output.kind for output in ALL} == {"whole", "damaged", "shown"}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_whole_calls_of_a_syntax_run(syntax: str) -> None:
    whole = [one for one in ALL if one.kind == "whole" and one.syntax == syntax]
    missed = [one.about for one in whole if not is_right(one)]
    assert len(missed) <= len(whole) * (1 - LEAST), missed


def test_no_damaged_call_runs() -> None:
    # What DeepSeek's own markup says is a call as any other: its path may be any.
    odd = [one for one in ALL if one.kind == "damaged" and run_calls(one.text)]
    assert {(one.syntax, one.about.partition(",")[0]) for one in odd} <= {
        ("deepseek", "placeholder"),
        ("deepseek v3", "placeholder"),
        ("deepseek v3.1", "placeholder"),
    }


def test_no_shown_call_runs() -> None:
    assert [one for one in ALL if one.kind == "shown" and run_calls(one.text)] == []
