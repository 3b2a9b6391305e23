"""Lookup of a provider's API; the only place that knows all of them."""

from __future__ import annotations

from typing import assert_never

from utils.llm.api import Api
from utils.llm.provider import Provider


def api_of(provider: Provider) -> Api:
    """Return the API of *provider*; the modules of one API are loaded only for it."""
    match provider.api:
        case "anthropic":
            from utils.llm.anthropic_api.anthropic import AnthropicMessages

            return AnthropicMessages(provider.account)
        case "chat-completions":
            from utils.llm.openai_api.chat_completions import ChatCompletions

            return ChatCompletions(provider.account)
        case other:
            assert_never(other)
