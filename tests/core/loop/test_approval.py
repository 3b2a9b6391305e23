from __future__ import annotations

from dataclasses import replace

import pytest

from core.loop.approval import (
    MODES,
    PACKAGES,
    AlwaysAskReason,
    Approval,
    ApprovalMode,
    PackagesReason,
    covers,
    pattern_for,
    subject,
)
from tests.declared_tools import tool_named
from utils.i18n import Phrase


@pytest.mark.parametrize(
    ("allowed", "later", "is_covered"),
    [
        ("git status", "git status", True),
        ("git status", "git status -s", True),
        ("git status", "git statusx", False),
        ("git status -s", "git status", True),
        ("git status", "git push", False),
        ("git status", "git status; rm -rf x", False),
        ("git status", "git status && rm x", False),
        ("git status", "git status `rm x`", False),
        ("git status", "git status $(rm x)", False),
        ("git status", "git status\nrm x", False),
        ("git status", "git status > x", False),
        ("ls | wc", "ls | wc", True),
        ("rm -rf *", "rm -rf *", True),
        ("rm -rf *", "rm -rf src", False),
        ("rm -rf *", r"rm -rf \*", False),
        (r"find . -name \*", r"find . -name \*", True),
        (r"find . -name \*", "find . -name *", False),
        ("ls | wc", "ls | wc -l", False),
        ("make", "make", True),
        ("make", "make clean", True),
        ("make", "makefoo", False),
        ("make clean", "make clean all", True),
        ("rm -rf build", "rm -rf build", True),
        ("rm -rf build", "rm -rf src", False),
        ("git clean -n", "git clean -fdx", False),
        ("docker run --rm a", "docker run --rm b", True),
    ],
)
def test_always_to_a_command_never_reaches_past_a_shell_operator(
    allowed: str, later: str, is_covered: bool
) -> None:
    tool = tool_named("run_command")
    pattern = pattern_for(tool, {"command": allowed})
    assert covers(pattern, tool, {"command": later}) is is_covered


def test_always_to_another_tool_covers_its_calls_and_no_other_tool() -> None:
    pattern = pattern_for(tool_named("modify_file"), {"path": "a"})
    assert covers(pattern, tool_named("modify_file"), {"path": "b; c"})
    assert not covers(pattern, tool_named("delete_folder"), {"path": "b"})


def test_always_to_what_deletes_covers_that_alone() -> None:
    tool = tool_named("delete_file")
    pattern = pattern_for(tool, {"path": "a b"})
    assert covers(pattern, tool, {"path": "a b"})
    assert not covers(pattern, tool, {"path": "b"})
    assert not covers(pattern, tool, {"path": "a b c"})


def test_another_name_makes_no_pattern_wider() -> None:
    wipe = replace(tool_named("delete_file"), name="wipe")
    assert pattern_for(wipe, {"path": "a"}) == "wipe a"
    shell = replace(tool_named("run_command"), name="sh")
    assert pattern_for(shell, {"command": "git status -s"}) == "sh git status *"
    assert not covers("sh git status *", shell, {"command": "git status; rm x"})


def test_leave_to_run_is_not_leave_to_use_the_network() -> None:
    tool = tool_named("run_command")
    plain = {"command": "pip install six"}
    reaching = {**plain, "network": True}
    assert pattern_for(tool, plain) == "run_command pip install *"
    assert pattern_for(tool, reaching) == "run_command+network pip install *"
    code = {"code": "x", "network": True}
    assert pattern_for(tool_named("run_python"), code) == "run_python+network *"
    assert covers("run_command+network pip install *", tool, reaching)
    assert not any(
        covers(pattern, tool, reaching)
        for pattern in ("run_command pip install *", "run_command *")
    )
    evil = {"command": "pip install x; rm y", "network": True}
    assert not covers("run_command+network pip install *", tool, evil)


def test_leave_to_write_is_not_leave_to_change_what_git_obeys() -> None:
    create, rename = tool_named("create_file"), tool_named("rename_file")
    hook = {"path": ".git/hooks/x", "content": ""}
    line = subject(create, hook)
    assert not covers("create_file *", create, hook)
    assert pattern_for(create, hook) == line == "create_file+git .git/hooks/x"
    moved = {"path": ".git/a", "new_path": "b"}
    assert not covers(pattern_for(rename, {"path": ".git/a", "new_path": "c"}), rename, moved)
    assert covers("create_file *", create, {"path": ".gitignore"})


OUTSIDE = {"command": "npm test", "where": "outside"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "pattern",
    [
        "run_command *",
        "run_command npm test *",
        "run_command npm test",
        "run_command+outside *",
        "run_command+outside npm *",
        "run_command+outside npm test *",
        "run_command+outside npm  test",
        "run_command+outside npm test ",
        "run_command+network *",
    ],
)
def test_no_mode_and_no_other_pattern_lets_a_call_outside_through(
    mode: ApprovalMode, pattern: str
) -> None:
    approval = Approval(mode, lambda _tool, _arguments: None)
    approval.allow_always(pattern)
    decision = approval.decide(tool_named("run_command"), OUTSIDE)
    assert decision.verdict == ("refuse" if approval.is_read_only else "ask")
    assert not covers(pattern, tool_named("run_command"), OUTSIDE)


