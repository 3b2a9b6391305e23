"""What the documentation promises is understood, with the tools it names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from modules.practice.language.examples import EXAMPLES
from tests.modules.practice.practice_conversation import PracticeConversation

PAGE = Path(__file__).parents[4] / "docs" / "practice-model.md"
ANSWERS = {
    "list_files": "x/ (1 file)\nREADME.md  4 B",
    "find_files": "1 file:\nREADME.md",
    "read_file": "README.md: lines 1-1 of 1\n1│# T",
    "search_text": "1 line in 1 file:\nREADME.md\n1│TODO",
    "run_python": "exit code 0 (0.0 s)\n1",
    "run_command": "exit code 0 (0.0 s)\n1",
}


def documented() -> list[tuple[str, str, list[str]]]:
    rows = [line.split(" | ") for line in PAGE.read_text("utf-8").split("\n") if "| `" in line]
    return [
        (_unquoted(english.removeprefix("| ")), _unquoted(chinese), re.findall(r"`(\w+)`", tools))
        for english, chinese, tools in rows
    ]


def _unquoted(cell: str) -> str:
    return cell.removeprefix("`` ").removesuffix(" ``") if "``" in cell else cell.strip("`")


def test_the_page_lists_what_the_model_says_it_understands() -> None:
    assert [(english, chinese) for english, chinese, _ in documented()] == list(EXAMPLES)


@pytest.mark.parametrize(
    ("request_", "tools"),
    [(text, tools) for english, chinese, tools in documented() for text in (english, chinese)],
)
def test_a_documented_request_calls_the_documented_tools(request_: str, tools: list[str]) -> None:
    play = PracticeConversation(lambda name, _: ANSWERS.get(name, "Done."))
    text = play.ask(request_)
    assert [call.name for call in play.calls] == tools
    is_list = "practice model" in text or "练习模型" in text
    assert is_list == (request_ in EXAMPLES[-1])
