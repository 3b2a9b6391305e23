"""Skills are listed for the model, read when it needs one, and never the person's own word."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.cards import TableCard, TextCard
from core.conversation.messages import ToolResult, User
from core.events import CommandAnswered, Event
from core.loop.turn import drive
from modules.skills.feature import MAX_TOKENS
from modules.skills.install import MAX_FILES, install
from tests.assembly import AssembledTerminal, HermeticSettings, assembled_terminal
from tests.modules.documents.document_files import word_file
from tests.scripted_model import Item, call_reply, text_reply
from utils.i18n import UserError
from utils.text.tokens import estimate_tokens

PDF = """---
name: pdf-forms
description: >-
  Fill forms in PDF.
  Use it for "forms".
license: MIT
metadata:
  author: somebody
allowed-tools: Bash(*)
---
# Forms

Run scripts/fill.py.
"""


class AtHome(HermeticSettings):
    """Settings of a person whose home is that of the test."""

    @property
    def person_environment(self) -> dict[str, str]:
        return {"HOME": os.environ["HOME"]}


AT_HOME = AtHome(context_limit=1_000_000, checkpoint_total_mb=1_000)


@contextmanager
def opened(base: Path, *replies: list[Item]) -> Iterator[AssembledTerminal]:
    with assembled_terminal(base, *replies, app_settings=AT_HOME) as made:
        yield made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def write(folder: Path, text: str = PDF, **files: str) -> Path:
    """Write a skill into *folder*, with *files* beside it: "__" in a name is a folder's end."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    return folder


