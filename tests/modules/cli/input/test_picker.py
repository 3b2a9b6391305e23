"""Lists to choose from at the prompt, in a real terminal."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from core.loop.turn import drive
from tests.assembly import assembled_terminal
from tests.modules.cli.terminal import PROMPT, PYTHON, ROOT, Terminal
from tests.modules.cli.terminal import terminal as terminal  # the fixture
from tests.scripted_model import text_reply

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
HOSTILE = "\x1b]0;owned\x07\x1b[2J红色\r"


def keep_sessions(base: Path, *tasks: str) -> None:
    """Keep a session for each of *tasks*, the last one the newest."""
    for task in tasks:
        with assembled_terminal(base, text_reply(f"The answer on {task}.")) as opened:
            drive(opened.terminal.run_line(task), lambda _: None)


def start(
    terminal: Terminal, base: Path, *, width: int = 80, lang: str = "en", keys: str = "emacs"
) -> None:
    """Start Onefold on the sessions in *base*."""
    (base / "project").mkdir(exist_ok=True)
    variables = {
        **{"ONEFOLD_DATA_DIR": str(base / "data"), "ONEFOLD_LANG": lang},
        "ONEFOLD_KEYS": keys,
    }
    words = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    main, project = shlex.quote(str(ROOT / "main.py")), shlex.quote(str(base / "project"))
    line = f"env {' '.join(words)} {PYTHON} {main} --cli --offline --project {project}"
    size = ("-x", str(width), "-y", "24")
    terminal.tmux("new-session", "-d", *size, f"{line}; echo EXIT $?; cat")
    terminal.wait_for_text(PROMPT)


def test_a_session_is_found_by_typing_and_taken_by_enter(
    terminal: Terminal, tmp_path: Path
) -> None:
    keep_sessions(tmp_path, "paint the door", "mend the roof", "sweep the yard")
    start(terminal, tmp_path)
    terminal.press("/resume", "Enter")
    terminal.wait_for_text("The answer on sweep the yard.")
    terminal.press("Down")
    screen = terminal.wait_for_text("The answer on mend the roof.")
    assert "1 turn · $0.0010" in screen
    terminal.press("doo")
    screen = terminal.wait_for_text("The answer on paint the door.")
    assert "mend the roof" not in screen
    terminal.press("Enter")
    end = "The answer on paint the door."
    screen = terminal.wait_for(lambda now: end in now.partition("(1 turn).")[2])
    assert "Esc closes" not in screen


def test_esc_leaves_everything_as_it_was(terminal: Terminal, tmp_path: Path) -> None:
    keep_sessions(tmp_path, "paint the door")
    start(terminal, tmp_path)
    for line in ("/resume", "/approve"):
        terminal.press(line, "Enter")
        terminal.wait_for_text("Esc closes")
        terminal.press("Escape")
        screen = terminal.wait_for(lambda now: "Esc closes" not in now)
        assert "Resumed" not in screen
    terminal.press("/approve next", "Enter")
    screen = terminal.wait_for_text("Approval mode: plan.")
    assert "Resumed" not in screen


@pytest.mark.parametrize(("width", "lang"), [(80, "en"), (40, "en"), (40, "zh")])
def test_a_name_of_a_session_does_nothing_to_the_terminal(
    terminal: Terminal, tmp_path: Path, width: int, lang: str
) -> None:
    keep_sessions(tmp_path, f"before {HOSTILE}", "plain")
    start(terminal, tmp_path, width=width, lang=lang)
    terminal.press("/resume", "Enter")
    screen = terminal.wait_for_text("Esc 关闭" if lang == "zh" else "Esc closes")
    assert "owned" not in terminal.tmux("display-message", "-p", "#{pane_title}")
    assert screen.startswith("Onefold")
    assert len([row for row in screen.splitlines() if "before" in row]) == 1


def test_the_mode_is_chosen_from_a_list(terminal: Terminal, tmp_path: Path) -> None:
    start(terminal, tmp_path)
    terminal.press("/approve", "Enter")
    screen = terminal.wait_for_text("Esc closes")
    assert "› guarded" in screen
    terminal.press("Down", "Down")
    terminal.wait_for_text("› plan")
    terminal.press("Enter")
    terminal.see_prompt_after("Approval mode: plan.")


def test_the_line_has_the_keys_of_vim_where_that_is_set(terminal: Terminal, tmp_path: Path) -> None:
    start(terminal, tmp_path, keys="vim")
    terminal.press("/approve askx")
    terminal.wait_for_text("› /approve askx")
    terminal.press("Escape", "x")
    terminal.wait_for(lambda now: "› /approve ask\n" in now)
    terminal.press("Enter")
    terminal.wait_for_text("Approval mode: ask.")


def test_ctrl_r_searches_what_was_typed_before(terminal: Terminal, tmp_path: Path) -> None:
    start(terminal, tmp_path)
    for mode in ("ask", "plan"):
        terminal.press(f"/approve {mode}", "Enter")
        terminal.see_prompt_after(f"Approval mode: {mode}.")
    terminal.press("C-r", "ask")
    terminal.wait_for_text("/approve ask")
    terminal.press("Enter", "Enter")
    terminal.wait_for(lambda now: now.count("Approval mode: ask.") == 2)


def test_without_a_terminal_the_list_is_printed(tmp_path: Path) -> None:
    keep_sessions(tmp_path, "paint the door")
    with assembled_terminal(tmp_path, offers_sessions=True) as opened:
        shown: list[object] = []
        drive(opened.terminal.run_line("/resume"), lambda event: shown.append(event))
        assert "paint the door" in repr(shown)


def test_a_theme_is_tried_on_and_taken_or_left(terminal: Terminal, tmp_path: Path) -> None:
    def colors() -> set[str]:
        return set(re.findall(r"38;[25];[\d;]+", terminal.tmux("capture-pane", "-p", "-e")))

    start(terminal, tmp_path)
    terminal.press("/theme", "Enter")
    terminal.wait_for_text("Esc closes")
    assert colors() == set()
    terminal.press("Down")
    terminal.wait_for_text("› light")
    terminal.wait_for(lambda _: colors())
    terminal.press("Escape")
    terminal.wait_for(lambda now: "Esc closes" not in now)
    terminal.wait_for(lambda _: not colors())
    terminal.press("/theme", "Enter")
    terminal.wait_for_text("Esc closes")
    terminal.press("dark", "Enter")
    terminal.wait_for_text("theme = dark")
    terminal.wait_for(lambda _: colors())
    assert 'theme = "dark"' in (tmp_path / "data" / "config.toml").read_text("utf-8")
