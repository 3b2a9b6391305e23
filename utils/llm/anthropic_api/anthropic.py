"""Anthropic's Messages API: Claude, and servers that speak it too.

The package is an optional one; it is imported at the first request, which takes a second and a
half.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from utils.i18n import phrase
from utils.llm.account import Account
from utils.llm.anthropic_api import anthropic_models
from utils.llm.anthropic_api.anthropic_draft import AnthropicDraft
from utils.llm.anthropic_api.anthropic_request import AnthropicWriter
from utils.llm.api import Counted, Sdk
from utils.llm.completion import ModelError, Usage
from utils.llm.openai_api.chat_completions import count
from utils.llm.server_profile import ServerProfile

_EXTRAS = Path(__file__).resolve().parents[3] / "requirements-extras.txt"


class AnthropicMessages:
    """The API of that name, spoken through the package `anthropic`."""

    has_dialects = False

    def __init__(self, account: Account) -> None:
        self.account = account

    def writer(self, *, max_tokens: int, context_limit: int, effort: str) -> AnthropicWriter:
        return AnthropicWriter(max_tokens=max_tokens, context_limit=context_limit, effort=effort)

    def draft(self, most_calls: int, body: bytes) -> AnthropicDraft:
        asked = json.loads(body)
        thinking = asked.get("thinking", {}).get("type")
        is_thinking = thinking in ("adaptive", "enabled")
        return AnthropicDraft(most_calls, model=asked["model"], is_thinking=is_thinking)

    def connect(self, base_url: str, key: str, *, user_agent: str, transport: Any) -> Sdk:
        import httpx2

        try:
            import anthropic
        except ImportError:
            raise _not_installed() from None
        client = anthropic.Anthropic(
            base_url=base_url,
            api_key=key or "none",
            max_retries=0,
            open_telemetry=False,
            default_headers={"User-Agent": user_agent, **_older_key(base_url, key)},
            http_client=httpx2.Client(transport=transport, timeout=None, follow_redirects=True),
        )
        return Sdk(
            client,
            "/v1/messages",
            anthropic.Stream[Any],
            refused=anthropic.APIStatusError,
            failed=anthropic.AnthropicError,
            models_path="/v1/models?limit=1000",
        )

    def counted(self, usage: Mapping[str, Any], profile: ServerProfile) -> Counted:
        written = count(usage, "cache_creation_input_tokens")
        kept = count(usage.get("cache_creation"), "ephemeral_1h_input_tokens")
        hit = count(usage, "cache_read_input_tokens")
        miss = count(usage, "input_tokens") + written
        details = usage.get("output_tokens_details")
        whole = Usage(
            prompt_tokens=hit + miss,
            cache_hit_tokens=hit,
            cache_miss_tokens=miss,
            completion_tokens=count(usage, "output_tokens"),
            reasoning_tokens=count(details, "thinking_tokens"),
            requests=1,
        )
        return Counted(whole, written, min(kept, written), profile.cache_figures)

    def described(self, rows: Iterable[Any]) -> Mapping[str, ServerProfile | None]:
        return {str(row["id"]): anthropic_models.described(row) for row in rows}

    def usual(self, model: str) -> ServerProfile:
        return anthropic_models.facts(model)


def _older_key(base_url: str, key: str) -> dict[str, str]:
    """Return the header that had the key before API version 2026-10-21, for others' servers."""
    is_own = urlsplit(base_url).hostname == "api.anthropic.com"
    return {} if is_own or not key else {"x-api-key": key}


def _not_installed() -> ModelError:
    command = f"{shlex.quote(sys.executable)} -m pip install -r {shlex.quote(str(_EXTRAS))}"
    return ModelError(
        "request",
        phrase(
            "Claude is asked through the package anthropic, which is not installed. Install it: "
            "{command}",
            command=command,
        ),
    )
