"""Every sentence of the product is there in Chinese, with the same values, and nothing else is."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

from config import locale_language
from modules.translator import CATALOGUES, Translator
from tests.assembly import assembled_terminal
from utils.i18n import Phrase, phrase

ROOT = Path(__file__).parent.parent
CHINESE: dict[str, str] = json.loads((CATALOGUES / "zh.json").read_text(encoding="utf-8"))
HOUSE = ("core", "modules", "utils")
MAKERS = {"utils/i18n.py", "core/feature.py"}
"""Where `phrase` is defined, and where it is fed the help of `command`."""


def sources() -> Iterator[Path]:
    yield from ROOT.glob("*.py")
    for room in HOUSE:
        yield from sorted((ROOT / room).rglob("*.py"))


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield the place and the node of every call of `phrase` and `command` in the product."""
    for path in sources():
        where = path.relative_to(ROOT).as_posix()
        if where in MAKERS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("phrase", "command")
            ):
                yield f"{where}:{node.lineno}", node


def template_of(call: ast.Call) -> str | None:
    """Return the literal text of *call* that people read, or None where it is computed."""
    assert isinstance(call.func, ast.Name)
    texts = call.args[0 if call.func.id == "phrase" else 1 :][:1]
    texts += [keyword.value for keyword in call.keywords if keyword.arg == "help"]
    if texts and isinstance(texts[0], ast.Constant) and isinstance(texts[0].value, str):
        return texts[0].value
    return None


def fields(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name is not None}


CALLS = list(calls())
TEMPLATES = {template: where for where, call in CALLS if (template := template_of(call))}


def test_every_phrase_is_written_out() -> None:
    assert [where for where, call in CALLS if template_of(call) is None] == []


def test_every_phrase_gets_the_values_it_names() -> None:
    def given(call: ast.Call) -> set[str]:
        if ast.unparse(call.func) == "command":  # its other arguments are no values of the help
            return set()
        return {keyword.arg for keyword in call.keywords if keyword.arg is not None}

    wrong = [where for where, call in CALLS if fields(template_of(call) or "") != given(call)]
    assert wrong == []


def test_every_phrase_is_there_in_chinese() -> None:
    missing = {text: where for text, where in TEMPLATES.items() if not CHINESE.get(text)}
    assert missing == {}


def test_a_translation_names_the_same_values() -> None:
    assert {text for text, said in CHINESE.items() if fields(text) != fields(said)} == set()


def test_no_translation_is_left_over() -> None:
    assert CHINESE.keys() - TEMPLATES.keys() == set()


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LANG": "C"}, "en"),
        ({}, "en"),
    ],
)
def test_the_locale_says_which_language(environment: dict[str, str], language: str) -> None:
    assert locale_language(environment) == language


def test_a_phrase_is_said_in_the_language_of_the_reader() -> None:
    words = Translator("zh", {"{n} files": "{n} 个文件"})
    assert words.render(phrase("{n} files", n=3)) == "3 个文件"
    assert words.render(phrase("not translated")) == "not translated"
    assert words.render("as it is") == "as it is"


def test_every_tool_is_told_of_in_the_words_of_the_person(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as env:
        tools = [*env.terminal.tools]
        assert "run_python" in {tool.name for tool in tools}
        assert [tool.name for tool in tools if not isinstance(tool.summary, Phrase)] == []
