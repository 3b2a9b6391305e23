from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.events import ApprovalAsked, CommandAnswered, Event, Reply
from core.loop.approval import Approval, KeptApproval
from core.loop.turn import drive
from modules.storage.kept_approvals import KeptApprovals
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.declared_tools import tool_named
from tests.modules.sandbox.sandbox_home import home_of_process
from tests.scripted_model import Item, call_reply, run_turn, text_reply
from utils.i18n import Phrase, phrase

WEAK = phrase("Here the sandbox is a weaker one.")


def approval(path: Path, reason: Phrase | None = WEAK) -> Approval:
    made = Approval("guarded", lambda _tool, _arguments: reason)
    made.kept = KeptApprovals(path)
    return made


def keep(path: Path, name: str, arguments: dict[str, Any]) -> None:
    one = approval(path)
    one.keep(tool_named(name), one.decide(tool_named(name), arguments))


def verdict(path: Path, name: str, arguments: dict[str, Any], reason: Phrase = WEAK) -> str:
    return approval(path, reason).decide(tool_named(name), arguments).verdict


def test_what_is_allowed_for_good_is_allowed_in_another_session(tmp_path: Path) -> None:
    keep(tmp_path / "kept", "run_command", {"command": "npm test"})
    assert verdict(tmp_path / "kept", "run_command", {"command": "npm test --watch"}) == "allow"
    assert verdict(tmp_path / "kept", "run_command", {"command": "npm publish"}) == "ask"
    assert verdict(tmp_path / "kept", "run_python", {"code": "npm test"}) == "ask"


@pytest.mark.parametrize(
    "tail", ["; rm x", "&& rm x", "\nrm x", "`rm x`", "$(rm x)", "| sh", "> y"]
)
def test_no_shell_operator_widens_it(tmp_path: Path, tail: str) -> None:
    keep(tmp_path / "kept", "run_command", {"command": "npm test"})
    assert verdict(tmp_path / "kept", "run_command", {"command": f"npm test {tail}"}) == "ask"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("run_command", {"command": "npm test", "where": "outside"}),
        ("run_command", {"command": "npm test", "network": True}),
        ("run_command", {"command": "npm test", "network": True, "background": True}),
        ("run_python", {"code": "1", "network": True}),
        ("git_remote", {"operation": "push"}),
        ("delete_file", {"path": "a"}),
        ("delete_folder", {"path": "a"}),
        ("run_command", {"command": "rm -rf build"}),
        ("run_command", {"command": "git clean -fdx"}),
        ("run_command", {"command": "find . -name '*.o' -delete"}),
        ("run_command", {"command": "cd build && /bin/rm -r out"}),
        ("web_search", {"query": "a"}),
        ("create_file", {"path": ".git/hooks/pre-commit", "content": ""}),
    ],
)
def test_what_leaves_or_is_gone_is_never_allowed_for_good(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    one, tool = approval(tmp_path / "kept"), tool_named(name)
    decision = one.decide(tool, arguments)
    assert (decision.verdict, decision.may_last) == ("ask", False)
    one.keep(tool, decision)
    assert KeptApprovals(tmp_path / "kept").all() == ()
    for pattern in (decision.pattern, f"{name} *", f"{name}+network *", f"{name}+outside *"):
        KeptApprovals(tmp_path / "kept").add(KeptApproval(name, pattern, decision.why.template))
    assert one.decide(tool, arguments).verdict == "ask"


def test_it_holds_only_for_the_reason_it_was_given_for(tmp_path: Path) -> None:
    keep(tmp_path / "kept", "run_command", {"command": "npm test"})
    none = phrase("Here programs run without a sandbox.")
    assert verdict(tmp_path / "kept", "run_command", {"command": "npm test"}, none) == "ask"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '[{"pattern": "run_command *"}]', '["run_command *"]', "[null]"]
)
def test_a_file_that_says_nothing_of_use_allows_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "kept").write_text(text)
    assert verdict(tmp_path / "kept", "run_command", {"command": "npm test"}) == "ask"


