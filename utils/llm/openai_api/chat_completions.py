"""The chat-completions API: DeepSeek's, OpenAI's, and of all servers that are compatible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import parse_qsl

from utils.llm.account import DEEPSEEK_ACCOUNT, Account
from utils.llm.api import Sdk, TokenCounts
from utils.llm.completion import Usage
from utils.llm.openai_api.request import RequestWriter
from utils.llm.profiles.server_profile import USUAL_PROFILE, CacheFigures, ServerProfile

if TYPE_CHECKING:
    from utils.llm.openai_api.stream_parser import StreamParser


_SMALL_WINDOW = 65_536
"""Tokens; a model with a window known to be no larger may be one that repeats itself for ever."""


class ChatCompletions:
    """The API of that name, spoken through the package `openai`.

    A query in the address stands behind every path; one that names an `api-version`, as Azure's do,
    has the key sent as `api-key` too.
    """

    has_dialects = True

    def __init__(self, account: Account = DEEPSEEK_ACCOUNT) -> None:
        self.account = account

    def make_writer(self, *, max_tokens: int, context_limit: int, effort: str) -> RequestWriter:
        return RequestWriter(max_tokens=max_tokens, context_limit=context_limit, effort=effort)

    def make_parser(
        self,
        max_calls: int,
        body: bytes,  # noqa: ARG002 - a reply tells for itself
        profile: ServerProfile,
    ) -> StreamParser:
        from utils.llm.openai_api.stream_parser import StreamParser

        return StreamParser(
            max_calls,
            ends_repetition=0 < profile.window <= _SMALL_WINDOW,
            finds_markup=profile.protocol == "native",
        )

    def connect(self, base_url: str, key: str, *, user_agent: str, http_client: Any) -> Sdk:
        from utils.llm.openai_api.deferred_types import deferred_types

        with deferred_types():
            import openai

        address, _, query = base_url.partition("?")
        query_values = dict(parse_qsl(query))
        headers = {"User-Agent": user_agent}
        if "api-version" in query_values:
            headers["api-key"] = key
        client = openai.OpenAI(
            base_url=address,
            api_key=key or "none",
            max_retries=0,
            default_headers=headers,
            default_query=query_values,
            http_client=http_client,
        )
        client.organization = client.project = None  # not this server's business
        return Sdk(
            client,
            "/chat/completions",
            openai.Stream[Any],
            status_error=openai.APIStatusError,
            base_error=openai.OpenAIError,
        )

    def count_tokens(self, usage: Mapping[str, Any], profile: ServerProfile) -> TokenCounts:
        prompt = token_count(usage, "prompt_tokens")
        place = _cache_figures(usage, profile.cache_figures)
        hit = _cached(usage, place)
        miss = 0 if place == "none" else token_count(usage, "prompt_cache_miss_tokens")
        whole = Usage(
            prompt_tokens=prompt,
            cache_hit_tokens=hit,
            cache_miss_tokens=miss or max(prompt - hit, 0),
            completion_tokens=token_count(usage, "completion_tokens"),
            reasoning_tokens=token_count(
                usage.get("completion_tokens_details"), "reasoning_tokens"
            ),
            requests=1,
        )
        return TokenCounts(whole, cache_figures=place)

    def parse_models(self, rows: Iterable[Any]) -> Mapping[str, ServerProfile | None]:
        return {name: None for name in map(_model_name, rows) if name}

    def usual(self, model: str) -> ServerProfile:  # noqa: ARG002 - nothing is known
        return USUAL_PROFILE


def _cache_figures(usage: Mapping[str, Any], known: CacheFigures) -> CacheFigures:
    """Return where *usage* counts what the cache had: as *known*, or the first that says any."""
    if known == "none" or _cached(usage, known):
        return known
    return next((place for place in get_args(CacheFigures) if _cached(usage, place)), known)


def _cached(usage: Mapping[str, Any], place: CacheFigures) -> int:
    if place == "prompt_tokens_details":
        return token_count(usage.get(place), "cached_tokens")
    return token_count(usage, place)


def _model_name(row: Any) -> str:
    """Return the name in a *row* of a list of models, "" where it has none."""
    if not isinstance(row, dict):
        return row if isinstance(row, str) else ""
    return str(row.get("id") or row.get("name") or row.get("model") or "")


def token_count(counts: Any, name: str) -> int:
    """Return the number that *counts* has by *name*, 0 where it has none."""
    value = counts.get(name) if isinstance(counts, dict) else None
    return value if isinstance(value, int) else 0