@pytest.mark.parametrize(
    "change", ["npm test ", " npm test", "npm  test", "npm test\n", "NPM test"]
)
def test_always_outside_covers_that_command_byte_for_byte(change: str) -> None:
    approval = Approval("guarded", lambda _tool, _arguments: None)
    run = tool_named("run_command")
    pattern = approval.decide(run, OUTSIDE).pattern
    approval.allow_always(pattern)
    assert pattern == "run_command+outside npm test"
    assert approval.decide(run, OUTSIDE).verdict == "allow"
    assert approval.decide(run, {**OUTSIDE, "timeout": 600}).verdict == "allow"
    assert approval.decide(run, {**OUTSIDE, "command": change}).verdict == "ask"
    assert not covers(pattern, run, {"command": "npm test"})
    star = {**OUTSIDE, "command": "rm *"}
    approval.allow_always(pattern_for(run, star))
    assert approval.decide(run, star).verdict == "allow"
    assert approval.decide(run, {**OUTSIDE, "command": "rm x"}).verdict == "ask"
    assert approval.decide(run, {**OUTSIDE, "command": r"rm \*"}).verdict == "ask"


@pytest.mark.parametrize("mode", MODES)
def test_where_nobody_is_there_only_the_setting_and_the_mode_together_let_it_out(
    mode: ApprovalMode,
) -> None:
    approval = Approval(mode, lambda _tool, _arguments: None)
    approval.outside = "refuse"
    assert approval.decide(tool_named("run_command"), OUTSIDE).verdict == "refuse"
    approval.outside = "allow"
    verdict = approval.decide(tool_named("run_command"), OUTSIDE).verdict
    assert verdict == ("allow" if mode == "all" else "refuse")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", ["background", "tty"])
def test_nobody_is_asked_about_a_job_outside_as_there_can_be_none(
    mode: ApprovalMode, way: str
) -> None:
    approval = Approval(mode, lambda _tool, _arguments: None)
    arguments = {**OUTSIDE, way: True}
    assert approval.decide(tool_named("run_command"), arguments).verdict == "refuse"


def test_one_answer_allows_every_call_that_reads_packages_and_no_other() -> None:
    reasons: list[Phrase | None] = []
    approval = Approval("guarded", lambda _tool, _arguments: reasons[-1])
    command = tool_named("run_command")
    pip, npm = ({"command": line, "network": True} for line in ("pip install six", "cd a; npm ci"))
    reasons.append(PackagesReason("packages"))
    assert (approval.decide(command, pip).verdict, approval.decide(command, pip).pattern) == (
        "ask", PACKAGES,
    )  # fmt: skip
    approval.allow_always(PACKAGES)
    assert approval.decide(command, pip).verdict == "allow"
    assert approval.decide(command, npm).verdict == "allow"
    assert approval.decide(tool_named("run_python"), {"code": "x", "network": True}).verdict == (
        "allow"
    )
    for reason in (Phrase("other hosts"), AlwaysAskReason("another Python")):
        reasons.append(reason)
        assert approval.decide(command, pip).verdict == "ask"
        assert approval.decide(command, {"command": "x"}).verdict == "ask"
    assert approval.decide(command, pip, was_asked=True).verdict == "ask"


def test_packages_are_no_leave_for_calls_without_the_network() -> None:
    assert not covers(PACKAGES, tool_named("run_command"), {"command": "rm x"})
    assert not covers(PACKAGES, tool_named("delete_file"), {"path": "x"})
    assert covers(PACKAGES, tool_named("run_command"), {"command": "x", "network": True})


def test_a_yes_to_a_job_is_for_that_very_call() -> None:
    approval = Approval("ask", lambda _tool, _arguments: None)
    jobs = tool_named("jobs")
    shown = approval.decide(jobs, {"operation": "output", "job": 1})
    approval.allow_always(shown.pattern)
    assert not shown.may_last
    assert approval.decide(jobs, {"operation": "output", "job": 1}).verdict == "allow"
    for other in (
        {"operation": "output", "job": 2},
        {"operation": "input", "job": 1, "text": "rm -rf ."},
        {"operation": "output", "job": 1, "text": "*"},
    ):
        assert approval.decide(jobs, other).verdict == "ask"


def test_a_yes_to_a_command_is_none_to_let_it_run_on() -> None:
    run = tool_named("run_command")
    pattern = pattern_for(run, {"command": "npm test"})
    assert covers(pattern, run, {"command": "npm test"})
    for way in ("background", "tty"):
        assert not covers(pattern, run, {"command": "npm test", way: True})
