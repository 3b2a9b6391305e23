"""A provider of models: a server, the key for it and the API it speaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Literal

from utils.frozen import frozen
from utils.llm.account import Account

ApiName = Literal["chat-completions", "anthropic"]
DEFAULT_PROVIDER = "deepseek"
"""Name of the default provider, where one has to be written."""


@frozen(kw_only=True)
class Provider:
    """One provider; *wants_key*: it answers nobody without one."""

    name: str
    base_url: str
    key: str = field(repr=False)
    account: Account
    api: ApiName = "chat-completions"
    wants_key: bool = True

    @property
    def is_ready(self) -> bool:
        """Whether it can be asked."""
        return bool(self.key) or not self.wants_key


def usable(providers: Iterable[Provider], *, is_strict: bool) -> dict[str, Provider]:
    """Return the providers that a model's name may say, by name.

    One that wants a key and has none is among them where *is_strict*, so that it can say so; else
    its names are those of the usual server, which may have such ones of its own.
    """
    return {provider.name: provider for provider in providers if provider.is_ready or is_strict}


def split_model_name(name: str, providers: Mapping[str, Provider]) -> tuple[Provider | None, str]:
    """Return the provider that the *name* of a model says, None for the usual one, and the rest."""
    provider_name, slash, model = name.partition("/")
    if not (slash and model):
        return None, name
    if provider_name == DEFAULT_PROVIDER:
        return None, model
    return (providers[provider_name], model) if provider_name in providers else (None, name)
