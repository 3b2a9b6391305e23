"""A question beside the calls is put on both screens, and an answer reaches who asked."""

from __future__ import annotations

from collections.abc import Sequence

from core.cards import TextCard
from core.events import Event, Reply, ToolFinished, TurnFinished
from core.feature import Answer, Feature, Question
from core.hooks import AsksPerson
from tests.core.test_web_terminal import Browser, web
from tests.scripted_model import run_turn, start_thread, terminal, text_reply
from utils.i18n import Phrase, phrase


class Asking(Feature, AsksPerson):
    """Asks until it has an answer."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []

    def questions(self) -> Sequence[Question]:
        card = TextCard("what it is about")
        return [Question("q1", "follow", "a.md", phrase("why"), card, self._take)][
            : not self.answers
        ]

    def _take(self, answer: Answer) -> Phrase:
        self.answers.append(answer)
        return phrase("why")


def states(events: Sequence[Event]) -> list[str]:
    return [event.state for event in events if isinstance(event, ToolFinished)]


def test_each_answer_reaches_the_feature() -> None:
    for reply, answer, state in (
        (Reply(yes=True), "yes", "done"),
        (Reply(yes=False), "no", "failed"),
        (None, "nobody", "failed"),
    ):
        feature = Asking()
        events = run_turn(terminal(text_reply("ok"), features=[feature]), "hi", reply)
        assert feature.answers == [answer]
        assert states(events) == [state]
        end = events[-1]
        assert isinstance(end, TurnFinished)
        assert end.why == "done"


def test_the_mode_that_asks_nothing_asks_nothing() -> None:
    feature = Asking()
    events = run_turn(
        terminal(text_reply("ok"), features=[feature], approval_mode="all"), "hi", None
    )
    assert feature.answers == ["allowed"]
    assert states(events) == []


def test_a_browser_answers_it() -> None:
    browser, feature = Browser(), Asking()
    page = web(browser, text_reply("ok"), feature_list=[feature])
    worker = start_thread(lambda: page.handle("hi"))
    asked = browser.wait_for("ApprovalAsked")
    assert page.answer_question(asked["call_id"], Reply(yes=True))
    worker.join(120)
    assert feature.answers == ["yes"]
    assert browser.packets[-1]["type"] == "TurnFinished"
