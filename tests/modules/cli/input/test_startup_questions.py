"""The questions before there is a screen: the key, and the menu."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from modules.cli import api_key, start_menu
from modules.cli.args import Args, parse
from modules.cli.input import startup_questions
from modules.models.local_servers import LocalServer
from modules.translator import Translator
from utils.i18n import UserError, phrase

ENGLISH = Translator.of("en")
OLLAMA = LocalServer("Ollama", "http://127.0.0.1:11434/v1", "small")
Typed = Callable[[str], None]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Typed]:
    """Let the person type these lines; then the input ends."""
    for module in (api_key, start_menu):
        monkeypatch.setattr(module, "is_interactive", lambda: True)
    stack = []

    def type_in(lines: str) -> None:
        stack.append(CliRunner().isolation(input=lines))
        stack[-1].__enter__()

    yield type_in
    for isolation in reversed(stack):
        isolation.__exit__(None, None, None)


def options(*argv: str) -> Args:
    parsed = parse(argv, ENGLISH, version=lambda: "0")
    assert isinstance(parsed, Args)
    return parsed


@pytest.mark.parametrize("answer", ["2", "w", "web", "WEB", "nothing\nweb"])
def test_a_choice_may_be_short(typed: Typed, answer: str) -> None:
    typed(answer + "\n")
    assert startup_questions.ask_choice(ENGLISH, phrase("Mode"), ["cli", "web"], "cli") == "web"


def test_the_end_of_input_is_an_interrupt(typed: Typed) -> None:
    typed("")
    with pytest.raises(KeyboardInterrupt):
        startup_questions.ask_text(ENGLISH, phrase("Mode"))


def test_the_menu_asks_again_for_a_folder_that_is_not_there(typed: Typed, tmp_path: Path) -> None:
    typed(f"1\n2\n{tmp_path}/nowhere\n{tmp_path}\n")
    chosen = start_menu.ask_how_to_start(options(), ENGLISH, tmp_path / "answers.json")
    assert (chosen.cli, chosen.web, chosen.mode) == (True, False, "think")
    assert chosen.project == str(tmp_path)


def test_the_menu_remembers_the_answers(typed: Typed, tmp_path: Path) -> None:
    typed(f"web\nthink\n{tmp_path}\n\n\n\n")
    first = start_menu.ask_how_to_start(options(), ENGLISH, tmp_path / "answers.json")
    assert start_menu.ask_how_to_start(options(), ENGLISH, tmp_path / "answers.json") == first


def test_a_folder_that_is_gone_is_not_offered_again(typed: Typed, tmp_path: Path) -> None:
    gone = {"screen": "cli", "mode": "fast", "project": str(tmp_path / "gone")}
    (tmp_path / "answers.json").write_text(json.dumps(gone))
    typed("\n\n\n")
    chosen = start_menu.ask_how_to_start(options(), ENGLISH, tmp_path / "answers.json")
    assert chosen.project == str(Path.cwd())


def test_the_menu_needs_somebody(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        start_menu.ask_how_to_start(options(), ENGLISH, tmp_path / "answers.json")


@pytest.mark.parametrize(
    ("answer", "choice"), [("p", "practice"), ("P", "practice"), ("1", OLLAMA)]
)
def test_what_may_be_chosen_instead_of_a_key(
    typed: Typed, tmp_path: Path, answer: str, choice: api_key.KeyOrChoice
) -> None:
    typed(answer + "\n")
    assert api_key.ask_for_key_or_server(ENGLISH, [OLLAMA], tmp_path / "config.toml") == choice


def test_a_slip_of_the_fingers_is_no_key(typed: Typed, tmp_path: Path) -> None:
    typed("q\nsk-0123456789\nn\n")
    assert api_key.ask_for_key_or_server(ENGLISH, [], tmp_path / "config.toml") == "sk-0123456789"
    assert not (tmp_path / "config.toml").exists()


def test_a_key_is_kept_where_only_its_owner_reads(typed: Typed, tmp_path: Path) -> None:
    new, there = tmp_path / "new.toml", tmp_path / "there.toml"
    there.write_text('\ufefflang = "en"\n', encoding="utf-8")
    there.chmod(0o644)
    for config, before in ((new, ""), (there, 'lang = "en"\n')):
        typed("sk-0123456789\ny\n")
        api_key.ask_for_key_or_server(ENGLISH, [], config)
        assert config.read_text() == f'{before}deepseek_api_key = "sk-0123456789"\n'
        assert config.stat().st_mode & 0o777 == 0o600
