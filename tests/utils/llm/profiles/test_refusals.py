"""What a server's refusals teach, in the words that servers use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from utils.llm.profiles.refusals import Refusal, adapted_profile
from utils.llm.profiles.server_profile import MINIMAL_PROFILE, ServerProfile

USUAL = ServerProfile()


def taught(text: str, status: int = 400, before: ServerProfile = USUAL) -> dict[str, Any] | None:
    body = json.dumps({"error": {"message": text, "type": "invalid_request_error"}})
    after = adapted_profile(before, Refusal.parse(status, body), may_guess=False)
    return after.changes if after else None


NAMED = {
    "Unrecognized request argument supplied: thinking": {"thinking": False},
    'Unknown name "thinking": Cannot find field.': {"thinking": False},
    "property 'thinking' is unsupported": {"thinking": False},
    "messages.2.reasoning_content: Extra inputs are not permitted": {"reasoning_content": False},
    "Unsupported parameter: 'reasoning_effort' is not supported": {"reasoning_effort": False},
    "stream_options is not supported": {"stream_options": False},
    "This model does not support streaming.": {"stream": False},
    "max_tokens is too large: 65536. This model supports at most 8192 completion tokens.": {
        "max_output": 8192
    },
    "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]": {"max_output": 4096},
    "max_tokens: 65536 > 4096, which is the maximum allowed number of output tokens": {
        "max_output": 4096
    },
    "`max_tokens` must be less than or equal to `32768`": {"max_output": 32768},
    "max_tokens must be less than or equal to 32,768": {"max_output": 32768},
    "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.": {"output_limit": "max_completion_tokens"},
    "Unrecognized request argument supplied: max_tokens": {"output_limit": "max_completion_tokens"},
    "This model's maximum context length is 8192 tokens. However, you requested 68736 tokens "
    "(3200 in the messages, 65536 in the completion). Please reduce the length of the messages "
    "or completion.": {"window": 8192},
    "'max_tokens' or 'max_completion_tokens' is too large: 65536. This model's maximum context "
    "length is 16384 tokens and your request has 3200 input tokens (65536 > 16384 - 3200).": {
        "window": 16384
    },
    "Only the first message may have the role system: system message must be first": {
        "system_messages": "first"
    },
    "System message must be at the beginning.": {"system_messages": "first"},
    "System role not supported": {"system_messages": "none"},
    "Unsupported role: system": {"system_messages": "none"},
    "Conversation roles must alternate user/assistant/user/assistant/...": {
        "alternating": True,
        "system_messages": "first",
    },
    "Expected last role User or Tool for serving but got assistant": {
        "alternating": True,
        "system_messages": "first",
    },
    "This model only supports single tool-calls at once!": {"parallel_calls": False},
    "Tool call id was call_00_abc but must be a-z, A-Z, 0-9, with a length of 9.": {
        "call_ids": "short"
    },
    'Invalid JSON payload: Unknown name "additionalProperties"': {"plain_schema": True},
    "messages.3: content must not be empty": {"call_content": "null"},
}


@pytest.mark.parametrize("text", NAMED)
def test_what_a_refusal_names_is_left_out(text: str) -> None:
    assert taught(text) == NAMED[text]


TEMPLATES = ["System message must be at the beginning.", "Conversation roles must alternate user/"]


@pytest.mark.parametrize("text", TEMPLATES)
def test_a_chat_template_that_raises_is_a_refusal_as_well(text: str) -> None:
    assert taught(text, 500) == taught(text, 400) != None  # noqa: E711


def test_a_field_named_by_place_is_named_too() -> None:
    body = {"detail": [{"type": "extra_forbidden", "loc": ["body", "thinking"], "msg": "No.",
                        "input": {"stream_options": 1}}]}  # fmt: skip
    after = adapted_profile(USUAL, Refusal.parse(422, json.dumps(body)), may_guess=False)
    assert after == ServerProfile(thinking=False), "what is echoed was not minded"


@pytest.mark.parametrize("text", NAMED)
def test_a_refusal_repeated_asks_for_ever_less_and_comes_to_an_end(text: str) -> None:
    refusal = Refusal.parse(400, json.dumps({"error": {"message": text}}))
    profile: ServerProfile | None = USUAL
    seen = []
    while profile is not None:
        assert profile not in seen
        seen.append(profile)
        profile = adapted_profile(profile, refusal, may_guess=True)
    assert len(seen) < 16


@pytest.mark.parametrize("status", [401, 402, 403, 404, 413, 429, 502, 503])
def test_a_failure_that_is_not_about_the_shape_teaches_nothing(status: int) -> None:
    refusal = Refusal.parse(status, json.dumps({"error": {"message": "thinking of you"}}))
    assert adapted_profile(USUAL, refusal, may_guess=True) is None


def test_a_refusal_that_names_nothing_teaches_the_plainest_shape_once() -> None:
    refusal = Refusal.parse(400, "Bad Request")
    assert adapted_profile(USUAL, refusal, may_guess=False) is None
    plain = adapted_profile(USUAL, refusal, may_guess=True)
    assert plain is not None
    assert plain.changes == {**MINIMAL_PROFILE.changes, "max_output": 8192}
    assert adapted_profile(plain, refusal, may_guess=True) is None


def test_a_prompt_that_fills_the_window_alone_teaches_nothing() -> None:
    text = "request (3200 tokens) exceeds the available context size (2048 tokens)"
    assert taught(text) is None


def test_a_window_that_is_known_asks_for_less_output() -> None:
    text = "This model's maximum context length is 8192 tokens."
    known = ServerProfile(window=8192)
    assert taught(text, before=known) == {"window": 8192, "max_output": 4096}


@pytest.mark.parametrize("number", [",", ",,", "9" * 5000])
def test_a_number_that_is_none_is_no_failure_of_ours(number: str) -> None:
    assert taught(f"max_tokens may be at most {number}") is not None
    taught(f"maximum context length is {number}")
    taught(f"maximum context length is 9000, {number} input tokens")


def test_of_a_refusal_without_end_the_start_is_read() -> None:
    assert len(Refusal.parse(400, "max_tokens " * 100_000).text) < 10_000
    assert len(Refusal.parse(400, json.dumps({"error": "max_tokens " * 100_000})).text) < 10_000
    assert Refusal.parse(400, "[" * 100_000).text.startswith("[[")
