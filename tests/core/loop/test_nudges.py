"""A small model that only says what it is going to do is asked once to begin."""

from __future__ import annotations

import pytest

from core.events import Informed, TurnFinished
from core.loop.nudges import IMITATED_ANSWER, NOT_BEGUN, SILENT
from core.main_terminal import MainTerminal
from tests.core.loop.test_turn import Box, requests
from tests.scripted_model import Item, ScriptedModel, call_reply, run_turn, terminal, text_reply
from utils.i18n import phrase
from utils.llm.calls.call_context import promises
from utils.llm.completion import EmptyReply

PROMISE = "I will now create the file `a.txt` with the text you want."


def small(*replies: list[Item]) -> MainTerminal:
    main = terminal(*replies, features=[Box()])
    assert isinstance(main.model, ScriptedModel)
    main.model.is_well_known = False
    return main


def test_it_is_asked_once_and_only_at_the_first_step() -> None:
    main = small(text_reply(PROMISE), text_reply(PROMISE))
    events = run_turn(main, "make it")
    sent = requests(main)
    assert [one[-1]["content"] == NOT_BEGUN for one in sent] == [False, True]
    assert sum(isinstance(event, Informed) for event in events) == 1
    main = small(call_reply("look", at="a"), text_reply(PROMISE))
    run_turn(main, "make it")
    assert len(requests(main)) == 2


def test_one_that_says_nothing_is_asked_once_for_words() -> None:
    silence = EmptyReply("reply", phrase("The model sent an empty reply."))
    main = small([silence], text_reply("Done."))
    events = run_turn(main, "make it")
    assert requests(main)[-1][-1]["content"] == SILENT
    assert [e.why for e in events if isinstance(e, TurnFinished)] == ["done"]
    main = small([silence], [silence])
    [end] = [e for e in run_turn(main, "make it") if isinstance(e, TurnFinished)]
    assert (end.why, str(end.detail)) == ("error", "The model sent an empty reply.")
    main = terminal([silence], features=[Box()])
    [end] = [e for e in run_turn(main, "make it") if isinstance(e, TurnFinished)]
    assert end.why == "error"


def test_one_that_answers_like_a_tool_is_asked_to_call_it() -> None:
    imitated = text_reply("<tool_response>\nCreated src/.\n</tool_response>")
    main = small(imitated, text_reply("Done."))
    run_turn(main, "make it")
    assert requests(main)[-1][-1]["content"] == IMITATED_ANSWER
    main = small(imitated, imitated)
    run_turn(main, "make it")
    assert len(requests(main)) == 2, "Asking again"


def test_a_model_that_is_known_for_calling_is_taken_at_its_word() -> None:
    main = terminal(text_reply(PROMISE), features=[Box()])
    assert not any(isinstance(event, Informed) for event in run_turn(main, "make it"))
    assert len(requests(main)) == 1


@pytest.mark.parametrize(
    "said",
    [
        PROMISE,
        "Sure! Let me first look at the folder.",
        "I'll start by reading main.py.",
        "The bug is in parse(). I'm going to fix it now.",
        "To do that I need the file's content.\n\nLet me open it. It should hold the list.",
        "好的，我先查看一下这个文件。",
        "我将创建 a.txt。",
    ],
)
def test_a_promise_is_heard(said: str) -> None:
    assert promises(said)


@pytest.mark.parametrize(
    "said",
    [
        "Hello! How can I help you today?",
        "The project has three files. Let me know if you want more.",
        "I will read it if you want.",
        "Should I create the file?",
        "If you agree, I'll create the file.",
        "It is a parser: first it reads the file, then it writes the result.",
        "You can create the file with `touch a.txt`.",
        "I cannot do that, and I will not create such a file.",
        "I'll be happy to help with anything else.",
        "Done: I created a.txt.",
        "我可以帮你创建文件，要不要现在开始？",
        "",
    ],
)
def test_other_words_are_no_promise(said: str) -> None:
    assert not promises(said)
