"""Every sentence of the product is there in Chinese, with the same values, and nothing else is."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
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


@cache
def calls() -> list[tuple[str, ast.Call]]:
    """Return the place and the node of every call of `phrase` and `command` in the product."""
    return list(_calls())


def _calls() -> Iterator[tuple[str, ast.Call]]:
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


@cache
def templates() -> dict[str, str]:
    """Return the texts that people read, each with its place."""
    return {template: where for where, call in calls() if (template := template_of(call))}


def test_every_phrase_is_written_out() -> None:
    assert [where for where, call in calls() if template_of(call) is None] == []


def test_every_phrase_gets_the_values_it_names() -> None:
    def given(call: ast.Call) -> set[str]:
        if ast.unparse(call.func) == "command":  # its other arguments are no values of the help
            return set()
        return {keyword.arg for keyword in call.keywords if keyword.arg is not None}

    wrong = [where for where, call in calls() if fields(template_of(call) or "") != given(call)]
    assert wrong == []


def test_every_phrase_is_there_in_chinese() -> None:
    missing = {text: where for text, where in templates().items() if not CHINESE.get(text)}
    assert missing == {}


def test_a_translation_names_the_same_values() -> None:
    assert {text for text, said in CHINESE.items() if fields(text) != fields(said)} == set()


def test_no_translation_is_left_over() -> None:
    assert CHINESE.keys() - templates().keys() == set()


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


PAGE: dict[str, str] = json.loads((CATALOGUES / "page.zh.json").read_text(encoding="utf-8"))

TRANSLATED = {
    r"to be had": "where to get it",
    r"br(eaks?|oken?|oke) off": "ended early, interrupted, lost",
    r"(brought|put|puts|took|taken) (it |them |that |all |everything )?back": (
        "undo, redo, restore"
    ),
    r"takes? (it|them|the change) back": "undo, revert",
    r"brings? (it|them) again": "redo, restore",
    r"(?<!here )is no (?!longer)": "is not a valid …, unknown …",
    r"(was|is) no use": "was not usable",
    r"unless said": "default: …",
    r"(goes|went|going) on": "resumed, continuing",
    r"for want of": "because no one could …",
    r"thus|hereby|whoever|afresh|anew|therein": "",
    r"mends?|mended": "fix, repair",
    r"meanwhile": "in the meantime",
    r"somebody|nobody": "someone, no one",
    r"sum(s|med)? up": "summarize",
    r"begun|begins? it": "start, started",
    r"counts? for nothing": "ignored",
    r"not there": "not found, does not exist",
    r"(all|none|nothing) of it (was|is|stays|would)": "nothing was …",
    r"is held|are held|not held": "saved, locked",
}
"""What reads as translated, and what we say for it; docs/words.md tells why."""
USAGE = re.compile(r"^Say /|[.;:] say |^Say (one|where|which|what)")
_PLACE = re.compile(r"\{[^}]*\}")
COUNTED = (
    r"tokens|files|lines|characters|bytes|matches|messages|turns|rows|steps|model calls|sources"
)
COUNT = re.compile(rf"\{{(?:n|count|tokens|files|limit)\}} (?:more )?(?:{COUNTED})\b")

READ_BY_MODELS = {
    # What the model reads as well stays to the letter: it is kept in sessions and caches.
    "its answer is compressed, which nobody asked for",
    "A note holds {limit} characters; this has {length}.",
    (
        "A note protects {place}: {text}. It was left as it is; only whoever wrote the note can "
        "allow a change."
    ),
    (
        "A run was cut short, and what git obeys could not be put back: {why}. Look at "
        ".git/config and .git/hooks before you use git."
    ),
    "It publishes commits as you; that cannot be taken back.",
    "Not signed in: /mcp sign-in {name} in a dialogue begins it.",
    (
        "Nothing was run: what git obeys here cannot be written down before it, to be put back "
        "after a kill: {why}."
    ),
    (
        "Programs cannot run here: Onefold is loaded through a link in a folder of {n} files. "
        "Start it by its own path."
    ),
    "The file has {count} lines, so new can stand before line 1 to {last}, not {line}.",
    "The message holds secrets ({names}): say it without them.",
    "The pattern is no regular expression: {why}.",
    "The programs' home folder had grown beyond {limit} MB or {files} files. Removed: {names}.",
    (
        "The programs' home folder has grown beyond {limit} MB or {files} files while a program "
        "runs on. Until that has ended the others get an empty one each."
    ),
    "The run changed what git obeys; put back: {names}",
    "The run moved or replaced {names}, which git obeys; put back.",
    (
        "The search service does not know the key: the person must mend TAVILY_API_KEY. Do not "
        "try again."
    ),
    (
        "You have not read {path} yet, so nothing was done. It has {count} lines and begins:\n"
        "{lines}\nRead the rest if it matters, then call again."
    ),
    "it names an object that is not there: {name}",
    "it wants a sign-in: /mcp sign-in {name} in a dialogue begins it",
    "old does not occur, nor anything like it; the file has {count} lines.",
    "{address!r} is no kept output; one looks like @output/3.",
    "{address!r} is no turn; @history lists them.",
    "{address!r} is no turn; {list} lists them.",
    "{address} is no address that git is sent to: https://, ssh://, git:// or user@host:path.",
    "{count} files are in focus already: {files}. Take one out first.",
    "{domain!r} is no domain; one is example.org.",
    "{name!r} is no name of a branch.",
    "{name} is no name of a ref",
    "{name} is no picture that can be used: PNG, JPEG, WebP or GIF.",
    "{name} was changed by somebody else meanwhile",
    "{path} has {count} lines.",
    "{path} is being changed by somebody else; try again.",
    (
        "{path} is nested deeper than checkpoints hold: what a program deletes there could not "
        "be brought back."
    ),
    "{path} is no ordinary file.",
    (
        "{path} was changed by somebody else since you read it, so nothing was done. The "
        "difference (from now on you know it):\n{diff}"
    ),
    (
        "{program} is not there in the sandbox: add its folder to show_folders, or say "
        "“sandbox”: false in your own mcp.json"
    ),
    "{url!r} is no web address: http:// or https:// and a host.",
}


def sentences() -> set[str]:
    return {*CHINESE, *PAGE} - READ_BY_MODELS


def test_no_sentence_reads_as_translated() -> None:
    found = {
        (text, instead)
        for text in sentences()
        for odd, instead in TRANSLATED.items()
        if re.search(rf"\b(?:{odd})\b", _PLACE.sub("", text), re.IGNORECASE)
    }
    assert found == set()


def _prose(text: str) -> str:
    """Return the Markdown *text* without its code, and with one space wherever a line ends."""
    return " ".join(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL).split())


def test_the_docs_read_as_the_screens_do() -> None:
    docs = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = {
        (path.name, match[0], instead)
        for path in docs
        if path.name != "words.md" and not path.name.endswith(".zh.md")
        for odd, instead in TRANSLATED.items()
        for match in re.finditer(rf"\b(?:{odd})\b", _prose(path.read_text("utf-8")), re.IGNORECASE)
    }
    assert found == set()


def test_how_a_command_is_used_is_told_as_usage() -> None:
    assert {text for text in sentences() if USAGE.search(text)} == set()


def test_thousands_are_separated_where_a_count_is_shown() -> None:
    assert {text for text in sentences() if COUNT.search(text)} == set()
    assert str(phrase("{n:,} files", n=12_345)) == "12,345 files"


def test_what_models_read_is_still_said() -> None:
    assert READ_BY_MODELS - CHINESE.keys() == set()
