"""Who waits at a prompt is told at once that a receipt stands no more."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest

from core.events import Informed
from modules.checks import receipt_watch
from modules.checks.feature import Checks
from modules.checks.receipt_watch import ReceiptWatch
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.checks.test_checks import BAD, CHECK, DONE, GOOD, project, say, write
from utils.i18n import Phrase

NEWS = f"Check {CHECK} passed, but sums.py changed since."


def checks_of(made: AssembledTerminal) -> Checks:
    checks = made.terminal.features.find(Checks)
    assert checks is not None
    return checks


@pytest.mark.parametrize("is_changed_before", [True, False])
def test_a_change_is_told_at_the_prompt_and_not_again(
    tmp_path: Path, *, is_changed_before: bool
) -> None:
    root, told = project(tmp_path), Queue[Phrase]()
    with assembled_terminal(tmp_path, write("sums.py", GOOD), DONE, DONE) as made:

        def tell(what: Phrase) -> bool:
            told.put(what)
            return True

        say(made)
        if is_changed_before:
            (root / "sums.py").write_text(BAD)
        checks_of(made).begin_watch(tell)
        (root / "sums.py").write_text(BAD)
        assert str(told.get(timeout=100)) == NEWS
        checks_of(made).end_watch()
        assert told.empty()
        assert [one for one in say(made, "hello") if isinstance(one, Informed)] == []


def test_of_more_files_than_one_look_takes_each_has_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receipt_watch, "MAX_LOOKS", 2)
    monkeypatch.setattr(receipt_watch, "_SECONDS", 0.001)
    looks = Queue[str]()

    class Watched:
        def files_to_watch(self, limit: int) -> list[str]:
            return [f"{number}.txt" for number in range(9)][:limit]

        def tell_outdated(self, tell: Callable[[Phrase], bool]) -> bool:  # noqa: ARG002
            looks.put("looked")
            return False

    watch = ReceiptWatch(tmp_path, Watched(), lambda _: True)
    for number in (8, 0, 4):
        looks.get(timeout=100)
        (tmp_path / f"{number}.txt").write_text("new")
    looks.get(timeout=100)
    watch.end()


def test_what_no_prompt_could_show_is_told_with_the_next_task(tmp_path: Path) -> None:
    root, was_tried = project(tmp_path), threading.Event()
    with assembled_terminal(tmp_path, write("sums.py", GOOD), DONE, DONE) as made:

        def tell(_: Phrase) -> bool:
            was_tried.set()
            return False

        say(made)
        (root / "sums.py").write_text(BAD)
        checks_of(made).begin_watch(tell)
        assert was_tried.wait(100)
        checks_of(made).end_watch()
        news = [str(one.what) for one in say(made, "hello") if isinstance(one, Informed)]
        assert news == [NEWS]


def test_nothing_is_watched_where_no_check_passed(tmp_path: Path) -> None:
    project(tmp_path)
    with assembled_terminal(tmp_path, write("sums.py", BAD), DONE, DONE) as made:
        say(made)
        checks_of(made).begin_watch(lambda _: True)
        assert "receipts" not in [one.name for one in threading.enumerate()]
        checks_of(made).end_watch()
