"""Real programs with a terminal, and what one may not do with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.cards import RunCard
from core.events import ApprovalAsked, Informed, ToolFinished
from modules.assembly.terminal import leave
from modules.translator import Translator
from tests.assembly import AssembledTerminal, assembled_terminal
from tests.modules.jobs.test_jobs import answers, command, jobs_of, processes_in, running, say
from tests.modules.sandbox.sandbox_home import wait_until
from tests.scripted_model import Item, call_reply
from utils.i18n import Phrase


def tty(command: str, **arguments: Any) -> list[Item]:
    return call_reply("run_command", id="t", command=command, tty=True, **arguments)


def typed(keys: str, job: int = 1) -> list[Item]:
    return call_reply("jobs", id="k", operation="input", job=job, text=keys)


def shown(text: str, job: int = 1) -> list[Item]:
    return call_reply("jobs", id="w", operation="wait", job=job, text=text)


def git(made: AssembledTerminal, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=made.root, check=True, capture_output=True, text=True).stdout


def test_a_python_prompt_is_worked_with_by_keys(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(
            made,
            tty("python3 -q"),
            shown(">>>"),
            typed("print('4' + '2')\n"),
            shown("42"),
            typed("import time; print('o' + 'n'); time.sleep(600)\n"),
            shown("\non"),  # before that, readline may take the signal
            typed("<C-c>"),
            shown("KeyboardInterrupt"),
            typed("print('4' + '3')<Home># <Enter><Up><C-a><Delete><Delete><Enter>"),
            shown("\n43"),
            typed("exit()<Enter>"),
            call_reply("jobs", operation="wait"),
        )
        read = answers(made)
        assert "screen 100x30, cursor 5,1" in read[1]
        assert "<Enter>" in read[0]
        assert "'42' is there." in read[3]
        assert "KeyboardInterrupt" in read[7]
        assert "# print('4' + '3')" in read[9]
        assert "is there." in read[9]
        assert read[-1].startswith("job 1 ended: exit code 0")


def test_the_same_key_is_no_loop_while_the_program_goes_on(tmp_path: Path) -> None:
    dialogue = 'for i in {1..9}; do read -p "question $i " a; done; echo end of $i questions'
    with assembled_terminal(tmp_path) as made:
        ask = (tty(dialogue), shown("question 1"))
        events = say(made, *ask, *[typed("<Enter>")] * 9, call_reply("jobs", operation="wait"))
        assert "end of 9 questions" in answers(made)[-1]
        assert not [event for event in events if isinstance(event, ApprovalAsked)]


def test_the_same_key_is_one_where_nothing_answers(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        ask = (tty("stty -echo; echo ready; sleep 600"), shown("ready"))
        events = say(made, *ask, *[typed("<Enter>")] * 9)
        assert len(answers(made)) < 9
        assert [event.risk for event in events if isinstance(event, ApprovalAsked)] == ["loop"]


def test_a_short_command_is_over_with_its_call(tmp_path: Path) -> None:
    look = "stty size; tty; ps -o tty=,tpgid=,pgid= -p $$; echo $TERM; cat /proc/net/route; exit 3"
    with assembled_terminal(tmp_path) as made:
        events = say(made, tty(look))
        lines = answers(made)[0].splitlines()
        assert lines[0].startswith("job 1 ended: exit code 3")
        assert lines[1:3] == ["30 100", "/dev/console"]
        assert lines[3].split()[1:] == [lines[3].split()[2]] * 2  # it is in the foreground
        assert lines[4] == "linux"
        card = next(event.card for event in events if isinstance(event, ToolFinished))
        assert isinstance(card, RunCard)
        assert (card.exit_code, card.job) == (3, 0)
        assert not running(made)


def test_a_password_is_asked_for_at_the_terminal_and_not_echoed(tmp_path: Path) -> None:
    ask = "read -s -p 'password: ' word </dev/tty >/dev/null; echo; echo ${#word} letters"
    with assembled_terminal(tmp_path) as made:
        say(made, tty(ask), shown("password:"), typed("hidden<Enter>"), shown("letters"))
        assert "6 letters" in answers(made)[-1]
        assert "hidden" not in "".join(answers(made))


def test_history_is_rewritten_in_an_editor(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        git(made, "init", "-q")
        git(made, "config", "user.name", "a")
        git(made, "config", "user.email", "a@b")
        for name in ("one", "two", "three"):
            (made.root / name).write_text(name)
            git(made, "add", ".")
            git(made, "commit", "-qm", name)
        config = (made.root / ".git/config").read_bytes()
        say(
            made,
            tty("git rebase -i HEAD~2"),
            shown("pick"),
            typed("jcwfixup<Esc>"),
            shown("fixup"),
            call_reply("run_command", id="c", command="git tag meanwhile HEAD~1"),
            typed(":wq<Enter>"),
            call_reply("jobs", operation="wait"),
        )
        assert answers(made)[-1].startswith("job 1 ended: exit code 0")
        assert git(made, "log", "--format=%s").split() == ["two", "one"]
        assert git(made, "log", "--format=%s", "meanwhile").split() == ["two", "one"]
        assert git(made, "show", "--format=", "--name-only", "HEAD").split() == ["three", "two"]
        assert (made.root / ".git/config").read_bytes() == config
        made.terminal._run_command("/undo")
        assert git(made, "log", "--format=%s").split() == ["three", "two", "one"]
        made.terminal._run_command("/redo")
        assert git(made, "log", "--format=%s").split() == ["two", "one"]


MENU = """
import curses
def main(screen):
    names, at = ["one", "two", "三"], 0
    while True:
        screen.clear(); screen.border()
        for row, name in enumerate(names):
            screen.addstr(3 + row, 4, name, curses.A_REVERSE if row == at else 0)
        key = screen.getch()
        if key == curses.KEY_DOWN: at += 1
        elif key == curses.KEY_F5: screen.addstr(9, 4, "F5"); screen.getch()
        elif key == 10: return names[at]
