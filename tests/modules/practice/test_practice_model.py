"""Whole tasks of the practice model, its tools answering by a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.cards import TextCard
from core.loop.approval_flow import with_revision_note
from core.tools import Outcome
from modules.practice.practice_model import MAX_STEPS
from modules.practice.practice_reply import PracticeCall
from tests.modules.practice.practice_conversation import TOOLS, PracticeConversation, answering


def test_a_task_runs_step_by_step_and_tells_what_the_tools_said() -> None:
    play = PracticeConversation(answering(run_command="exit code 0 (0.1 s)\nhi"))
    text = play.ask("make hello.py with print('hi') and run it")
    assert play.calls == [
        PracticeCall("create_file", {"path": "hello.py", "content": "print('hi')\n"}),
        PracticeCall("run_command", {"command": "python3 hello.py"}),
    ]
    assert text == (
        "`hello.py` is made, with:\n\n```\nprint('hi')\n```\n\n"
        "`python3 hello.py` ran and printed:\n\n```\nhi\n```"
    )


def test_the_answer_is_in_the_language_of_the_request() -> None:
    play = PracticeConversation(
        answering(run_python="exit code 0 (0.0 s)\n42", read_file="Error: There is no a.")
    )
    assert play.ask("计算 6*7") == "`6*7` = `42`"
    assert play.ask("看看 a.txt") == "`read_file` 没有成功：\n\n```\nThere is no a.\n```"
    assert "我是练习模型" in play.ask("你好")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        *((line, "You are welcome.") for line in ("thanks!", "Thank you so much", "ok", "Bye")),
        *((line, "不客气。") for line in ("谢谢！", "好的，谢谢", "收到", "再见")),
    ],
)
def test_a_courtesy_is_answered_in_a_line(line: str, said: str) -> None:
    play = PracticeConversation(answering())
    text = play.ask(line)
    assert text.startswith(said)
    assert len(text) < 120
    assert not play.calls


def test_a_failed_call_is_told_as_failed_and_ends_the_task() -> None:
    play = PracticeConversation(answering(create_file="Error: hello.py exists already."))
    text = play.ask("make hello.py with x, then run it")
    assert [call.name for call in play.calls] == ["create_file"]
    assert text == (
        "`create_file` did not work:\n\n```\nhello.py exists already.\n```\n\n"
        "To replace it, say: `overwrite hello.py with …`.\n\n"
        "So I left out: run `hello.py`."
    )


@pytest.mark.parametrize(
    "refusal",
    [
        "Refused: this session is read-only",
        "The person said no: not now",
        "Not run: the person stopped the task.",
    ],
)
def test_a_refusal_is_no_success(refusal: str) -> None:
    play = PracticeConversation(answering(delete_file=refusal))
    assert play.ask("delete a.txt") == f"`delete_file` did not work:\n\n```\n{refusal}\n```"


def test_a_program_that_fails_is_told_with_its_exit_code_and_output() -> None:
    play = PracticeConversation(
        answering(run_command="exit code 3 (0.1 s)\noops\nFiles created: a.txt")
    )
    assert play.ask("run hello.py then delete hello.py") == (
        "`python3 hello.py` did not end well: exit code 3 (0.1 s)\n\n```\noops\n```\n\n"
        "```\nFiles created: a.txt\n```\n\nSo I left out: delete `hello.py`."
    )


def test_what_ran_as_the_person_changed_it_is_told_as_that() -> None:
    ran = Outcome("exit code 0 (0.1 s)\n__init__", TextCard(""))
    told = with_revision_note(ran, {"command": "wc -l a"}, {"command": "echo __init__"}).text
    play = PracticeConversation(answering(run_command=told))
    answer = play.ask("run the command `wc -l a`")
    assert answer == "What you made of it ran and printed:\n\n```\n__init__\n```"


def test_a_program_that_is_killed_did_not_end_well() -> None:
    play = PracticeConversation(
        answering(run_python="Killed after 60 s, the timeout; a longer one\n(no output)")
    )
    assert play.ask("calculate 9**9**9").startswith("`9**9**9` did not end well: Killed after 60 s")


def test_output_cannot_close_its_fence() -> None:
    play = PracticeConversation(answering(run_command="exit code 0 (0.1 s)\n```\nall is well"))
    assert play.ask("run a.py").endswith("````\n```\nall is well\n````")


def test_describing_reads_the_readme_and_the_main_file() -> None:
    texts = {
        "list_files": "tool/ (3 files)\nsrc/\n  a.json  3 B\nmain.py  27 B\nREADME.md  24 B",
        "find_files": "3 files:\nREADME.md\nmain.py\nsrc/a.json",
        "README.md": "README.md: lines 1-2 of 2\n1│\n2│# A tool",
        "main.py": "main.py is empty.",
    }

    def tool(name: str, arguments: Mapping[str, Any]) -> str:
        return texts[arguments["path"] if name == "read_file" else name]

    play = PracticeConversation(tool)
    assert play.ask("describe this folder") == (
        "There are 3 files in this folder: 1 × `.md`, 1 × `.py`, 1 × `.json`.\n"
        "- At the top: `src/`, `main.py`, `README.md`\n"
        "- `README.md` begins: `A tool`\n"
        "- `main.py` is empty"
    )
    assert [call.name for call in play.calls] == [
        "list_files",
        "find_files",
        "read_file",
        "read_file",
    ]


def test_an_empty_folder_is_described_as_empty() -> None:
    play = PracticeConversation(
        answering(list_files="x/ (0 files)", find_files="None of 0 files fits *.")
    )
    assert play.ask("describe this folder") == "There are no files in this folder yet."


def test_a_search_that_finds_nothing_is_tried_in_other_cases() -> None:
    def tool(_name: str, arguments: Mapping[str, Any]) -> str:
        if arguments.get("ignore_case"):
            return "1 line in 1 file:\na.py\n2│TODO"
        return "No line of 1 file matches."

    play = PracticeConversation(tool)
    found = "Found (upper and lower case taken alike): 1"
    assert play.ask("find todo") == f"{found}\n\n```\na.py\n2│TODO\n```"


def test_a_folder_that_was_taken_for_a_file_is_deleted_as_a_folder() -> None:
    play = PracticeConversation(answering(delete_file="Error: docs is a folder, not a file."))
    assert play.ask("delete docs") == "The folder `docs` is deleted."
    assert play.calls[-1] == PracticeCall("delete_folder", {"path": "docs", "recursive": False})


@pytest.mark.parametrize(
    ("text", "new_path"),
    [
        ("move a.txt into docs", "docs/a.txt"),
        ("move a.txt to docs/", "docs/a.txt"),
        ("rename a.txt to docs", "docs"),
        ("move docs/a.txt to b.txt", "b.txt"),
        ("把 a.txt 移动到 docs 文件夹", "docs/a.txt"),
    ],
)
def test_moving_into_a_folder_keeps_the_name(text: str, new_path: str) -> None:
    play = PracticeConversation()
    play.ask(text)
    assert play.calls[0].arguments["new_path"] == new_path


def test_a_plan_becomes_todos() -> None:
    play = PracticeConversation()
    assert play.ask("plan: 1. read; 2. write and test") == "The plan:\n\n1. read\n2. write\n3. test"
    assert [todo["title"] for todo in play.calls[0].arguments["todos"]] == ["read", "write", "test"]


def test_a_program_that_prints_a_text_cannot_be_broken_out_of() -> None:
    play = PracticeConversation()
    play.ask("make a.py that prints \"');import os;('\"")
    assert play.calls[0].arguments["content"] == "print(\"');import os;('\")\n"
    play.ask("make a.sh that prints '$(rm x)'")
    assert play.calls[1].arguments["content"] == "echo '$(rm x)'\n"


def test_a_path_is_quoted_in_a_command_line() -> None:
    play = PracticeConversation(answering(run_command="exit code 0 (0.1 s)\n(no output)"))
    assert play.ask("run `my file;x.py`") == ("`python3 'my file;x.py'` ran and printed nothing.")


def test_it_means_the_file_of_the_message_before() -> None:
    play = PracticeConversation(answering(run_command="exit code 0 (0.1 s)\nhi"))
    play.ask("make hello.py with print('hi')")
    play.ask("run it")
    assert play.calls[-1] == PracticeCall("run_command", {"command": "python3 hello.py"})


def test_it_without_a_file_is_asked_about() -> None:
    play = PracticeConversation()
    assert (play.ask("run it"), play.calls) == ("Which file? Name it.", [])


def test_undo_is_left_to_the_person() -> None:
    play = PracticeConversation()
    assert "`/undo`" in play.ask("undo that")
    assert "`/undo`" in play.ask("撤销")
    assert play.calls == []


def test_only_tools_on_offer_are_called() -> None:
    play = PracticeConversation(offered=["create_file"])
    text = play.ask("make a.py with 1 and run it")
    assert [call.name for call in play.calls] == ["create_file"]
    assert text.endswith("That needs the tool `run_command`, which I am not given here.")


def test_anything_else_gets_the_list_of_what_is_understood() -> None:
    play = PracticeConversation()
    assert play.ask("write a poem").startswith("I am the practice model: a small program, no AI.")
    assert play.ask("写一首诗").startswith("我是练习模型：一个小程序，不是 AI。")
    assert play.calls == []


def test_it_thinks_in_the_first_step_of_a_call_with_thinking_only() -> None:
    play = PracticeConversation(
        messages=[{"role": "user", "content": "make a.py with 1 and run it"}]
    )
    first = play.reply(think=True)
    assert first.thinking == (
        "The request: make `a.py`, run `a.py`. First create_file, then run_command."
    )
    assert play.reply().thinking == ""
    play.answer_calls(first)
    assert play.reply(think=True).thinking == ""


def test_a_task_stops_after_some_steps_and_goes_on_when_told() -> None:
    play = PracticeConversation()
    names = [f"{number}.txt" for number in range(MAX_STEPS + 2)]
    text = play.ask(", then ".join(f"delete {name}" for name in names))
    assert len(play.calls) == MAX_STEPS
    assert "I stop after 12 steps" in text
    assert text.endswith("So I left out: delete `13.txt`.")
    play.ask("go on")
    assert [call.arguments["path"] for call in play.calls] == names


def test_a_stopped_call_is_made_again_when_told_to_go_on() -> None:
    play = PracticeConversation(
        answering(run_command="Stopped by the person after 1.0 s.\n(no output)")
    )
    play.ask("run a.py")
    play.tool = answering(run_command="exit code 0 (0.1 s)\nhi")
    assert play.ask("go on").startswith("`python3 a.py` ran and printed:")


def test_what_the_terminal_tells_between_the_messages_does_not_disturb() -> None:
    play = PracticeConversation(
        answering(run_python="exit code 0 (0.0 s)\n42"),
        messages=[{"role": "system", "content": "run a.py"}],
    )
    play.messages.append({"role": "user", "content": [{"type": "text", "text": "calculate 6*7"}]})
    play.answer_calls(play.reply())
    play.messages.append({"role": "system", "content": "What you concluded: delete a.py"})
    assert play.reply().text == "`6*7` = `42`"


def test_on_a_chinese_screen_what_is_not_understood_is_refused_in_chinese() -> None:
    assert "我" in PracticeConversation(screen="zh").ask("fhqwhgads")
    assert "我" not in PracticeConversation().ask("fhqwhgads")


@pytest.mark.parametrize(
    ("message", "chinese"),
    [
        ("help", "我是练习模型"),
        ("undo", "我没有撤销的工具"),
        ("run a.txt", "我只会运行"),
        ("show it", "哪个文件？"),
        ("show a.py and rename a.py to b.py", "`read_file` 没有成功：\n"),
        ("show a.py and rename a.py to b.py", "所以没有做：重命名 `a.py`。"),
        ("make a.py with x", "要替换它，请说"),
        ("delete the folder a", "要连同内容一起删除"),
        ("plan read, write", "这需要工具 `update_todos`"),
    ],
)
def test_on_a_chinese_screen_it_says_in_chinese_why_an_english_request_is_not_done(
    message: str, chinese: str
) -> None:
    tools = answering(
        read_file="Error: There is no file a.py.",
        create_file="Error: a.py exists.",
        delete_folder="Error: a is not empty.",
    )
    offered = [name for name in TOOLS if name != "update_todos"]
    assert chinese in PracticeConversation(tools, offered, screen="zh").ask(message)
    assert chinese not in PracticeConversation(tools, offered).ask(message)


def test_an_answer_is_in_the_language_of_the_request_on_any_screen() -> None:
    tools = answering(run_python="exit code 0 (0.0 s)\n42", run_command="exit code 1 (0.1 s)\nno")
    for message in ("make a.py with x", "run a.py", "calculate 6*7", "新建 a.py，内容为 x"):
        assert PracticeConversation(tools, screen="zh").ask(message) == PracticeConversation(
            tools
        ).ask(message)
