"""Commands that a project or a person brings are said to the model, and run nothing unasked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.cards import TableCard, TextCard
from core.conversation.messages import User
from core.events import (
    ApprovalAsked,
    CommandAnswered,
    Event,
    Reply,
    ToolFinished,
    TurnFinished,
    TurnStarted,
    Warned,
)
from core.loop.turn import drive
from modules.files.project import Project
from modules.own_commands.front_matter import split_front_matter
from tests.assembly import SETTINGS, AssembledTerminal, assembled_terminal
from tests.scripted_model import call_reply, text_reply
from utils.i18n import UserError

REVIEW = """---
description: Review a part
argument-hint: [folder] [how]
allowed-tools: Bash(git:*), Read
---
Review $1 $2. All: $ARGUMENTS. See @notes.txt and @missing.txt.
"""


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def say(made: AssembledTerminal, line: str, yes: bool | None = None) -> list[Event]:
    """Say *line*; answer every question with *yes*, None being nobody."""
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        return Reply(yes=yes) if isinstance(event, ApprovalAsked) and yes is not None else None

    drive(made.terminal.run_line(line), show)
    return events


def said(made: AssembledTerminal) -> list[str]:
    return [
        r.text for _, r in made.terminal.history.records if isinstance(r, User) and not r.is_private
    ]


def asked(events: Sequence[Event]) -> int:
    return sum(isinstance(event, ApprovalAsked) for event in events)


def help_rows(made: AssembledTerminal) -> dict[str, str]:
    card = made.terminal.run_concurrently("/help").card
    assert isinstance(card, TableCard)
    return {f"{usage}": f"{text}" for usage, text in card.rows}


def test_it_becomes_a_message_with_its_arguments_and_files(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok"), text_reply("ok")) as made:
        write(made.root, ".claude/commands/code/review.md", REVIEW)
        write(made.root, "notes.txt", "mind the $1 and !`touch x`\n")
        line = '/code:review "the core" fast'
        started, *_ = say(made, line)
        assert started == TurnStarted(line, 1)
        assert said(made) == [
            'Review the core fast. All: "the core" fast. See @notes.txt and @missing.txt.\n\n'
            "notes.txt:\n```\nmind the $1 and !`touch x`\n```"
        ]
        row = help_rows(made)["/code:review [folder] [how]"]
        assert row == "Review a part (.claude/commands/code/review.md)"
        write(made.root, ".agents/commands/plain.md", "Just do it.")
        say(made, "/plain now")
        assert said(made)[-1] == "Just do it.\n\nnow"
        assert not (made.root / "x").exists()
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        first = next(r for _, r in made.terminal.history.records if isinstance(r, User))
        assert first.typed == line


def test_none_takes_the_name_of_one_of_ours_and_the_persons_goes_first(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok")) as made:
        write(made.root, ".agents/commands/status.md", "Say something else.")
        write(made.root, ".agents/commands/tidy.md", "Of the project.")
        write(made.data.root, "commands/tidy.md", "Mine: !`echo of-mine`")
        (answer,) = say(made, "/status")
        assert isinstance(answer, CommandAnswered)
        assert help_rows(made)["/status"] == (
            "Ignored .agents/commands/status.md: /status is a built-in command."
        )
        assert asked(say(made, "/tidy")) == 0
        assert said(made)[0].startswith("Mine: ")
        assert "of-mine" in said(made)[0]


def test_a_file_that_is_no_command_says_why(tmp_path: Path) -> None:
    named = "only letters, digits, “-”, “_” and “.” can be in its name"
    with assembled_terminal(tmp_path) as made:
        for path in ("my review.md", "my parts/one.md", "re\u200bview.md", ".hidden.md", "good.md"):
            write(made.root, f".claude/commands/{path}", "Look.")
        (made.root / ".claude/commands/linked.md").symlink_to("good.md")
        (made.data.root / "commands").mkdir()
        (made.data.root / "commands/gone.md").symlink_to("nowhere")
        told = {usage: text for usage, text in help_rows(made).items() if "Cannot use" in text}
        assert told == {
            "/my review": f"Cannot use .claude/commands/my review.md: {named}.",
            "/my parts:one": f"Cannot use .claude/commands/my parts/one.md: {named}.",
            "/re\\u200bview": f"Cannot use .claude/commands/re\\u200bview.md: {named}.",
            "/linked": "Cannot use .claude/commands/linked.md: it is a link.",
            "/gone": f"Cannot use {made.data.root}/commands/gone.md: "
            "cannot read it: No such file or directory.",
        }
        names = [name for name in made.terminal.commands if f"{name}" in told or name == "/my"]
        assert names == ["/gone"]  # no command with another name either


def test_what_a_project_would_run_is_asked_about_once_and_runs_confined(tmp_path: Path) -> None:
    text = "State: !`echo $1 > made.txt; cat made.txt`. Go on."
    with assembled_terminal(tmp_path, *[text_reply("ok")] * 2) as made:
        write(made.root, ".opencode/command/go.md", text)
        events = say(made, "/go", yes=False)
        assert asked(events) == 1
        assert [event.state for event in events if isinstance(event, ToolFinished)] == ["refused"]
        assert isinstance(events[-1], TurnFinished)
        assert said(made) == []
        assert not (made.root / "made.txt").exists()
        assert asked(say(made, "/go")) == 1  # nobody there
        assert asked(say(made, "/go here", yes=True)) == 1
        assert said(made)[0].startswith("State: here\n")  # what it printed, not how it ended
        assert said(made)[0].endswith(". Go on.")
        assert asked(say(made, "/go there", yes=False)) == 0
        assert (made.root / "made.txt").read_text() == "there\n"
        say(made, "/undo")
        assert (made.root / "made.txt").read_text() == "here\n"
    with assembled_terminal(tmp_path, approval_mode="read-only") as made:
        events = say(made, "/go", yes=True)
        assert [event.state for event in events if isinstance(event, ToolFinished)] == ["refused"]


@pytest.mark.parametrize(
    "argument",
    ["$(touch made)", "`touch made`", ";touch made;", "'\n touch made; '", '"; touch made; "',
     "it's $(touch made)", "'$(touch made)' \\", "-n"],
)  # fmt: skip
def test_an_argument_brings_nothing_that_runs(tmp_path: Path, argument: str) -> None:
    programs = ('echo $1 : "$ARGUMENTS"', "echo ${ARGUMENTS}", 'echo "$(echo "$1")" "$@"')
    with assembled_terminal(tmp_path, text_reply("ok"), approval_mode="all") as made:
        write(made.root, ".agents/commands/go.md", "".join(f"!`{one}`" for one in programs))
        say(made, f"/go {argument}")
        assert len(said(made)) == 1
        assert not (made.root / "made").exists()
        assert argument == "-n" or "touch made" in said(made)[0]


def test_the_shell_puts_arguments_in(tmp_path: Path) -> None:
    text = """<!`printf '%s,' "$1" $2 '$1' "$#"`> <!`printf %s "$ARGUMENTS"`> <!`echo '$9'`>"""
    with assembled_terminal(tmp_path, *[text_reply("ok")] * 2, approval_mode="all") as made:
        write(made.root, ".agents/commands/go.md", text)
        say(made, '/go "a b" c')
        assert said(made)[-1] == '<a b,c,$1,2,> <"a b" c> <$9>'
        say(made, "/go")
        assert said(made)[-1] == "<,$1,0,> <(no output)> <$9>"


def test_another_content_is_asked_about_again(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *[text_reply("ok")] * 3) as made:
        write(made.root, ".agents/commands/go.md", "!`echo one`")
        assert asked(say(made, "/go", yes=True)) == 1
        write(made.root, ".agents/commands/go.md", "!`echo another`")
        assert asked(say(made, "/go", yes=True)) == 1
    with assembled_terminal(tmp_path, text_reply("ok"), approval_mode="all") as made:
        write(made.root, ".agents/commands/go.md", "!`echo a third`")
        assert asked(say(made, "/go")) == 0
        assert "a third" in said(made)[0]


def test_it_names_the_only_tools_and_a_model(tmp_path: Path) -> None:
    replies = [call_reply("create_file", path="x", content="x"), text_reply("ok")]
    with assembled_terminal(
        tmp_path, *replies, *[list(one) for one in replies], text_reply("ok")
    ) as made:
        head = "---\ntools: read_file, list_files\nmodel: no-such\n---\n"
        write(made.root, ".agents/commands/look.md", f"{head}Look.")
        events = say(made, "/look")
        assert [event.state for event in events if isinstance(event, ToolFinished)] == ["refused"]
        assert any(isinstance(event, Warned) for event in events)
        assert not (made.root / "x").exists()
        say(made, "now do it")
        assert (made.root / "x").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\ndescription: x\n", "its front matter has no second --- line"),
        ("---\nfirst: 1\nnonsense\n---\ntext", "line 3 of its front matter is not “key: value”"),
        ("---\na: b\n---\n", "it is empty below its front matter"),
    ],
)
def test_a_broken_one_says_what_is_wrong(tmp_path: Path, text: str, why: str) -> None:
    with assembled_terminal(tmp_path) as made:
        write(made.root, ".agents/commands/bad.md", text)
        message = f"Cannot use .agents/commands/bad.md: {why}."
        assert help_rows(made)["/bad"] == message
        (answer,) = say(made, "/bad")
        assert isinstance(answer, CommandAnswered)
        assert isinstance(answer.card, TextCard)
        assert not answer.ok
        assert f"{answer.card.title}" == message
        (unknown,) = say(made, "/badd")
        assert isinstance(unknown, CommandAnswered)
        assert isinstance(unknown.card, TextCard)
        assert "Did you mean /bad?" in f"{unknown.card.title}"


def test_a_link_is_no_command(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        write(tmp_path, "elsewhere.md", "from outside")
        (made.root / ".agents/commands").mkdir(parents=True)
        (made.root / ".agents/commands/go.md").symlink_to(tmp_path / "elsewhere.md")
        assert "/go" not in made.terminal.commands


def test_front_matter_is_read_in_the_usual_forms() -> None:
    text = (
        "---\n# a comment\na: 'x: y' \nb: [one, \"two\"]\nc:\n  - 1\n  - 2\nd: >-\n  long\n  text\n"
        "---\nbody"
    )
    values, body = split_front_matter(text)
    assert values == {"a": "x: y", "b": ("one", "two"), "c": ("1", "2"), "d": "long text"}
    assert body == "body"
    assert split_front_matter("no --- front") == ({}, "no --- front")
    with pytest.raises(UserError):
        split_front_matter("---\n- x\n---\n")


def test_the_operations_log_takes_what_is_not_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.assembly.SETTINGS", replace(SETTINGS, operations_log=True))
    with assembled_terminal(tmp_path, text_reply("ok")) as made:
        write(made.root, ".agents/commands/go.md", "!`echo one`")
        assert asked(say(made, "/go", yes=True)) == 1
        lines = map(json.loads, made.data.operations.read_text().splitlines())
        answers = [line for line in lines if line["kind"] == "answer"]
        assert [line["state"] for line in answers] == ["done", "done"]


def test_nothing_hides_in_that_of_a_project(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, text_reply("ok")) as made:
        write(made.root, ".agents/commands/go.md", "Go\u202e on\U000e0041.")
        say(made, "/go")
        assert said(made) == ["Go\\u202e on\\U000e0041."]


def test_none_can_pass_for_one_of_ours(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        for name in ("undo\u3164", "undo\uffa0", "undo\u200b", "ｕｎｄｏ", "审查", "undo-all"):
            write(made.root, f".agents/commands/{name}.md", "Say something else.")
        names = set(made.terminal.commands)
        assert {name for name in names if not name.isascii() or "undo" in name} == {
            *("/undo", "/undo-all", "/审查")
        }


def test_no_more_are_read_than_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modules.own_commands.files._MAX_FILES", 3)
    with assembled_terminal(tmp_path) as made:
        for number in range(9):
            write(made.root, f".agents/commands/{number}.md", "Go on.")
            write(made.root, f".claude/commands/f{number}/{number}.md", "Go on.")
        read: list[str] = []
        read_bytes = Project.read_bytes

        def note(project: Project, path: str, limit: int = 0) -> bytes:
            read.append(path)
            return read_bytes(project, path, limit)

        monkeypatch.setattr(Project, "read_bytes", note)
        names = [name for name in made.terminal.commands if name[1:].isdigit()]
        assert names == ["/0", "/1", "/2"]
        assert read == [f".agents/commands/{number}.md" for number in range(3)]
