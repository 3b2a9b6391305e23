from prompt_toolkit.history import InMemoryHistory

from modules.cli.input.folded_pastes import FoldedPastes, UnfoldedHistory
from modules.translator import Translator

LONG = "\n".join(map(str, range(30)))
WIDE = "w" * 2_001


def pastes() -> FoldedPastes:
    return FoldedPastes(Translator("en", {}))


def test_only_what_is_long_is_folded() -> None:
    found = pastes()
    assert found.fold("a\nb") == "a\nb"
    assert [found.label(found.fold(text)) for text in (LONG, f"{LONG}\n", WIDE)] == [
        "[pasted: 30 lines]",
        "[pasted: 30 lines]",
        "[pasted: 2,001 characters]",
    ]


def test_each_paste_comes_back_in_its_place() -> None:
    found = pastes()
    first, second = found.fold(LONG), found.fold(WIDE)
    assert len(first) == len(second) == 1
    assert found.unfold(f"a {second} b {first}{first}") == f"a {WIDE} b {LONG}{LONG}"
    assert found.unfold("a [pasted: 30 lines]") == "a [pasted: 30 lines]"


def test_a_text_with_the_character_that_stands_for_another_is_not_mixed_up_with_it() -> None:
    found = pastes()
    first = found.fold(LONG)
    hostile = found.fold(f"x{first}y")
    assert found.unfold(hostile + first) == f"x{first}y{LONG}"


def test_what_begins_a_line_is_a_message() -> None:
    found = pastes()
    command = found.fold(f"!rm {LONG}")
    assert found.unfold(command) == f" !rm {LONG}"
    assert found.unfold(f"! {command}") == f"! !rm {LONG}"


def test_the_history_has_pastes_whole() -> None:
    found = pastes()
    kept = InMemoryHistory()
    history = UnfoldedHistory(kept, found)
    history.append_string(f"a {found.fold(LONG)}")
    assert history.get_strings() == [f"a {LONG}"]
    assert list(kept.load_history_strings()) == [f"a {LONG}"]
