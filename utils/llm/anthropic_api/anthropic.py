"""Anthropic's Messages API: Claude, and servers that speak it too.

The package is an optional one; it is imported at the first request, which takes a second and a
half.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from utils.i18n import phrase
from utils.llm.account import Account
from utils.llm.anthropic_api import anthropic_models
from utils.llm.anthropic_api.anthropic_request import AnthropicWriter
from utils.llm.anthropic_api.anthropic_stream_parser import AnthropicStreamParser
from utils.llm.api import Sdk, TokenCounts
from utils.llm.completion import ModelError, Usage
from utils.llm.openai_api.chat_completions import token_count
from utils.llm.profiles.server_profile import ServerProfile
from utils.system.own_command import install_command

_EXTRAS = Path(__file__).resolve().parents[3] / "requirements-extras.txt"


class AnthropicMessages:
    """The API of that name, spoken through the package `anthropic`."""

    has_dialects = False

    def __init__(self, account: Account) -> None:
        self.account = account

    def make_writer(self, *, max_tokens: int, context_limit: int, effort: str) -> AnthropicWriter:
        return AnthropicWriter(max_tokens=max_tokens, context_limit=context_limit, effort=effort)

    def make_parser(
        self,
        max_calls: int,
        body: bytes,
        profile: ServerProfile,  # noqa: ARG002 - one model is like the other
    ) -> AnthropicStreamParser:
        request = json.loads(body)
        thinking = request.get("thinking", {}).get("type")
        is_thinking = thinking in ("adaptive", "enabled")
        return AnthropicStreamParser(max_calls, model=request["model"], is_thinking=is_thinking)

    def connect(self, base_url: str, key: str, *, user_agent: str, http_client: Any) -> Sdk:
        try:
            import anthropic
        except ImportError:
            raise _not_installed() from None
        client = anthropic.Anthropic(
            base_url=base_url,
            api_key=key or "none",
            max_retries=0,
            open_telemetry=False,
            default_headers={"User-Agent": user_agent, **_legacy_key_header(base_url, key)},
            http_client=http_client,
        )
        return Sdk(
            client,
            "/v1/messages",
            anthropic.Stream[Any],
            status_error=anthropic.APIStatusError,
            base_error=anthropic.AnthropicError,
            models_path="/v1/models?limit=1000",
        )

    def count_tokens(self, usage: Mapping[str, Any], profile: ServerProfile) -> TokenCounts:
        cache_write = token_count(usage, "cache_creation_input_tokens")
        cache_write_long = token_count(usage.get("cache_creation"), "ephemeral_1h_input_tokens")
        hit = token_count(usage, "cache_read_input_tokens")
        miss = token_count(usage, "input_tokens") + cache_write
        details = usage.get("output_tokens_details")
        counts = Usage(
            prompt_tokens=hit + miss,
            cache_hit_tokens=hit,
            cache_miss_tokens=miss,
            completion_tokens=token_count(usage, "output_tokens"),
            reasoning_tokens=token_count(details, "thinking_tokens"),
            requests=1,
        )
        return TokenCounts(
            counts, cache_write, min(cache_write_long, cache_write), profile.cache_figures
        )

    def parse_models(self, rows: Iterable[Any]) -> Mapping[str, ServerProfile | None]:
        return {str(row["id"]): anthropic_models.parse_model(row) for row in rows}

    def usual(self, model: str) -> ServerProfile:
        return anthropic_models.known_profile(model)


def _legacy_key_header(base_url: str, key: str) -> dict[str, str]:
    """Return the header that had the key before API version 2026-10-21, for others' servers."""
    is_own = urlsplit(base_url).hostname == "api.anthropic.com"
    return {} if is_own or not key else {"x-api-key": key}


def _not_installed() -> ModelError:
    command = install_command(_EXTRAS)
    return ModelError(
        "request",
        phrase(
            "Claude needs the package anthropic. Install it: {command}",
            command=command,
        ),
    )
