"""Roles of helpers: files of the person's and of the project, asked about once by content."""

from __future__ import annotations

from pathlib import Path

from core.cards import TableCard, TextCard
from core.events import ApprovalAsked, CommandAnswered, Reply
from tests.modules.delegation.helper_models import PARENT, ModelOfHelpers
from tests.modules.delegation.test_delegation import Scripts, answers, at_work, delegated, shown
from tests.scripted_model import call_reply, text_reply

READER = """---
name: reader
description: Reads and tells.
tools: Read, Grep
model: inherit
---
You read every word twice.
"""
YES, NO = Reply(yes=True, text="Yes"), Reply(yes=True, text="No")


def write_role(folder: Path, text: str = READER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reader.md").write_text(text, encoding="utf-8")


def scripts() -> Scripts:
    return {
        PARENT: [delegated("look", role="reader", mode="write"), text_reply("Done.")],
        "look": [
            call_reply("read_file", path="a.txt"),
            call_reply("create_file", path="b.txt", content="x"),
            text_reply("Read."),
        ],
    }


def test_a_role_of_the_project_is_asked_about_once_and_keeps_to_its_tools(tmp_path: Path) -> None:
    write_role(tmp_path / "project" / ".claude" / "agents")
    with at_work(tmp_path, scripts()) as assembled:
        events = shown(assembled.terminal, "go", NO)
        [question] = [one for one in events if isinstance(one, ApprovalAsked)]
        assert "You read every word twice." in str(question.why)
        assert answers(assembled.terminal)[-1].error_code == "refused"
    for count in (1, 0):
        with at_work(tmp_path, scripts()) as assembled:
            events = shown(assembled.terminal, "go", YES)
            asked = [one for one in events if isinstance(one, ApprovalAsked)]
            assert len(asked) == count
            assert answers(assembled.terminal)[-1].text.startswith("Read.")
            assert not (assembled.root / "b.txt").exists()
            model = assembled.terminal.model
            assert isinstance(model, ModelOfHelpers)
            assert "You read every word twice." in model.seen["look"][0][1]["content"]
    write_role(tmp_path / "project" / ".claude" / "agents", f"{READER}And once more.\n")
    with at_work(tmp_path, scripts()) as assembled:
        assert any(isinstance(one, ApprovalAsked) for one in shown(assembled.terminal, "go", YES))


def test_a_role_of_the_persons_own_is_run_by_name_and_told_only_with_helpers(
    tmp_path: Path,
) -> None:
    write_role(tmp_path / "data" / "agents")
    given: Scripts = {
        PARENT: [text_reply("Hello."), text_reply("Hello.")],
        "look": [text_reply("Read.")],
    }
    with at_work(tmp_path, given) as assembled:
        [listed] = shown(assembled.terminal, "/agent")
        assert isinstance(listed, CommandAnswered)
        assert isinstance(listed.card, TableCard)
        assert [row[:2] for row in listed.card.rows] == [("reader", "Reads and tells.")]
        [unknown] = shown(assembled.terminal, "/agent raeder look")
        assert isinstance(unknown, CommandAnswered)
        assert not unknown.ok
        assert isinstance(unknown.card, TextCard)
        said = "There is no role 'raeder'. Did you mean 'reader'? There are: reader."
        assert str(unknown.card.title) == said

        shown(assembled.terminal, "/agent reader look around")
        assert answers(assembled.terminal)[-1].text.startswith("Read.")
        shown(assembled.terminal, "hello")
        shown(assembled.terminal, "/tools delegate on")
        shown(assembled.terminal, "hello")
        model = assembled.terminal.model
        assert isinstance(model, ModelOfHelpers)
        before, after = model.seen[PARENT]
        assert "Reads and tells." not in str(before)
        assert "- reader: Reads and tells." in str(after)