def asking(house: AssembledTerminal) -> None:
    house.terminal.approval.mode = "ask"
    house.terminal.approval.kept = KeptApprovals(house.data.approvals)


def answers(house: AssembledTerminal, line: str, *replies: Reply) -> list[ApprovalAsked]:
    """Say *line*, answer with *replies*, and return what was asked."""
    asked: list[ApprovalAsked] = []

    def show(event: Event) -> Reply | None:
        if not isinstance(event, ApprovalAsked):
            return None
        asked.append(event)
        return replies[len(asked) - 1]

    drive(house.terminal.run_line(line), show)
    return asked


def run(command: str) -> list[Item]:
    return call_reply("run_command", command=command)


def test_it_is_kept_shown_in_words_and_taken_back(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, run("echo one"), text_reply("ok")) as house:
        asking(house)
        (asked,) = answers(house, "go", Reply(yes=True, lasts=True))
        assert asked.may_last
    with assembled_terminal(
        tmp_path, run("echo one two"), text_reply("ok"), run("echo one"), text_reply("no")
    ) as house:
        asking(house)
        assert answers(house, "again") == []
        (listed,) = run_turn(house.terminal, "/approve list")
        assert isinstance(listed, CommandAnswered)
        assert isinstance(listed.card, TableCard)
        ((number, words, _),) = listed.card.rows
        assert str(words).startswith("commands that start with “echo one”")
        (gone,) = run_turn(house.terminal, f"/approve forget {number}")
        assert isinstance(gone, CommandAnswered)
        assert isinstance(gone.card, TextCard)
        assert len(answers(house, "and now", Reply(yes=False))) == 1
        (bad,) = run_turn(house.terminal, "/approve forget 1")
        assert isinstance(bad, CommandAnswered)
        assert not bad.ok


def test_what_is_allowed_for_the_session_has_a_number_and_is_taken_back(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as house:
        asking(house)
        approval = house.terminal.approval
        keep(house.data.approvals, "run_command", {"command": "npm test"})
        for pattern in ("run_command echo one *", "packages", "web_search *"):
            approval.allow_always(pattern)
        (listed,) = run_turn(house.terminal, "/approve list")
        assert isinstance(listed, CommandAnswered)
        assert isinstance(listed.card, TableCard)
        numbers, words, _ = zip(*listed.card.rows, strict=True)
        assert numbers == ("1", "2", "3", "4")
        assert str(words[1]).startswith("commands that start with “echo one”")
        assert str(words[3]) == "every call of web_search"
        (taken_back,) = run_turn(house.terminal, "/approve forget 2")
        assert isinstance(taken_back, CommandAnswered)
        assert isinstance(taken_back.card, TableCard)
        said = "No longer allowed: commands that start with “echo one”"
        assert str(taken_back.card.title).startswith(said)
        assert approval.patterns == ["packages", "web_search *"]
        run_turn(house.terminal, "/approve forget 1")
        assert house.terminal.approval.kept is not None
        assert house.terminal.approval.kept.all() == ()
        assert approval.patterns == ["packages", "web_search *"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(yes=True, lasts=True, pattern="run_command *"),
        Reply(yes=True, lasts=True, arguments={"command": "rm -r x"}),
    ],
)
def test_an_answer_cannot_make_it_last_for_more_than_was_asked(
    tmp_path: Path, reply: Reply
) -> None:
    with assembled_terminal(tmp_path, run("echo one"), text_reply("ok")) as house:
        asking(house)
        asked = answers(house, "go", reply, Reply(yes=False))
        assert "only for this call or this session" in str(asked[1].why)
        assert KeptApprovals(house.data.approvals).all() == ()


def test_a_program_in_the_sandbox_cannot_write_it(tmp_path: Path) -> None:
    with home_of_process(tmp_path) as home:
        kept = home.data / "approvals.json"
        KeptApprovals(kept).add(KeptApproval("create_file", "create_file *", "why"))
        before = kept.read_text()
        home.bash(f"echo '[]' > {kept}; rm -f {kept}; mv {kept} {kept}2; cat {kept}")
        assert kept.read_text() == before
        assert "create_file" not in home.bash(f"cat {kept}").output
