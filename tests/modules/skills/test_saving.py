"""What a session proved becomes a skill: drafted, tried in a copy, and kept with a yes alone."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cards import DiffCard, TextCard
from core.events import ApprovalAsked, CommandAnswered, Event, Reply, ToolFinished, ToolOutput
from core.loop.turn import drive
from modules.cli.print_mode import PlainScreen
from modules.cli.render.cards.card_rows import diff_lines
from modules.translator import Translator
from tests.assembly import AssembledTerminal, HermeticSettings, assembled_terminal
from tests.scripted_model import Item, call_reply, text_reply

SETTINGS = HermeticSettings(
    context_limit=1_000_000,
    checkpoint_total_mb=1_000,
    known_secrets={"TOKEN": "tokentokentoken"},
)
SAVE = "/skill save greet"


def skill(program: str) -> str:
    return (
        "```markdown\n---\nname: other\ndescription: >-\n  Greet the world:\n  when asked.\n---\n"
        f"# Greet\n\n1. Run it.\n\n```bash\n{program}\n```\n```\n"
    )


GREEN = skill("cat a.txt | grep one\ntest ! -e made.txt\necho made > made.txt")


def run(command: str) -> list[Item]:
    return call_reply("run_command", command=command)


def begun(made: AssembledTerminal) -> None:
    (made.root / "a.txt").write_text("one\n")
    drive(made.terminal.run_line("Greet, with tokentokentoken."), lambda _: None)


def save(
    made: AssembledTerminal, answer: str | None = "Keep", line: str = SAVE
) -> tuple[list[Event], ToolFinished]:
    """Type *line*; return the events, and the end of its call."""
    events: list[Event] = []

    def show(event: Event) -> Reply | None:
        events.append(event)
        asked = isinstance(event, ApprovalAsked)
        return Reply(True, text=answer) if asked and answer is not None else None

    drive(made.terminal.run_line(line), show)
    (end,) = (event for event in events if isinstance(event, ToolFinished))
    return events, end


def kept(made: AssembledTerminal) -> list[str]:
    return [str(path.relative_to(made.root)) for path in made.root.rglob("SKILL.md")]


def said(end: ToolFinished) -> str:
    assert isinstance(end.card, TextCard)
    return f"{end.card.title} {end.card.body}"


def with_draft(tmp_path: Path, draft: str, check: Callable[[AssembledTerminal], None]) -> None:
    replies = [run("cat a.txt"), run("exit 3"), text_reply("Done."), text_reply(draft)]
    copies = tmp_path / "copies"
    copies.mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        assembled_terminal(tmp_path, *replies, text_reply("Again."), app_settings=SETTINGS) as made,
    ):
        patch.setattr(tempfile, "tempdir", str(copies))
        begun(made)
        check(made)
    assert not list(copies.glob("onefold-skill-*"))


def test_a_skill_is_drafted_tried_shown_and_kept_with_a_yes_and_undone(tmp_path: Path) -> None:
    def check(made: AssembledTerminal) -> None:
        events, end = save(made)
        told = str(made.model.requests[-1])
        assert "cat a.txt" in told
        assert "exit 3 (exit code 3)" in told
        assert "Greet, with" in told
        assert "tokentoken" not in told
        printed = "".join(event.text for event in events if isinstance(event, ToolOutput))
        assert "$ cat a.txt | grep one" in printed
        assert "\none\n" in printed
        (asked,) = (event for event in events if isinstance(event, ApprovalAsked))
        assert asked.choices[0].template == "Keep"  # type: ignore[union-attr]
        assert isinstance(asked.preview, DiffCard)
        assert "+# Greet" in asked.preview.diff
        assert isinstance(end.card, DiffCard), end
        assert kept(made) == [".agents/skills/greet/SKILL.md"]
        text = (made.root / ".agents/skills/greet/SKILL.md").read_text()
        assert text.startswith(
            '---\nname: greet\ndescription: "Greet the world: when asked."\n---\n\n# Greet\n'
        )
        assert not (made.root / "made.txt").exists()  # that was in the copy
        drive(made.terminal.run_line("Greet again."), lambda _: None)
        assert "- greet: Greet the world: when asked." in str(made.model.requests[-1])
        drive(made.terminal.run_line("/undo"), lambda _: None)
        assert kept(made) == []

    with_draft(tmp_path, GREEN, check)


def test_a_trial_that_fails_is_told_and_decided_about(tmp_path: Path) -> None:
    def check(made: AssembledTerminal) -> None:
        events, _ = save(made, "Keep")  # no choice of this question
        asked, *_ = (event for event in events if isinstance(event, ApprovalAsked))
        why = str(asked.why)
        assert "failed in a copy of the project: grep two a.txt (exit code 1)" in why
        assert [str(choice) for choice in asked.choices] == ["Discard", "Keep anyway"]
        assert kept(made) == []

    with_draft(tmp_path, skill("grep two a.txt\necho never"), check)


def test_nobody_and_no_keep_nothing(tmp_path: Path) -> None:
    for number, answer in enumerate((None, "Discard", "")):
        folder = tmp_path / str(number)
        folder.mkdir()

        def check(made: AssembledTerminal, answer: str | None = answer) -> None:
            _, end = save(made, answer)
            assert "not kept" in said(end)
            assert kept(made) == []

        with_draft(folder, GREEN, check)


def test_words_that_are_no_choice_are_asked_about_again(tmp_path: Path) -> None:
    answers = iter(["Make step 2 clearer", " keep "])

    def check(made: AssembledTerminal) -> None:
        asked: list[str] = []

        def show(event: Event) -> Reply | None:
            if not isinstance(event, ApprovalAsked):
                return None
            asked.append(str(event.why))
            return Reply(True, text=next(answers))

        drive(made.terminal.run_line(SAVE), show)
        assert ["one of its choices" in why for why in asked] == [False, True]
        assert kept(made) == [".agents/skills/greet/SKILL.md"]

    with_draft(tmp_path, GREEN, check)


def test_what_comes_of_no_draft_is_said(tmp_path: Path) -> None:
    cases = {
        "": "The model drafted no skill.",
        "Sorry.": "draft: its front matter has no description",
        "---\nname: a\ndescription: b\n---\n": "it is empty below its front matter",
        "---\nname: a\ndescription: b\n---\nDo it.\n": "no command that could be tried",
        "---\nname: a\n": "its front matter has no second --- line",
    }
    for number, (draft, why) in enumerate(cases.items()):
        folder = tmp_path / str(number)
        folder.mkdir()

        def check(made: AssembledTerminal, why: str = why) -> None:
            _, end = save(made)
            assert (end.state, why in said(end)) == ("failed", True), said(end)
            assert kept(made) == []

        with_draft(folder, draft, check)


def test_nothing_is_drafted_where_it_could_not_be_kept(tmp_path: Path) -> None:
    replies = [run("exit 1"), text_reply("Done."), run("true"), text_reply("Done.")]
    with assembled_terminal(tmp_path, *replies, app_settings=SETTINGS) as made:
        begun(made)
        events, end = save(made)
        assert "no command succeeded" in said(end)
        errors = io.StringIO()
        screen = PlainScreen("text", io.StringIO(), errors, Translator("en", {}))
        for event in events:
            screen.show(event)
        assert (screen.finish(), "no command succeeded" in errors.getvalue()) == (1, True)
        drive(made.terminal.run_line("Try again."), lambda _: None)
        asked, turn = len(made.model.requests), made.terminal.history.turn
        for line, why in {
            "/skill save deep-research": "There is already a skill deep-research",
            "/skill save": "Usage: /skill save NAME",
            "/skill save ../a": "Usage: /skill save NAME",
            "/skill save a b": "Usage: /skill save NAME",
        }.items():
            told: list[Event] = []
            drive(made.terminal.run_line(line), told.append)
            (answered,) = told
            assert isinstance(answered, CommandAnswered)
            assert isinstance(answered.card, TextCard)
            assert (answered.ok, why in str(answered.card.title)) == (False, True), line
        assert (len(made.model.requests), made.terminal.history.turn) == (asked, turn)
        made.terminal.approval.mode = "read-only"
        assert save(made)[1].state == "refused"
        assert len(made.model.requests) == asked


SCRIPT = "from helper import greeting\n\nprint(greeting(open('a.txt').read()))\n"
HELPER = "def greeting(name):\n    return 'Hello ' + name.strip()\n"


def written(made: AssembledTerminal) -> dict[str, str]:
    folder = made.root / ".agents/skills/greet"
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def with_scripts(tmp_path: Path, draft: str, check: Callable[[AssembledTerminal], None]) -> None:
    replies = [
        call_reply("write_file", path="tools/greet.py", content=SCRIPT),
        call_reply("write_file", path="tools/helper.py", content=HELPER),
        call_reply("write_file", path="tools/unused.py", content="print()\n"),
        call_reply("write_file", path="tools/key.py", content="KEY = 'tokentokentoken'\n"),
        *(run("python3 tools/greet.py"), run("python3 tools/key.py"), text_reply("Done.")),
        *(text_reply(draft), text_reply("Again.")),
    ]
    with assembled_terminal(tmp_path, *replies, app_settings=SETTINGS) as made:
        begun(made)
        check(made)


def test_a_skill_carries_the_scripts_that_the_session_wrote_and_ran(tmp_path: Path) -> None:
    def check(made: AssembledTerminal) -> None:
        events, end = save(made)
        printed = "".join(event.text for event in events if isinstance(event, ToolOutput))
        assert "$ python3 .agents/skills/greet/scripts/greet.py > made.txt" in printed
        (asked,) = (event for event in events if isinstance(event, ApprovalAsked))
        assert isinstance(asked.preview, DiffCard)
        diff = asked.preview.diff
        assert " .agents/skills/greet/scripts/greet.py\n+from helper import greeting" in diff
        assert "+def greeting(name):" in diff
        assert "tokentoken" not in diff
        assert "holds a secret: tools/key.py" in str(asked.preview.note)
        assert asked.choices[0].template == "Keep"  # type: ignore[union-attr]
        files = written(made)
        assert sorted(files) == ["SKILL.md", "scripts/greet.py", "scripts/helper.py"]
        assert files["scripts/greet.py"] == SCRIPT
        assert "1. Run .agents/skills/greet/scripts/greet.py." in files["SKILL.md"]
        assert "python3 tools/key.py" in files["SKILL.md"]
        assert isinstance(end.card, DiffCard)
        drive(made.terminal.run_line("/undo"), lambda _: None)
        assert written(made) == {}
        assert (made.root / "tools/greet.py").exists()

    program = "python3 tools/greet.py > made.txt\ngrep 'Hello one' made.txt\npython3 tools/key.py"
    with_scripts(tmp_path, skill(program).replace("Run it", "Run tools/greet.py"), check)


def test_a_script_that_ran_by_itself_runs_from_the_skill(tmp_path: Path) -> None:
    replies = [
        call_reply("write_file", path="count.sh", content="grep -c one a.txt\n"),
        *(run("chmod +x count.sh && ./count.sh"), text_reply("Done.")),
        text_reply(skill("chmod +x count.sh && ./count.sh")),
    ]
    with assembled_terminal(tmp_path, *replies, app_settings=SETTINGS) as made:
        begun(made)
        save(made)
        files = written(made)
        assert files["scripts/count.sh"] == "grep -c one a.txt\n"
        place = ".agents/skills/greet/scripts/count.sh"
        assert f"chmod +x {place} && bash {place}" in files["SKILL.md"]


def test_scripts_run_from_the_skill_wherever_their_commands_name_them(tmp_path: Path) -> None:
    program = (
        "N=1 ./count.sh\ntime tools/more.sh\nif ! ./count.sh; then exit 1; fi\n"
        "for one in 1 2; do timeout 9 ./count.sh; done\nprintf x | ./count.sh"
    )
    replies = [
        call_reply("write_file", path="count.sh", content="cat\n"),
        call_reply("write_file", path="tools/more.sh", content=""),
        run(f"chmod +x count.sh tools/more.sh\n{program}"),
        *(text_reply("Done."), text_reply(skill(program))),
    ]
    with assembled_terminal(tmp_path, *replies, app_settings=SETTINGS) as made:
        begun(made)
        events, _ = save(made)
        (asked,) = (event for event in events if isinstance(event, ApprovalAsked))
        assert asked.choices[0].template == "Keep", asked.why  # type: ignore[union-attr]
        assert isinstance(asked.preview, DiffCard)
        rows = [row for row in diff_lines(asked.preview.diff) if row[0] == "@"]
        folder = ".agents/skills/greet/scripts"
        assert sorted(text for _, _, text in rows) == [
            f"{folder}/count.sh",
            f"{folder}/tools/more.sh",  # which is empty
        ]
        text = written(made)["SKILL.md"]
        assert f"N=1 bash {folder}/count.sh\ntime bash {folder}/tools/more.sh\n" in text


def test_the_terminal_names_each_file_of_a_skill(tmp_path: Path) -> None:
    def check(made: AssembledTerminal) -> None:
        events, _ = save(made, None)
        (asked,) = (event for event in events if isinstance(event, ApprovalAsked))
        assert isinstance(asked.preview, DiffCard)
        rows = [row for row in diff_lines(asked.preview.diff) if row[0] == "@"]
        assert rows == [
            ("@", 0, ".agents/skills/greet/scripts/greet.py"),
            ("@", 0, ".agents/skills/greet/scripts/helper.py"),
        ]

    with_scripts(tmp_path, skill("python3 tools/greet.py"), check)
