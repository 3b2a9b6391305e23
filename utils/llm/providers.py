"""Several providers of models behind one client: a model's name says whose it is.

`anthropic/claude-opus-5-5` is a model of the provider `anthropic`; a name without a provider is one
of the usual server. A session goes on at the server where it was begun; one that no setting names
any more is called by its host: `localhost:8080/qwen3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from utils.i18n import Phrase, phrase
from utils.llm.completion import ModelError, ProfileLearned, StreamItem, Wire
from utils.llm.late_client import LateClient
from utils.llm.prices import Tariff
from utils.llm.profiles.server_profile import ServerProfile
from utils.llm.provider import DEFAULT_PROVIDER, Provider, split_model_name
from utils.llm.served_model import (
    ModelChoice,
    is_gone,
    is_local,
    is_same_server,
    provider_at,
    without_login,
)
from utils.pictures import ReadPicture, read_no_picture
from utils.waiting import Stop

if TYPE_CHECKING:
    from utils.api_client import ApiClient

OpenClient = Callable[[Provider, str], "ApiClient"]
"""Makes the client of a provider and a model there."""


class ModelClient:
    """The models of a *default* server and of *providers*, one of them in use at a time.

    `model` is its whole name and may be set between calls. A provider's client is made by
    *open_client* when it is first used; *settings* are those of the default server, None for one
    that no session is to go on with. Several threads may stream at once.
    """

    def __init__(
        self,
        default: LateClient,
        name: str,
        providers: Mapping[str, Provider],
        open_client: OpenClient,
        settings: Provider | None = None,
    ) -> None:
        self.model = self._first_name = name
        self._settings = settings
        self._news: Phrase | None = None
        self._default = default
        self._configured = self._providers = providers
        self._open_client = open_client
        self._clients: dict[str, ApiClient] = {}
        self._replaced: list[ApiClient] = []
        """Clients of servers that are asked no more; one may still finish a reply."""
        self._read_picture: ReadPicture = read_no_picture
        self._on_request: Callable[[bytes], None] = lambda _: None

    def warm(self) -> None:
        """Make ready what the first call needs; see `ApiClient.warm`."""
        provider = self._provider
        if provider is None or provider.is_ready:
            self._current_client().warm()

    def stream(
        self,
        messages: Sequence[Wire],
        tools: Sequence[Wire],
        *,
        think: bool,
        stop: Stop,
        reply_tokens: int = 0,
        effort: str = "",
    ) -> Iterator[StreamItem]:
        """Stream one reply of the current model; see `ApiClient.stream`."""
        if self._news:
            news, self._news = self._news, None
            yield ProfileLearned(news)
        provider = self._provider
        if provider and not provider.is_ready:
            raise missing_key(provider)
        yield from self._current_client().stream(
            messages, tools, think=think, stop=stop, reply_tokens=reply_tokens, effort=effort
        )

    @property
    def is_ready(self) -> bool:
        """Whether the model of now can be asked: its server has a key, or wants none."""
        provider = self._provider
        return provider is None or provider.is_ready

    @property
    def usual_server(self) -> Provider | None:
        """The default server; None for one of this start alone."""
        return self._settings

    @property
    def _provider(self) -> Provider | None:
        """The provider of the model of now; None for a server of this start alone."""
        provider, _ = split_model_name(self.model, self._providers)
        return provider or self._settings

    def take_servers_of(self, other: ModelClient) -> None:
        """Ask the servers of *other* from the next request on; a reply that comes in is finished.

        The model stays, and so does a server that only the session knows.
        """
        added = {name: one for name, one in self._providers.items() if name not in self._configured}
        self._replaced += self._made_clients()
        self._default, self._open_client = other._default, other._open_client
        self._settings, self._first_name = other._settings, other._first_name
        self._configured = other._configured
        self._providers = {**other._configured, **added}
        self._clients = {}

    def set_picture_reader(self, read_picture: ReadPicture) -> None:
        """Have *read_picture* give the pictures that messages refer to; see `ApiClient`."""
        self._read_picture = read_picture
        for client in self._made_clients():
            client.set_picture_reader(read_picture)

    def set_request_observer(self, on_request: Callable[[bytes], None]) -> None:
        """Have *on_request* called with the body of each request, before that is sent."""
        self._on_request = on_request
        for client in self._made_clients():
            client.set_request_observer(on_request)

    @property
    def profile(self) -> ServerProfile:
        """Known properties of the server, for the current model."""
        provider, model = split_model_name(self.model, self._providers)
        if provider is None:
            return self._default.profile(model)
        return self._client_of(provider, model).profile

    @property
    def tariff(self) -> Tariff | None:
        """The price of the model of now, None where it is unknown."""
        return self._current_client().tariff

    def known_of(self, name: str) -> tuple[ServerProfile, Tariff | None]:
        """Return what is known of the model *name*, and its price; asks nobody."""
        provider, model = split_model_name(name, self._providers)
        client = self._client_of(provider, "") if provider else self._default_client()
        return client.known_of(model)

    @property
    def is_well_known(self) -> bool:
        """Whether the model of now is known for calling its tools."""
        return self._current_client().is_well_known

    def forget_profile(self) -> None:
        """Forget the learned profile of the server for the current model."""
        self._current_client().forget_profile()

    @property
    def usual_profile(self) -> ServerProfile:
        """The profile of the model of now where nothing was learnt or said."""
        return self._current_client().usual_profile

    def set_profile(self, changes: Mapping[str, Any]) -> None:
        """Keep what the person says of the server for the model of now; None: the usual again."""
        self._current_client().set_profile(changes)

    @property
    def choice(self) -> ModelChoice | None:
        """The model in use, as a session keeps it; None where it is for this start alone."""
        if self._settings is None:
            return None
        provider, name = split_model_name(self.model, self._providers)
        server = without_login((provider or self._settings).base_url)
        return ModelChoice(name, server, provider.name if provider else "")

    def use(self, choice: ModelChoice | None) -> None:
        """Go on with the model of *choice*, at its own server; None changes nothing.

        A model for this start alone stays. Where that server is gone from this machine, another
        on this machine goes on; nothing that stayed on it is sent away from it.
        """
        if choice is None or self._settings is None:
            return
        self._providers, self._news = self._configured, None
        self.model = self._whole_name(choice, self._settings)

    def _whole_name(self, choice: ModelChoice, settings: Provider) -> str:
        """Return the name by which *choice* is called now; a server unknown so far gets one."""
        if not choice.server:
            return choice.name
        is_usual = is_same_server(choice.server, settings.base_url)
        providers = sorted(self._providers.values(), key=lambda one: one.name != choice.provider)
        for provider in providers if choice.provider or not is_usual else ():
            if is_same_server(choice.server, provider.base_url):
                return f"{provider.name}/{choice.name}"
        if is_usual:
            is_clear = split_model_name(choice.name, self._providers) == (None, choice.name)
            return choice.name if is_clear else f"{DEFAULT_PROVIDER}/{choice.name}"
        first, _ = split_model_name(self._first_name, self._configured)
        if is_gone(choice.server) and is_local((first or settings).base_url):
            self._news = phrase(
                "The session's server at {address} no longer answers. Using {model} instead.",
                address=choice.server,
                model=self._first_name,
            )
            return self._first_name
        own = provider_at(choice.server, (settings, *self._providers.values()))
        self._providers = {**self._configured, own.name: own}
        return f"{own.name}/{choice.name}"

    def models(self, name: str = "") -> Sequence[str]:
        """Return the names that the server of the model *name* has; "": those of all servers.

        None are returned of one that does not say so in time.
        """
        if name:
            provider, rest = split_model_name(name, self._providers)
            return self._list_models(provider, rest)
        from concurrent.futures import ThreadPoolExecutor  # costs start-up time

        providers = [None, *(one for one in self._providers.values() if one.is_ready)]
        with ThreadPoolExecutor(len(providers)) as pool:
            lists = pool.map(lambda one: self._list_models(one, ""), providers)
            return [model for names in lists for model in names]

    def _list_models(self, provider: Provider | None, model: str) -> Sequence[str]:
        if provider is None:
            return self._default_client().models()
        if not provider.is_ready:
            return []
        names = self._client_of(provider, model).models()
        return [f"{provider.name}/{name}" for name in names]

    def for_other_conversation(self) -> ModelClient:
        """Return a client of the same servers for another conversation: its model is its own."""
        return ModelClient(
            LateClient(lambda: self._default_client().for_other_conversation()),
            self.model,
            self._configured,
            self._open_client,
            self._settings,
        )

    def close(self) -> None:
        """Close the connections that are kept open."""
        for client in (*self._replaced, *self._made_clients()):
            client.close()

    def _made_clients(self) -> Iterable[ApiClient]:
        return filter(None, (self._default.made, *self._clients.values()))

    def _default_client(self) -> ApiClient:
        client = self._default.get()
        client.set_picture_reader(self._read_picture)
        client.set_request_observer(self._on_request)
        return client

    def _current_client(self) -> ApiClient:
        """Return the client of the current model."""
        provider, model = split_model_name(self.model, self._providers)
        if provider is not None:
            return self._client_of(provider, model)
        client = self._default_client()
        client.model = model
        return client

    def _client_of(self, provider: Provider, model: str) -> ApiClient:
        client = self._clients.get(provider.name)
        if client is None:
            client = self._clients.setdefault(provider.name, self._open_client(provider, model))
            client.set_picture_reader(self._read_picture)
            client.set_request_observer(self._on_request)
        if model:
            client.model = model
        return client


def missing_key(provider: Provider) -> ModelError:
    """Return the error of a *provider* that wants a key and has none."""
    return ModelError(
        "key",
        phrase(
            "No API key for {provider}. Set {setting}; get a key at {page}",
            provider=provider.name,
            setting=provider.account.key_name,
            page=provider.account.key_page,
        ),
    )
