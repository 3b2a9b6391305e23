"""The client of the models that a start works with, and what is loaded last."""

from __future__ import annotations

import gc
import threading
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from config import DEEPSEEK, VERSION, Settings
from modules.cli.args import Args
from modules.cli.model_access import NO_KEY
from modules.translator import Translator

if TYPE_CHECKING:
    from modules.cli.model_access import ChosenServer, CreateClient
    from modules.models.server_profiles import ServerProfiles
    from utils.api_client import ApiClient
    from utils.llm.api import Api
    from utils.llm.provider import Provider
    from utils.llm.providers import ModelClient, OpenClient


def model_for(
    options: Args, settings: Settings, translator: Translator, stack: ExitStack
) -> tuple[ModelClient, bool]:
    """Return the client of the models, and whether that is the practice model.

    Raises `UserError` when there is no key for what needs one, and nobody to ask; a page asks.
    """
    from modules.cli.model_access import ModelAccess, choose_model
    from utils.llm.provider import split_model_name, usable
    from utils.llm.providers import missing_key

    url = settings.deepseek_base_url
    providers = usable(settings.all_providers, is_strict=url == DEEPSEEK)
    provider, model = split_model_name(settings.model, providers)
    if provider and not (provider.is_ready or options.is_command or options.offline or options.web):
        raise missing_key(provider)
    access = ModelAccess(
        url=url,
        key=settings.usual_key,
        model=model,
        is_default_server=url == DEEPSEEK and not provider,
        config=settings.data_dir / "config.toml",
    )

    def create_client(server: ChosenServer) -> ApiClient:
        return client_factories(settings)[0](server)

    server = choose_model(options, access, create_client, translator, stack)
    return client_of(server, settings), server.is_practice


def client_of(server: ChosenServer, settings: Settings) -> ModelClient:
    """Return the client of *server*, and of the providers that *settings* name."""
    from utils.llm.account import DEEPSEEK_ACCOUNT
    from utils.llm.late_client import LateClient
    from utils.llm.profiles.server_profile import USUAL_PROFILE
    from utils.llm.provider import DEFAULT_PROVIDER, Provider, split_model_name, usable
    from utils.llm.providers import ModelClient
    from utils.llm.served_model import to_base_url, without_login

    profiles = _server_profiles(settings)
    create_client, open_client = client_factories(settings, profiles)
    default = LateClient(
        partial(create_client, server),
        partial(profiles.find, to_base_url(server.url), usual=USUAL_PROFILE),
    )
    if server.is_practice:  # nobody's names but its, and no session keeps it
        return ModelClient(default, server.model, {}, open_client)
    is_strict = settings.deepseek_base_url == DEEPSEEK
    providers = usable(settings.all_providers, is_strict=is_strict)
    usual = Provider(
        name=DEFAULT_PROVIDER,
        base_url=without_login(to_base_url(server.url)),
        key="" if server.key == NO_KEY else server.key,
        account=DEEPSEEK_ACCOUNT,
        wants_key=server.url == DEEPSEEK,
    )
    name = settings.model
    if server.model != split_model_name(name, providers)[1]:  # chosen just now: its names alone
        name, providers = server.model, {}
    return ModelClient(default, name, providers, open_client, usual)


def server_of(settings: Settings) -> ChosenServer:
    """Return the default server that *settings* name."""
    from modules.cli.model_access import ChosenServer
    from utils.llm.provider import split_model_name, usable

    url = settings.deepseek_base_url
    providers = usable(settings.all_providers, is_strict=url == DEEPSEEK)
    _, own_name = split_model_name(settings.model, providers)
    return ChosenServer(url, settings.usual_key or NO_KEY, own_name)


def renew_servers(model: ModelClient, settings: Settings, name: str) -> None:
    """Have *model* ask the servers as *settings* say since the setting *name* was saved.

    A server that was chosen for this start alone stays, until another one is set.
    """
    server, chosen = server_of(settings), model.usual_server
    is_set = name.startswith("deepseek_") or server.key != NO_KEY or server.url != DEEPSEEK
    if chosen and not is_set:
        server = replace(server, url=chosen.base_url, key=chosen.key or NO_KEY)
    model.take_servers_of(client_of(server, settings))


def _server_profiles(settings: Settings) -> ServerProfiles:
    from modules.models.server_profiles import ServerProfiles

    file = settings.data_dir / "servers.json"
    return ServerProfiles(file, settings.models, protocol=settings.protocol)


def client_factories(
    settings: Settings, profiles: ServerProfiles | None = None
) -> tuple[CreateClient, OpenClient]:
    """Return what makes a client of the default server, and what makes one of a provider.

    They share *profiles*, those that are kept unless others are given.
    """
    profiles = profiles or _server_profiles(settings)

    def create(url: str, key: str, model: str, api: Api | None = None) -> ApiClient:
        from utils.api_client import ApiClient  # behind the prompt, or with the first request

        return ApiClient(
            url,
            key,
            model=model,
            api=api,
            max_tokens=settings.max_tokens,
            context_limit=settings.context_limit,
            prices=settings.prices,
            user_agent=f"onefold/{VERSION}",
            effort=settings.effort,
            idle_seconds=settings.idle_seconds,
            retries=settings.retries,
            profiles=profiles,
        )

    def create_client(server: ChosenServer) -> ApiClient:
        client = create(server.url, server.key, server.model)
        client.may_probe = not server.is_practice  # that is our own
        return client

    def open_client(provider: Provider, model: str) -> ApiClient:
        from utils.llm.apis import api_of

        return create(provider.base_url, provider.key, model, api_of(provider))

    return create_client, open_client


def end_start_in_background(model: ModelClient) -> None:
    threading.Thread(target=end_start, args=(model,), name="warm", daemon=True).start()


def end_start(model: ModelClient) -> None:
    """Load what *model* needs, the last of a start, and look for garbage from now on.

    Not among what the start has made: to look through all of that would hold up every thread.
    """
    try:
        model.warm()
    finally:
        gc.freeze()
        gc.set_threshold(10_000)
