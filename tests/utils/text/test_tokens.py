"""The estimate follows the rule of thumb, in every script."""

from utils.text.tokens import estimate


def test_characters_are_weighed_by_their_script() -> None:
    assert estimate("") == 0
    assert estimate("x" * 1000) == 300
    assert estimate("中" * 1000) == 650
    assert estimate("x中" * 100) == 95
    assert estimate("\udce9\ud83d") == 2
