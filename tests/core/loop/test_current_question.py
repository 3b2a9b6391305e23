"""A question that is answered elsewhere: what counts is told, and the answer ends no later wait."""

from __future__ import annotations

import threading

import pytest

from core.cards import TextCard
from core.events import ApprovalAsked, Informed, Reply
from core.loop.current_question import CurrentQuestion
from core.loop.turn_context import Turn
from core.tools import Toolbox
from utils.i18n import phrase


def asked(call_id: str) -> ApprovalAsked:
    return ApprovalAsked(call_id, "wash", "loop", phrase("why"), "", TextCard("card"))


def two_questions(replies: list[Reply | None]) -> Turn:
    for call_id in ("a", "b"):
        replies.append((yield asked(call_id)))


def test_the_reply_that_counts_is_the_one_that_is_told() -> None:
    told: list[Reply | None] = []
    replies: list[Reply | None] = []
    question = CurrentQuestion(Toolbox, lambda _, reply: told.append(reply))
    question.take_answers()
    turn = question.follow(two_questions(replies))
    next(turn)
    now = question.now()
    assert now
    assert question.answer(now.key, Reply(yes=True))
    assert isinstance(turn.send(None), Informed)
    next(turn)
    assert [*turn_ends(turn, Reply(yes=False, reason="no"))] == []
    assert told == replies == [Reply(yes=True), Reply(yes=False, reason="no")]


@pytest.mark.parametrize(
    ("elsewhere", "own", "counts"),
    [
        (Reply(yes=True), Reply(yes=False, reason="stay"), "own"),
        (Reply(yes=True), None, "elsewhere"),  # led away, and no word of who sits there
        (Reply(yes=True), Reply(yes=True), "elsewhere"),
        (Reply(yes=False, reason="afar"), Reply(yes=True), "elsewhere"),
        (Reply(yes=False, reason="afar"), Reply(yes=False, reason="stay"), "elsewhere"),
    ],
)
def test_a_no_of_its_own_screen_counts_against_a_yes_that_it_meets(
    elsewhere: Reply, own: Reply | None, counts: str
) -> None:
    told: list[Reply | None] = []
    replies: list[Reply | None] = []
    question = CurrentQuestion(Toolbox, lambda _, reply: told.append(reply))
    question.take_answers()
    turn = question.follow(two_questions(replies))
    next(turn)
    now = question.now()
    assert now
    assert question.answer(now.key, elsewhere)  # while its own screen is just replying
    shown = turn.send(own)
    if counts == "elsewhere":
        assert isinstance(shown, Informed)
        shown = next(turn)
    assert isinstance(shown, ApprovalAsked)
    assert shown.call_id == "b"
    assert told == replies == [own if counts == "own" else elsewhere]


def test_every_question_has_a_key_of_its_own_which_is_told_until_it_is_answered() -> None:
    told: list[str] = []
    question = CurrentQuestion(Toolbox, on_asked=lambda one: told.append(one.key if one else ""))
    turn = question.follow(twice_about_one_call())
    first, second = next(turn), turn.send(Reply(yes=True))
    assert isinstance(first, ApprovalAsked)
    assert isinstance(second, ApprovalAsked)
    assert told == [first.key, "", second.key]
    assert first.key != second.key
    assert first == second  # in all else
    turn.close()


def twice_about_one_call() -> Turn:
    yield asked("a")
    yield asked("a")


def turn_ends(turn: Turn, reply: Reply) -> Turn:
    """Yield what *turn* yields behind *reply*."""
    try:
        yield turn.send(reply)
    except StopIteration:
        return


def test_an_answer_that_is_just_being_given_ends_no_later_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = CurrentQuestion(Toolbox)
    answered = question.take_answers()
    turn = question.follow(two_questions([]))
    next(turn)
    first = question.now()
    assert first
    is_setting, is_at_next = threading.Event(), threading.Event()
    really_set = answered.set

    def set_late() -> None:
        is_setting.set()
        is_at_next.wait(0.5)
        really_set()

    def answer_here() -> None:
        assert isinstance(turn.send(Reply(yes=True)), Informed)
        next(turn)
        is_at_next.set()

    monkeypatch.setattr(answered, "set", set_late)
    elsewhere = threading.Thread(target=question.answer, args=(first.key, Reply(yes=True)))
    here = threading.Thread(target=answer_here)
    elsewhere.start()
    assert is_setting.wait(20)
    here.start()  # its own person was quick as well, and the next question comes at once
    elsewhere.join(20)
    here.join(20)
    later = question.now()
    assert later
    assert later.event.call_id == "b"
    assert not answered.is_set()
