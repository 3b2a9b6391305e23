"""Several providers of models behind one client: a model's name says whose it is.

`anthropic/claude-opus-5-5` is a model of the provider `anthropic`; a name without a provider is one
of the usual server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from utils.api_client import ApiClient
from utils.i18n import phrase
from utils.llm.completion import ModelError, StreamItem, Wire
from utils.llm.provider import Provider, split
from utils.llm.server_profile import ServerProfile
from utils.pictures import ReadPicture, no_picture
from utils.waiting import Stop

Open = Callable[[Provider, str], ApiClient]
"""Makes the client of a provider and a model there."""


class ModelClient:
    """The models of a *usual* server and of *providers*, one of them in use at a time.

    `model` is its whole name and may be set between calls. A provider's client is made by
    *open_client* when it is first used. Several threads may stream at once.
    """

    def __init__(
        self, usual: ApiClient, name: str, providers: Mapping[str, Provider], open_client: Open
    ) -> None:
        self.model = name
        self._usual = usual
        self._providers = providers
        self._open = open_client
        self._clients: dict[str, ApiClient] = {}
        self._read_picture: ReadPicture = no_picture

    def warm(self) -> None:
        """Make ready what the first call needs; see `ApiClient.warm`."""
        provider, _ = split(self.model, self._providers)
        if provider is None or provider.is_ready:
            self._client().warm()

    def stream(
        self, messages: Sequence[Wire], tools: Sequence[Wire], *, think: bool, stop: Stop
    ) -> Iterator[StreamItem]:
        """Stream one reply of the model of now; see `ApiClient.stream`."""
        provider, _ = split(self.model, self._providers)
        if provider and not provider.is_ready:
            raise no_key(provider)
        yield from self._client().stream(messages, tools, think=think, stop=stop)

    def take_pictures_from(self, read_picture: ReadPicture) -> None:
        """Have *read_picture* give the pictures that messages refer to; see `ApiClient`."""
        self._read_picture = read_picture
        for client in (self._usual, *self._clients.values()):
            client.take_pictures_from(read_picture)

    @property
    def profile(self) -> ServerProfile:
        """What is known of the server for the model of now."""
        return self._client().profile

    @property
    def is_well_known(self) -> bool:
        """Whether the model of now is known for calling its tools."""
        return self._client().is_well_known

    def forget_profile(self) -> None:
        """Forget what was learnt of the server for the model of now."""
        self._client().forget_profile()

    @property
    def usual_profile(self) -> ServerProfile:
        """What holds for the model of now where nothing was learnt or said."""
        return self._client().usual_profile

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person says of the server for the model of now; None: the usual again."""
        self._client().set_profile(changes)

    def models(self, name: str = "") -> Sequence[str]:
        """Return the names that the server of the model *name* has; "": those of all servers.

        None are returned of one that does not say so in time.
        """
        if name:
            provider, rest = split(name, self._providers)
            return self._listed(provider, rest)
        from concurrent.futures import ThreadPoolExecutor  # costs start-up time

        ready = [None, *(one for one in self._providers.values() if one.is_ready)]
        with ThreadPoolExecutor(len(ready)) as pool:
            lists = pool.map(lambda one: self._listed(one, ""), ready)
            return [model for listed in lists for model in listed]

    def _listed(self, provider: Provider | None, model: str) -> Sequence[str]:
        if provider is None:
            return self._usual.models()
        if not provider.is_ready:
            return []
        names = self._client_of(provider, model).models()
        return [f"{provider.name}/{name}" for name in names]

    def another(self) -> ModelClient:
        """Return a client of the same servers for another conversation: its model is its own."""
        return ModelClient(self._usual.another(), self.model, self._providers, self._open)

    def close(self) -> None:
        """Close the connections that are kept open."""
        for client in (self._usual, *self._clients.values()):
            client.close()

    def _client(self) -> ApiClient:
        """Return the client of the model of now."""
        provider, model = split(self.model, self._providers)
        if provider is not None:
            return self._client_of(provider, model)
        self._usual.model = model
        return self._usual

    def _client_of(self, provider: Provider, model: str) -> ApiClient:
        client = self._clients.get(provider.name)
        if client is None:
            client = self._clients.setdefault(provider.name, self._open(provider, model))
            client.take_pictures_from(self._read_picture)
        if model:
            client.model = model
        return client


def no_key(provider: Provider) -> ModelError:
    """Return what to say where *provider* wants a key and has none."""
    return ModelError(
        "key",
        phrase(
            "There is no key for {provider}: set {setting}; there is one at {page}",
            provider=provider.name,
            setting=provider.account.key_name,
            page=provider.account.key_page,
        ),
    )
