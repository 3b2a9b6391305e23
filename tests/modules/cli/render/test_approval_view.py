"""Questions on the terminal screen."""

import re
from dataclasses import replace

import pytest

from core.cards import DiffCard, RunCard, TextCard, TreeCard, TreeEntry
from core.events import ApprovalAsked, Reply, ToolStarted
from modules.cli.input.approval_input import choices
from modules.translator import Translator
from tests.modules.cli.screens import ScriptedAsker, make_screen
from utils.i18n import phrase


def ask(person: ScriptedAsker | None, code: str = "rm x") -> tuple[Reply | None, str]:
    screen, out = make_screen(terminal=True, person=person)
    card = RunCard("bash", code, "", None, "", 0.0, "")
    event = ApprovalAsked(
        "c", "run_command", "run", phrase("It deletes."), "run_command rm *", card, True
    )
    with screen.turn():
        screen.show(ToolStarted("c", "run_command", {"command": code}))
        return screen.show(event), re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


@pytest.mark.parametrize(
    ("keys", "reply"),
    [
        (["y"], Reply(True)),
        (["Y\r"], Reply(True)),
        (["ｙ"], Reply(True)),
        (["a"], Reply(True, always=True, pattern="run_command rm *")),
        (["\x1b[A", "x", "\r", "n"], Reply(False, reason="too risky")),
        (["\x1b"], Reply(False, reason="too risky")),
        ([None], None),
    ],
)
def test_a_key_answers_a_question(keys: list[str | None], reply: Reply | None) -> None:
    answer, text = ask(ScriptedAsker(keys, denial_reason="too risky"))
    assert answer == reply
    assert "? Run rm x\n" in text
    assert "It deletes.\n" in text
    assert "a always, this session: run_command rm *" in text.replace("\n", " ")


def test_what_is_no_answer_is_kept_for_the_prompt() -> None:
    person = ScriptedAsker(["\x1b[A", "\r", "v", "always now\r", "n"])
    ask(person)
    assert person.kept == ["v", "always now\r"]


def test_a_command_is_edited_before_it_runs() -> None:
    person = ScriptedAsker(["e", "e"], texts=[None, "rm y"])
    answer, text = ask(person)
    assert answer == Reply(True, arguments={"command": "rm y"})
    assert person.edited == ["rm x", "rm x"]
    assert text.count("y yes") == 2  # back at the question after nothing was changed
    assert "Allowed with your changes" in text


def test_what_a_helper_wants_to_do_is_shown_and_edited_not_the_call_that_it_is() -> None:
    screen, out = make_screen(
        terminal=True, person=(person := ScriptedAsker(["e"], texts=["rm y"]))
    )
    card = RunCard("bash", "rm x", "", None, "", 0.0, "")
    event = ApprovalAsked("d", "run_command", "run", phrase("w"), "", card, True)
    asked = replace(event, parent="d", arguments={"command": "rm x"})
    with screen.turn():
        screen.show(ToolStarted("d", "delegate", {"task": "clean"}))
        assert screen.show(asked) == Reply(True, arguments={"command": "rm y"})
    assert person.edited == ["rm x"]
    assert "Run rm x" in re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def test_the_pattern_of_an_always_is_edited() -> None:
    person = ScriptedAsker(["p"], texts=["run_command rm x"])
    answer, text = ask(person)
    assert answer == Reply(True, always=True, pattern="run_command rm x")
    assert person.edited == ["run_command rm *"]
    assert "Allowed from now on: run_command rm x" in text


def test_what_lasts_in_the_project_is_said_with_its_pattern() -> None:
    asked = ApprovalAsked("c", "t", "run", phrase("w"), "t *", DiffCard("a", "", 0, 0))
    offered = [str(one) for one in choices(replace(asked, may_last=True), is_cut=False)]
    assert "a always, this session: t *" in offered
    assert "f always, in this project: t *" in offered


def test_arguments_without_a_text_of_their_own_are_edited_as_json() -> None:
    screen, _ = make_screen(
        terminal=True, person=(person := ScriptedAsker(["e"], texts=["{", '{"path": "b"}']))
    )
    card = DiffCard("a", "@@ -1 +0,0 @@\n-gone", 0, 1)
    asked = ApprovalAsked("c", "delete_file", "destroy", phrase("w"), "delete_file *", card, True)
    with screen.turn():
        screen.show(ToolStarted("c", "delete_file", {"path": "a"}))
        assert screen.show(asked) == Reply(True, arguments={"path": "b"})
    assert person.edited == ['{\n "path": "a"\n}', "{"]


@pytest.mark.parametrize(
    ("risk", "offered"),
    [("loop", "y continue · n stop here"), ("loss", "y keep · n undo all")],
)
def test_a_question_that_is_no_call_has_words_of_its_own(risk: str, offered: str) -> None:
    screen, out = make_screen(terminal=True, person=ScriptedAsker(["a", "e", "p", "y"]))
    card = TreeCard("", (TreeEntry("gone.txt", 0, 0, "-"),))
    with screen.turn():
        assert screen.show(ApprovalAsked("c", "run_command", risk, phrase("w"), "", card)) == Reply(
            True
        )
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    assert offered in text
    assert "gone.txt" in text


def test_a_change_is_asked_about_with_its_difference_and_all_of_it_on_a_key() -> None:
    diff = "\n".join(["@@ -0,0 +1,99 @@", *(f"+new {n}" for n in range(99))])
    asked = ApprovalAsked(
        "c", "create_file", "write", phrase("w"), "create_file *", DiffCard("a", diff, 99, 0), True
    )
    for keys, is_whole in ((["n"], False), (["\x0f", "n"], True)):
        screen, out = make_screen(terminal=True, person=ScriptedAsker(list(keys)))
        with screen.turn():
            screen.show(ToolStarted("c", "create_file", {"path": "a", "content": "x"}))
            screen.show(asked)
        assert "new 30" in out.getvalue()
        assert ("new 98" in out.getvalue()) is is_whole


def test_ctrl_c_at_a_question_stops_the_turn() -> None:
    person = ScriptedAsker(["\x03"])
    assert ask(person)[0] is None
    assert person.stopped == [True]


def test_with_nobody_to_ask_there_is_no_reply() -> None:
    assert ask(None)[0] is None


def test_what_is_asked_for_is_shown_to_the_letter_and_all_of_it_on_a_key() -> None:
    code = "\n".join(["echo \x1b[8mhidden", *(f"line {n}" for n in range(98)), "the end"])
    _, text = ask(ScriptedAsker(["n"]), code)
    assert r"echo \x1b[8mhidden" in text
    assert "more rows · Ctrl-O shows all" in " ".join(text.split())
    assert "line 50" not in text
    assert "the end" in text
    _, text = ask(ScriptedAsker(["\x0f", "n"]), code)
    assert "line 50" in text


@pytest.mark.parametrize(("typed", "said"), [("保留", "Keep"), ("再想想", "再想想")])
def test_a_choice_may_be_typed_as_it_is_shown(typed: str, said: str) -> None:
    chinese = Translator("zh", {"Keep": "保留", "Discard": "丢弃"})
    person = ScriptedAsker([typed[0]], texts=[typed[1:]])
    screen, _ = make_screen(terminal=True, person=person, translator=chinese)
    choices = phrase("Keep"), phrase("Discard")
    event = ApprovalAsked(
        "c", "save_skill", "question", phrase("?"), "", TextCard("", ""), choices=choices
    )
    with screen.turn():
        screen.show(ToolStarted("c", "save_skill", {"name": "a"}))
        assert screen.show(event) == Reply(True, text=said)
