from __future__ import annotations

import threading
from datetime import date
from queue import SimpleQueue
from typing import Any

import pytest

from core.conversation.event_log import LogTruncated
from core.conversation.transcript import Packet
from core.events import Reply
from core.web_terminal import Busy, WebTerminal
from tests.core.loop.test_turn import Box
from tests.scripted_model import (
    USED,
    Item,
    MemoryStore,
    ScriptedModel,
    call_reply,
    run_turn,
    start_thread,
    terminal,
    text_reply,
)
from utils.api_client import Completion, Delta


class Browser:
    """Takes the packets and lets a test wait for one of a type."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []
        self._queue: SimpleQueue[Packet] = SimpleQueue()

    def emit(self, packet: Packet) -> None:
        self.packets.append(packet)
        self._queue.put(packet)

    def wait_for(self, kind: str) -> Packet:
        while True:
            packet = self._queue.get(timeout=120)
            if packet["type"] == kind:
                return packet


def hold(gate: threading.Event) -> None:
    assert gate.wait(120)


def web(browser: Browser, *replies: list[Item], **settings: Any) -> WebTerminal:
    return WebTerminal(
        model=ScriptedModel(*replies),
        project="demo",
        system_prompt="You are a test.",
        today=lambda: date(2026, 1, 2),
        emit=browser.emit,
        **{"store": MemoryStore(), "feature_list": [Box()], **settings},
    )


def test_both_screens_see_the_same_turn() -> None:
    script = [call_reply("wipe"), call_reply("talk", id="c2"), text_reply("done", thinking="hm")]
    browser = Browser()
    page = web(browser, *[list(one) for one in script])
    worker = start_thread(lambda: page.handle("hi"))
    asked = browser.wait_for("ApprovalAsked")
    with pytest.raises(Busy):
        page.handle("again")
    assert page.answer_question(asked["call_id"], Reply(yes=True))
    worker.join(120)
    plain = run_turn(terminal(*script, features=[Box()]), "hi", Reply(yes=True))
    assert [p["type"] for p in browser.packets] == [type(event).__name__ for event in plain]
    assert [p["seq"] for p in browser.packets] == list(range(1, len(browser.packets) + 1))


def test_since_gives_what_was_missed() -> None:
    browser = Browser()
    page = web(browser, text_reply("one"), text_reply("two"))
    page.handle("hi")
    missed = page.delivery.head
    page.handle("again")
    assert page.delivery.since(0) == browser.packets
    assert page.delivery.since(missed) == browser.packets[missed:]
    assert page.delivery.since(page.delivery.head) == []


def test_since_says_when_it_cannot() -> None:
    page = web(Browser(), *[text_reply(str(n)) for n in range(600)])
    with pytest.raises(LogTruncated):
        page.delivery.since(1)
    for n in range(600):
        page.handle(str(n))
    with pytest.raises(LogTruncated):
        page.delivery.since(1)
    assert len(page.delivery.since(page.delivery.head - 5)) == 5


def test_the_first_answer_wins() -> None:
    browser = Browser()
    page = web(browser, call_reply("wipe"), text_reply("ok"))
    worker = start_thread(lambda: page.handle("hi"))
    asked = browser.wait_for("ApprovalAsked")
    assert page.answer_question(asked["call_id"], Reply(yes=False, reason="no"))
    worker.join(120)
    assert not page.answer_question(asked["call_id"], Reply(yes=True))
    assert not page.answer_question("unknown", Reply(yes=True))
    assert browser.wait_for("ToolFinished")["state"] == "refused"


def test_an_answer_to_a_question_that_is_over_is_none_to_the_next_about_the_same_call() -> None:
    browser = Browser()
    page = web(browser, call_reply("wipe"), text_reply("ok"))
    worker = start_thread(lambda: page.handle("hi"))
    first = browser.wait_for("ApprovalAsked")
    assert page.open_question_keys == (first["key"],)
    lasting = Reply(yes=True, lasts=True, pattern="* *")
    assert page.answer_question(first["call_id"], lasting, first["key"])
    second = browser.wait_for("ApprovalAsked")  # once more: that was no answer that can be
    assert second["call_id"] == first["call_id"]
    assert not page.answer_question(first["call_id"], Reply(yes=True), first["key"])
    assert page.open_question_keys == (second["key"],)
    assert page.answer_question(second["call_id"], Reply(yes=False), second["key"])
    worker.join(120)
    assert browser.wait_for("ToolFinished")["state"] == "refused"


def test_stop_ends_a_question() -> None:
    browser = Browser()
    page = web(browser, call_reply("wipe"))
    worker = start_thread(lambda: page.handle("hi"))
    browser.wait_for("ApprovalAsked")
    page.stop.set()
    worker.join(120)
    assert browser.packets[-1]["why"] == "stopped"
    assert not page.is_running


def test_a_late_browser_arrives_at_the_same_picture_while_the_turn_runs() -> None:
    gate = threading.Event()
    browser = Browser()
    page = web(browser, [*text_reply("first")[:1], lambda _: hold(gate), *text_reply("second")])
    worker = start_thread(lambda: page.handle("hi"))
    browser.wait_for("TextDelta")
    early = page.delivery.since(0)
    gate.set()
    worker.join(120)
    assert early + page.delivery.since(early[-1]["seq"]) == browser.packets


def test_deltas_are_joined_before_they_are_numbered() -> None:
    browser = Browser()
    deltas: list[Item] = [Delta(f"{n} ") for n in range(200)]
    text = "".join(f"{n} " for n in range(200))
    page = web(browser, [*deltas, Completion(text, "", (), USED)])
    page.handle("hi")
    shown = [p["text"] for p in browser.packets if p["type"] == "TextDelta"]
    assert "".join(shown) == text
    assert len(shown) < 100
    assert [p["seq"] for p in browser.packets] == list(range(1, len(browser.packets) + 1))


def test_a_delta_does_not_wait_for_the_next_one() -> None:
    gate = threading.Event()
    browser = Browser()
    reply = [Delta("a"), Delta("b"), lambda _: hold(gate), *text_reply("ab")[1:]]
    page = web(browser, reply)
    worker = start_thread(lambda: page.handle("hi"))
    shown = ""
    while shown != "ab":
        shown += browser.wait_for("TextDelta")["text"]
    gate.set()
    worker.join(120)


def test_a_stopped_turn_is_told_so_after_a_restart() -> None:
    store = MemoryStore()
    browser = Browser()
    page = web(browser, [Delta("half"), lambda stop: stop.set(), *text_reply("x")], store=store)
    page.handle("hi")
    again = web(Browser(), store=store)
    again.resume(page.session)
    _, _, events = again.delivery.snapshot(30)
    assert [e["type"] for e in events][-2:] == ["StepFinished", "TurnFinished"]
    assert events[-1]["why"] == "stopped"
