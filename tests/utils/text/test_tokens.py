"""The estimate follows the rule of thumb, in every script."""

from utils.text.tokens import estimate_tokens


def test_characters_are_weighed_by_their_script() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("x" * 1000) == 300
    assert estimate_tokens("中" * 1000) == 650
    assert estimate_tokens("x中" * 100) == 95
    assert estimate_tokens("\udce9\ud83d") == 2