print("chose", curses.wrapper(main))
"""


def test_a_full_screen_program_is_seen_with_what_is_chosen(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        (made.root / "menu.py").write_text(MENU)
        say(
            made,
            tty("python3 menu.py"),
            shown("三"),
            typed("<Down>"),
            typed("<F5>"),
            typed("x<Down><Enter>"),
            call_reply("jobs", operation="wait"),
        )
        read = answers(made)
        assert "highlighted: 'one'" in read[1]
        assert "highlighted: 'two'" in read[2]
        assert "│   F5" in read[3]
        assert read[-1].startswith("job 1 ended: exit code 0")
        assert "chose 三" in read[-1]


def test_a_debugger_is_stepped_through(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        (made.root / "prog.py").write_text("a = 6\nb = a * 7\nprint(b)\n")
        say(
            made,
            tty("python3 -m pdb prog.py"),
            shown("(Pdb)"),
            typed("n\nn\np 'b is', b\n"),
            shown("('b is', 42)"),
            typed("q<Enter>"),
            call_reply("jobs", operation="wait"),
        )
        assert "is there." in answers(made)[3]
        assert not running(made)


def test_what_git_did_under_the_hands_of_the_person_is_kept_and_told(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        git(made, "init", "-q", "-b", "main")
        git(made, "commit", "-q", "--allow-empty", "-m", "first")
        planted = "git config core.pager 'touch evil'; git checkout -q -b theirs"
        say(made, tty(f"{planted}; echo ready; read end"), shown("ready"))
        git(made, "checkout", "-q", "-b", "mine")
        say(made, typed("<Enter>"), call_reply("jobs", operation="wait"))
        assert "What git did in this run was not kept" in answers(made)[-1]
        assert git(made, "branch", "--format=%(refname:short)").split() == ["main", "mine"]
        assert "evil" not in (made.root / ".git/config").read_text()


def _refused(made: AssembledTerminal) -> None:
    """Have a job commit in its terminal, and the person's git go elsewhere meanwhile."""
    git(made, "init", "-q", "-b", "main")
    git(made, "commit", "-q", "--allow-empty", "-m", "first")
    say(made, tty("git checkout -q -b theirs; echo ready; sleep 300"), shown("ready"))
    git(made, "checkout", "-q", "-b", "mine")


