"""What a call of the model's has said of a file in focus is not said again; all else is, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.conversation.context_updates import context_diff
from core.conversation.messages import Context, ToolCall
from core.feature import Section
from tests.assembly import AssembledTerminal, HermeticSettings, assembled_terminal
from tests.scripted_model import call_reply, run_turn, text_reply
from utils.text.tokens import estimate_tokens

LINES = [
    f"value_{n} = {n}  # one line of a file that is looked at all the time\n" for n in range(300)
]
CHANGED = "Focus file a.py has changed:"


def edit(number: int) -> Any:
    old, new = f"value_{number} = {number} ", f"changed_{number} = 0 "
    change = {"path": "a.py", "operation": "replace", "old": old, "new": new}
    return call_reply("modify_file", id=f"e{number}", **change)


def run_python(code: str) -> Any:
    return call_reply("run_python", id="p1", code=code)


def begin(env: AssembledTerminal) -> None:
    (env.root / "a.py").write_text("".join(LINES))
    run_turn(env.terminal, "/focus a.py")


def news(env: AssembledTerminal) -> list[str]:
    """The system messages of the last request, but for the system text and the first context."""
    request = env.model.requests[-1]
    return [one["content"] for one in request if one["role"] == "system"][2:]


def test_fifty_edits_of_a_file_in_focus_cost_their_calls_and_answers(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, *map(edit, range(50)), text_reply("done")) as env:
        begin(env)
        assert len((env.root / "a.py").read_bytes()) > 20_000
        run_turn(env.terminal, "go")
        requests = env.model.requests
        (same_tool,) = news(env)
        assert same_tool.startswith("You use the same tool")
        added = requests[-1][len(requests[0]) :]
        roles = [one["role"] for one in added if one["content"] != same_tool]
        assert roles == ["assistant", "tool"] * 50
        missed = estimate_tokens(str(requests[-1]))
        said = [one for one in requests[-1] if one["role"] != "system"]
        assert missed / (estimate_tokens(str(requests[0])) + estimate_tokens(str(said))) <= 1.05
        text = env.terminal.history.context_sent["focus:a.py"]
        assert text.count("changed_") == 50


def test_what_somebody_else_changes_comes_once_as_the_shorter(tmp_path: Path) -> None:
    replies = [edit(1), edit(2), edit(3), text_reply("done")]
    with assembled_terminal(tmp_path, *replies) as env:
        begin(env)
        file = env.root / "a.py"

        def change(event: object) -> None:
            if type(event).__name__ == "ToolFinished" and "value_9 = 9 " in file.read_text():
                file.write_text(file.read_text().replace("value_9 = 9 ", "theirs = 9 "))

        for event in env.terminal.run_line("go"):
            change(event)
        (diff,) = news(env)
    assert diff.startswith(CHANGED)
    assert "+theirs = 9" in diff
    assert "changed_1 " not in diff


def test_what_a_program_does_to_it_is_told_and_edits_build_on_that(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\np = Path('a.py')\n"
        "p.write_text(p.read_text().replace('value_5 = 5 ', 'by_program = 5 '))"
    )
    replies = [edit(1), run_python(code), edit(2), text_reply("done")]
    with assembled_terminal(tmp_path, *replies) as env:
        begin(env)
        run_turn(env.terminal, "go")
        (diff,) = news(env)
    assert "+by_program = 5" in diff
    assert "changed_1" not in "".join(line for line in diff.split("\n") if line[:1] in "+-")


def test_an_edit_that_is_put_back_by_somebody_else_is_told(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, edit(1), text_reply("done"), text_reply("yes")) as env:
        begin(env)
        run_turn(env.terminal, "go")
        (env.root / "a.py").write_text("".join(LINES))
        run_turn(env.terminal, "look")
        (diff,) = news(env)
    assert "-changed_1 = 0" in diff
    assert "+value_1 = 1" in diff


def test_an_edit_of_a_version_that_was_never_told_is_no_knowledge(tmp_path: Path) -> None:
    replies = [call_reply("read_file", path="a.py"), edit(1), text_reply("done")]
    with assembled_terminal(tmp_path, *replies) as env:
        begin(env)
        file = env.root / "a.py"
        for event in env.terminal.run_line("go"):
            # Between the request and the reading: the model reads it, but not in the focus.
            if type(event).__name__ == "ToolStarted" and "value_7 = 7 " in file.read_text():
                file.write_text(file.read_text().replace("value_7 = 7 ", "theirs = 7 "))
        (diff,) = news(env)
    assert "+theirs = 7" in diff


def test_undo_and_rewind_are_told_from_what_the_model_then_knows(tmp_path: Path) -> None:
    replies = [edit(1), text_reply("done"), text_reply("undone"), edit(2), text_reply("ok")]
    with assembled_terminal(tmp_path, *replies, text_reply("again")) as env:
        begin(env)
        run_turn(env.terminal, "go")
        run_turn(env.terminal, "/undo")
        run_turn(env.terminal, "look")
        assert "+value_1 = 1" in news(env)[0]
        run_turn(env.terminal, "change another")
        run_turn(env.terminal, "/rewind 3")
        run_turn(env.terminal, "and now?")
        assert not any("changed_2" in text for text in news(env))
        told = env.terminal.history.context_sent["focus:a.py"]
    assert told.split("\n", 2)[2].removesuffix("```") == "".join(LINES)


def test_a_session_that_is_resumed_knows_what_its_calls_said(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path, edit(1), text_reply("done")) as env:
        begin(env)
        run_turn(env.terminal, "go")
    with assembled_terminal(tmp_path, edit(2), text_reply("more")) as env:
        run_turn(env.terminal, "/resume")
        run_turn(env.terminal, "go on")
        assert news(env) == []
        assert env.model.requests[-1][-1]["role"] == "tool"
        run_turn(env.terminal, "/fork")
        env.model.replies.append(text_reply("in the fork"))
        run_turn(env.terminal, "and here")
        assert news(env) == []


def test_after_a_summary_the_file_stands_as_the_kept_calls_found_it(tmp_path: Path) -> None:
    replies = [edit(1), text_reply("done"), edit(2), text_reply("done"), text_reply("- changed 1")]
    with assembled_terminal(tmp_path, *replies, text_reply("ok"), summary_prompt="Sum up.") as env:
        begin(env)
        run_turn(env.terminal, "one")
        run_turn(env.terminal, "two")
        run_turn(env.terminal, "/compact")
        run_turn(env.terminal, "three")
        request = env.model.requests[-1]
    (whole,) = [one["content"] for one in request if "its current content" in str(one["content"])]
    assert "changed_1 " in whole
    assert "value_2 = 2 " in whole
    assert [one["tool_calls"][0]["id"] for one in request if "tool_calls" in one] == ["e2"]


def test_a_rename_is_told_without_the_content(tmp_path: Path) -> None:
    rename = call_reply("rename_file", path="a.py", new_path="b.py")
    with assembled_terminal(tmp_path, rename, text_reply("done"), text_reply("ok")) as env:
        begin(env)
        run_turn(env.terminal, "go")
        assert news(env) == ["Focus file a.py is b.py now."]
        (env.root / "b.py").write_text("".join(LINES[:-1]))
        run_turn(env.terminal, "look")
        assert news(env)[1].startswith("Focus file b.py has changed:")


def test_a_secret_in_it_is_no_news_at_every_step(tmp_path: Path) -> None:
    secret = "sk-very-secret-key-0123456789"
    settings = HermeticSettings(known_secrets={"API_KEY": secret})
    look = [call_reply("list_files", id=f"c{n}") for n in range(2)]
    with assembled_terminal(
        tmp_path, *look, edit(1), text_reply("done"), app_settings=settings
    ) as env:
        (env.root / "a.py").write_text("".join([f"key = '{secret}'\n", *LINES]))
        run_turn(env.terminal, "/focus a.py")
        run_turn(env.terminal, "go")
        assert news(env) == []
    assert secret not in str(env.model.requests)


def test_a_private_call_teaches_the_model_nothing(tmp_path: Path) -> None:
    arguments = '{"path": "a.py", "operation": "replace", "old": "value_1 = 1 ", "new": "x = 1 "}'
    with assembled_terminal(tmp_path, text_reply("ok"), text_reply("seen")) as env:
        begin(env)
        run_turn(env.terminal, "hello")
        calls = [ToolCall("t1", "modify_file", arguments)]
        list(env.terminal.run_calls("a test", calls, [], is_private=True))
        run_turn(env.terminal, "look")
        assert "+x = 1" in news(env)[0]


def test_a_section_may_be_known_end_or_be_renamed_without_its_text() -> None:
    known = Section("a", "A2", derive=lambda told: f"{told[0]}2")
    assert context_diff({"a": "A1"}, [known]) == Context("", {"a": "A2"})
    put_back = Section("a", "A1", derive=lambda told: f"{told[0]}2")
    assert context_diff({"a": "A1"}, [put_back]) == Context("A1", {})
    ended = Section("a", "", describe_change=lambda _: "")
    assert context_diff({"a": "A"}, [ended]) == Context("", {"a": None})
    renamed = Section("b", "B", describe_change=lambda told: f"{told} is B", former_name="a")
    assert context_diff({"a": "A"}, [renamed]) == Context("A is B", {"b": "B", "a": None})