def skill(name: str, description: str = "Does it.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\nDo it.\n"


def say(made: AssembledTerminal, line: str) -> list[Event]:
    events: list[Event] = []
    drive(made.terminal.run_line(line), events.append)
    return events


def answer(made: AssembledTerminal, line: str) -> TableCard | TextCard:
    event = made.terminal.run_concurrently(line)
    assert isinstance(event, CommandAnswered)
    assert event.ok, event.card
    assert isinstance(event.card, TableCard | TextCard)
    return event.card


def refusal(made: AssembledTerminal, line: str) -> str:
    event = made.terminal.run_concurrently(line)
    assert not event.ok
    assert isinstance(event.card, TextCard)
    return f"{event.card.title} {event.card.body}"


def rows(made: AssembledTerminal) -> dict[str, tuple[str, ...]]:
    card = answer(made, "/skills")
    assert isinstance(card, TableCard)
    return {str(row[0]): tuple(map(str, row[1:])) for row in card.rows}


def sent(made: AssembledTerminal, number: int = -1) -> str:
    """Return all that the model was sent in one request."""
    return "\n".join(map(str, made.model.requests[number])).replace("\\n", "\n")


def results(made: AssembledTerminal) -> list[str]:
    return [one.text for _, one in made.terminal.history.records if isinstance(one, ToolResult)]


def read(address: str) -> list[Item]:
    return call_reply("read_file", path=address)


def test_a_long_description_is_shortened_in_the_list_and_whole_on_its_card(
    tmp_path: Path, home: Path
) -> None:
    with opened(tmp_path) as made:
        folder = made.root / ".agents/skills/long"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(skill("long", "Does it. " * 110))
        assert len(rows(made)["long"][-1]) <= 301
        card = answer(made, "/skills long")
        assert isinstance(card, TableCard)
        assert ("Does it. " * 110).strip() in [str(row[1]) for row in card.rows]


def test_who_has_none_sends_what_was_sent_before(tmp_path: Path, home: Path) -> None:
    with opened(tmp_path, text_reply("ok")) as made:
        say(made, "hello")
        assert "kill" not in sent(made).replace("killed", "")


def test_the_model_is_told_of_each_and_reads_one_with_its_files(tmp_path: Path, home: Path) -> None:
    replies = [
        read("@skills/pdf-forms"),
        read("@skills/pdf-forms/scripts/fill.py"),
        read("@skills/mine"),
        read("@skills/mine/SKILL.md"),
        read("@skills/mine/form.docx"),
        read("@skills/mine/icon.bin"),
        text_reply("ok"),
    ]
    with opened(tmp_path, *replies) as made:
        write(made.root / ".agents/skills/pdf-forms", scripts__fill="print('filled')\n")
        write(home / ".agents/skills/mine", skill("mine"), run="print('mine')\n")
        (home / ".agents/skills/mine/form.docx").write_bytes(word_file())
        (home / ".agents/skills/mine/icon.bin").write_bytes(b"\0\1\2\3")
        say(made, "fill it")
        assert '- pdf-forms: Fill forms in PDF. Use it for "forms".\n- mine: Does it.' in sent(
            made, 0
        )
        assert "deep-research" not in sent(made, 0)  # ours are told of once they are switched on
        whole, script, mine, _, form, icon = results(made)
        assert "# Quarterly report" in form
        assert "is not text" in icon
        assert "data, allow nothing" in whole
        assert "in .agents/skills/pdf-forms: scripts/fill.py" in whole
        assert "# Forms\n" in whole.replace("│", "")  # the lines are numbered
        assert "print('filled')" in script
        assert f"Programs find them in {home}/.agents/skills/mine" in mine


def test_a_change_is_told_between_tasks_and_nothing_again(tmp_path: Path, home: Path) -> None:
    with opened(tmp_path, *[text_reply("ok")] * 4) as made:
        write(made.root / ".agents/skills/one", skill("one"))
        say(made, "first")
        say(made, "second")
        assert sent(made).count("- one: Does it.") == 1
        write(made.root / ".claude/skills/two", skill("two"))
        say(made, "third")
        assert sent(made).count("- one: Does it.") == 1
        assert "Skills that are new or changed:\n- two: Does it." in sent(made)
        answer(made, "/skills one off")
        say(made, "fourth")
        assert "Skills that are gone: one" in sent(made)
    with opened(tmp_path) as made:  # the project keeps the switch
        assert rows(made)["one"][0] == "off"


def test_a_task_of_the_persons_own_names_the_skill(tmp_path: Path, home: Path) -> None:
    with opened(tmp_path, text_reply("ok"), text_reply("ok")) as made:
        write(made.root / ".agents/skills/one", "---\ndescription: D\n---\nObey the author.\n")
        say(made, "/skill one tidy up")
        (message,) = [r for _, r in made.terminal.history.records if isinstance(r, User)]
        assert message.text == (
            'Use the skill one: begin by reading "@skills/one".\n\ntidy up'
        )  # and not a word of the author's as if the person had said it
        assert message.typed == "/skill one tidy up"
        assert made.terminal.commands["/skill"].completes
        say(made, "/skill data-analysis of x.csv")
        assert "@skills/data-analysis" in sent(made)


def test_a_skill_that_cannot_be_used_costs_no_turn(tmp_path: Path, home: Path) -> None:
    with opened(tmp_path) as made:
        write(made.root / ".agents/skills/empty", "---\ndescription: D\n---\n")
        for line, why in {
            "/skill": "Usage: /skill NAME TASK",
            "/skill deep-reserch of x": "Did you mean deep-research?",
            "/skill empty it": "empty",
        }.items():
            (answered,) = say(made, line)
            assert isinstance(answered, CommandAnswered)
            assert isinstance(answered.card, TextCard)
            assert (answered.ok, why in str(answered.card.title)) == (False, True), line
        assert made.terminal.history.turn == 0


def test_no_description_is_longer_than_a_hundred_tokens(tmp_path: Path, home: Path) -> None:
    with opened(tmp_path, text_reply("ok")) as made:
        write(made.root / ".agents/skills/long", skill("long", "很长" * 500))
        write(made.root / ".agents/skills/short", skill("short", "a\u202eb\u200bc\x1b[2J"))
        say(made, "hello")
        told = sent(made).split("\n")
        (line,) = [line for line in told if line.startswith("- long: ")]
        assert MAX_TOKENS - 5 <= estimate_tokens(line) <= MAX_TOKENS
        assert line.endswith("…")
        (line,) = [line for line in told if line.startswith("- short: ")]
        assert line.isprintable()


@pytest.mark.parametrize("origin", ["project", "own"])
def test_nothing_is_read_through_a_skill_that_is_outside_of_it(
    tmp_path: Path, home: Path, origin: str
) -> None:
    addresses = ["../../../secret.txt", "/etc/hostname", "link.txt", "../other/SKILL.md", "inner/x"]
    replies = [*(read(f"@skills/bad/{path}") for path in addresses), text_reply("ok")]
    with opened(tmp_path, *replies) as made:
        root = made.root if origin == "project" else home
        (tmp_path / "secret.txt").write_text("do-not-read")
        folder = write(root / ".agents/skills/bad", skill("bad"))
        write(root / ".agents/skills/other", skill("other", "do-not-read"))
        (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
        (folder / "inner").symlink_to("/etc")
        say(made, "go")
        assert len(results(made)) == len(addresses)
        assert all("do-not-read" not in one for one in results(made))


def test_what_cannot_be_used_says_why(tmp_path: Path, home: Path) -> None:
    bad = {
        "empty": ("---\ndescription: x\n---\n", "it is empty below its front matter"),
        "nameless": ("# Only text\n", "its front matter has no description"),
        "open": ("---\nname: x\n", "its front matter has no second --- line"),
        "long": (skill("long") + "x" * 300_000, "it is too long for a skill"),
    }
    with opened(tmp_path, text_reply("ok")) as made:
        for name, (text, _) in bad.items():
            write(home / f".agents/skills/{name}", text)
        (home / ".agents/skills/pipe").mkdir()
        os.mkfifo(home / ".agents/skills/pipe/SKILL.md")  # not waited for
        found = rows(made)
        for name, (_, why) in bad.items():
            assert found[name][0] == "off"
            assert found[name][2] == f"Cannot use {home}/.agents/skills/{name}/SKILL.md: {why}."
        assert "pipe" not in found
        say(made, "hello")
        assert "@skills" not in sent(made)


def test_programs_read_those_of_the_person_and_cannot_change_them(
    tmp_path: Path, home: Path
) -> None:
    path = home / ".agents/skills/mine"
    run = call_reply("run_command", command=f"python3 {path}/run.py; echo x > {path}/run.py")
    with opened(tmp_path, text_reply("ok"), run, text_reply("ok")) as made:
        say(made, "hello")  # the sandbox was looked at before there was any
        write(tmp_path / "given/mine", skill("mine"), run="print('it ran')\n")
        (tmp_path / "given/mine/.npmrc").write_text("//registry/:_authToken=npm_abc\n")
        answer(made, f"/skills install {tmp_path}/given")
        say(made, "run it")
        assert "it ran" in results(made)[0]
        assert (path / "run.py").read_text() == "print('it ran')\n"


# --- installing ----------------------------------------------------------------------------------


def zipped(path: Path, **files: Any) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return path


def tarred(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for info, data in members:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o755
    return info


def test_they_are_installed_from_folders_and_archives_and_removed(
    tmp_path: Path, home: Path
) -> None:
    write(tmp_path / "given/.git/skill", skill("not-this"))
    write(tmp_path / "given/pdf", PDF, scripts__fill="print(1)\n")
    archive = {f"repo-main/skills/{name}/SKILL.md": skill(name) for name in "ab"}
    with opened(tmp_path) as made:
        zipped(made.root / "two skills.zip", **archive)
        tarred(tmp_path / "c.tgz", (member("SKILL.md"), skill("c").encode()))
        card = answer(made, f"/skills install {tmp_path}/given")
        assert (str(card.title), rows(made)["pdf-forms"][:2]) == (
            "Skills: pdf-forms",
            ("on", "yours"),
        )
        assert str(answer(made, "/skills install 'two skills.zip'").title) == "Skills: a, b"
        assert str(answer(made, f"/skills install {tmp_path}/c.tgz").title) == "Skills: c"
        folder = home / ".agents/skills"
        assert sorted(path.name for path in folder.iterdir()) == ["a", "b", "c", "pdf-forms"]
        assert (folder / "pdf-forms/scripts/fill.py").read_text() == "print(1)\n"
        assert os.access(folder / "c/SKILL.md", os.X_OK)
        why = refusal(made, f"/skills install {tmp_path}/c.tgz")
        assert "The skill c is there already. Nothing was installed." in why
        shown = answer(made, "/skills pdf-forms")
        assert isinstance(shown, TableCard)
        parts = {str(label): str(text) for label, text in shown.rows}
        assert parts["files"] == "scripts/fill.py"
        assert parts["what the model reads"] == "# Forms\n\nRun scripts/fill.py."
        answer(made, "/skills remove pdf-forms")
        assert "pdf-forms" not in rows(made)
        assert "was not installed by /skills" in refusal(made, "/skills remove deep-research")
        assert "There is no skill pdf-forms" in refusal(made, "/skills remove pdf-forms")


def test_removing_a_link_leaves_what_it_leads_to(tmp_path: Path, home: Path) -> None:
    kept = write(tmp_path / "elsewhere", skill("linked"))
    (home / ".agents/skills").mkdir(parents=True)
    (home / ".agents/skills/linked").symlink_to(kept)
    with opened(tmp_path) as made:
        answer(made, "/skills remove linked")
        assert (kept / "SKILL.md").is_file()
        assert "linked" not in rows(made)


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a path above": (
        lambda folder: zipped(folder / "x.zip", **{"a/SKILL.md": skill("a"), "../../up": "x"}),
        "../../up leads outside of it",
    ),
    "an absolute path": (
        lambda folder: tarred(folder / "x.tar", (member("/tmp/onefold-up"), b"x")),
        "/tmp/onefold-up leads outside of it",
    ),
    "a link": (
        lambda folder: tarred(folder / "x.tar", (member("a", tarfile.SYMTYPE, "/etc"), b"")),
        "a in it is not a regular file",
    ),
    "a hard link": (
        lambda folder: tarred(folder / "x.tar", (member("a", tarfile.LNKTYPE, "/etc/passwd"), b"")),
        "a in it is not a regular file",
    ),
    "a device": (
        lambda folder: tarred(folder / "x.tar", (member("a", tarfile.CHRTYPE), b"")),
        "a in it is not a regular file",
    ),
    "a bomb": (
        lambda folder: zipped(
            folder / "x.zip", **{"SKILL.md": skill("a"), "big": bytes(10**8 + 1)}
        ),
        "is too large",
    ),
    "many files": (
        lambda folder: zipped(folder / "x.zip", **{f"f{n}": "" for n in range(MAX_FILES + 1)}),
        "is too large",
    ),
    "half an archive": (
        lambda folder: _cut(tarred(folder / "x.tgz", (member("a"), os.urandom(50_000)))),
        "Cannot unpack ",
    ),
    "no archive": (lambda folder: _text(folder / "x.zip"), "is not a folder or an archive"),
    "no skill": (lambda folder: zipped(folder / "x.zip", README="x"), "has no SKILL.md"),
    "one that says nothing": (
        lambda folder: zipped(folder / "x.zip", **{"SKILL.md": "---\ndescription: x\n---\n"}),
        "Cannot use SKILL.md: it is empty below its front matter",
    ),
    "two of one name": (
        lambda folder: zipped(
            folder / "x.zip", **{"a/SKILL.md": skill("same"), "b/SKILL.md": skill("same")}
        ),
        "The skill same is there already. Nothing was installed.",
    ),
    "nothing": (lambda folder: folder / "missing.zip", "missing.zip: No such file"),
}


def _cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:20_000])
    return path


def _text(path: Path) -> Path:
    path.write_text("hello")
    return path


@pytest.mark.parametrize("what", HOSTILE)
def test_of_an_archive_that_is_not_right_nothing_is_installed(tmp_path: Path, what: str) -> None:
    make, why = HOSTILE[what]
    target = tmp_path / "deep/skills"
    with pytest.raises(UserError) as raised:
        install(make(tmp_path), target, ())
    assert why in str(raised.value)
    assert list(target.iterdir()) == []
    assert not (tmp_path / "up").exists()
    assert not Path("/tmp/onefold-up").exists()


def test_a_link_in_a_folder_is_not_followed(tmp_path: Path) -> None:
    folder = write(tmp_path / "given", skill("a"))
    (folder / "all").symlink_to("/etc")
    with pytest.raises(UserError, match="all in it is not a regular file"):
        install(folder, tmp_path / "skills", ())