def test_the_person_is_told_what_git_did_in_vain_in_a_job_that_they_stop(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        _refused(made)
        shown_news: list[str] = []

        def show(what: Phrase) -> bool:
            shown_news.append(str(what))
            return True

        made.terminal.show_news = show
        command(made, "/jobs stop")
        assert wait_until(lambda: bool(shown_news))
        assert shown_news[0].startswith("job 1: What git did in this run was not kept: ")


def test_the_person_is_told_what_git_did_in_vain_in_a_job_that_ends_with_the_session(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with assembled_terminal(tmp_path) as made:
        _refused(made)
        monkeypatch.setattr(made.terminal, "close", made.terminal.new)  # it is closed once only
        leave(made.terminal, Translator.of("en"))
        told = capfd.readouterr().err
        assert told.startswith("Onefold: job 1: What git did in this run was not kept: ")
    with assembled_terminal(tmp_path) as made:
        made.terminal.resume()
        events = say(made, line="and now?")
        (news,) = (str(event.what) for event in events if isinstance(event, Informed))
        assert news.endswith("If Onefold was killed, what git did in its terminal was not kept.")


HOSTILE = (
    r"printf '\033]0;TITLE\007\033]52;c;Q0xJUA==\007\033P+q\033\\\033]8;;http://evil\007link'; "
    r"printf '\033[6n'; IFS= read -rs -d R place; printf 'place=%q' \"$place\"; sleep 300"
)


def test_nothing_of_what_drives_a_terminal_reaches_a_person(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        events = say(made, tty(HOSTILE), shown("place="))
        seen = "".join(answers(made)) + repr(events) + repr(jobs_of(made).rows())
        seen += repr(command(made, "/jobs 1"))
        assert r"\E[1;5" in answers(made)[-1]
        for text in ("\x1b", "\\x1b[", "Q0xJUA", "TITLE", "http://evil\\x07"):
            assert text not in seen.replace(repr(HOSTILE)[1:-1], "").replace(HOSTILE, ""), text


ESCAPES = """
import fcntl, os, sys, termios
def attempt(name, act):
    try: act(); print(name, "worked")
    except OSError as error: print(name, error.strerror)
attempt("TIOCSTI", lambda: fcntl.ioctl(0, termios.TIOCSTI, b"x"))
attempt("TIOCSTI with more bits", lambda: fcntl.ioctl(0, termios.TIOCSTI | 1 << 32, b"x"))
attempt("TIOCSETD", lambda: fcntl.ioctl(0, termios.TIOCSETD, b"\\x15\\0\\0\\0"))
print("terminals", sorted(os.listdir("/dev/pts")))
for name in sys.argv[1:]:
    attempt(name, lambda: os.open(name, os.O_RDWR | os.O_NOCTTY))
    attempt("node", lambda: os.mknod("/tmp/node", 0o20666, os.makedev(136, int(name[9:]))))
"""


def test_no_terminal_but_its_own_is_reached(tmp_path: Path) -> None:
    near, far = os.openpty()
    try:
        with assembled_terminal(tmp_path) as made:
            (made.root / "escapes.py").write_text(ESCAPES)
            say(made, tty(f"python3 escapes.py {os.ttyname(far)}"))
            lines = answers(made)[0].splitlines()
            assert lines[1:4] == [
                "TIOCSTI Operation not permitted",
                "TIOCSTI with more bits Operation not permitted",
                "TIOCSETD Operation not permitted",
            ]
            assert lines[4] == "terminals ['ptmx']"
            assert lines[5].endswith("No such file or directory")
            assert lines[6] == "node Operation not permitted"
    finally:
        os.close(near)
        os.close(far)


def test_much_output_is_not_drawn_line_by_line(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(
            made,
            tty("seq 300000; echo the end; read line; exit 5", timeout=600),
            shown("the end"),
            typed("<Enter>"),
            call_reply("jobs", operation="wait"),
        )
        assert "the end" in "".join(answers(made)[:2])
        assert "300000" in "".join(answers(made)[:2])
        assert "[… more was written than can be shown …]" in "".join(answers(made))
        assert answers(made)[-1].startswith("job 1 ended: exit code 5")


def test_it_ends_with_its_session_with_all_that_it_left(tmp_path: Path) -> None:
    stubborn = "trap '' HUP TERM INT; (setsid sleep 4321 &); echo ready; sleep 4321"
    with assembled_terminal(tmp_path) as made:
        say(made, tty(stubborn), shown("ready"), typed("<C-c>"))
        execution = jobs_of(made)._jobs[1]._execution
        assert execution is not None
        assert execution.inner_pid is not None
        namespace = Path(f"/proc/{execution.inner_pid}/ns/pid").readlink()
        made.terminal.new()
        assert running(made) == ""
        assert processes_in(namespace) == []


def test_what_it_does_to_files_is_undone(tmp_path: Path) -> None:
    with assembled_terminal(tmp_path) as made:
        say(made, tty("echo name; read name; echo made > $name; read rest"), typed("new<Enter>"))
        assert wait_until((made.root / "new").is_file)
        say(made, call_reply("jobs", operation="list"))
        command(made, "/jobs stop")
        made.terminal._run_command("/rewind 1 files")
        assert not (made.root / "new").exists()


def test_without_a_terminal_to_be_had_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> tuple[int, int]:
        raise OSError(2, "No such file or directory")

    monkeypatch.setattr(os, "openpty", none)
    with assembled_terminal(tmp_path) as made:
        say(made, tty("echo hi"))
        assert "No terminal can be made on this machine" in answers(made)[0]
