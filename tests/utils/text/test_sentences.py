from __future__ import annotations

import pytest

from utils.i18n import phrase
from utils.llm.http.errors import ServerErrors
from utils.llm.http.reply_failures import refused_reply
from utils.text.sentences import ended, ended_phrase, unended


@pytest.mark.parametrize("text", ["It is so.", "Is it?", "so on…", "(It is.)", "“是。”", ""])
def test_what_has_a_mark_gets_no_other(text: str) -> None:
    assert ended(text) == text


@pytest.mark.parametrize("text", ["overloaded", "HTTP 500 (busy)", "过载"])
def test_what_has_none_gets_a_full_stop(text: str) -> None:
    assert ended(text) == f"{text}."
    assert unended(ended(text)) == text


def test_the_full_stop_of_a_phrase_is_that_of_its_language() -> None:
    what = ended_phrase(phrase("{host} said: {message}", host="h", message="overloaded"))
    assert str(what) == "h said: overloaded."
    assert what.translate({"{what}.": "{what}。"}) == "h said: overloaded。"
    whole = phrase("The reply ended early.")
    assert ended_phrase(whole) == whole


@pytest.mark.parametrize("mark", ["", "."])
def test_what_a_server_says_ends_before_our_sentence_goes_on(mark: str) -> None:
    body = f'{{"error": {{"message": "m does not support tools{mark}"}}}}'
    failed = ServerErrors("host", "key").http_error(400, body, {}, model="m")
    assert str(failed.error.message) == (
        "m on host cannot call tools, which Onefold needs: m does not support tools. "
        "Choose another model."
    )
    refused = str(refused_reply(f"No weapons{mark}").error.message)
    assert refused.startswith("The model refused: No weapons. Rephrase it")
