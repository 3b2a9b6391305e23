"""Knowing a model's server: by its API, by what it refused, and by a look at what it says."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from utils.llm.api import Api
from utils.llm.profiles.server_profile import ProfileStore, ServerProfile

if TYPE_CHECKING:
    from utils.llm.endpoint import Endpoint

_DEEPSEEK_HOST = "api.deepseek.com"
_OPENAI_HOST = "api.openai.com"
_VERSION = "/v1"


class ServerKnowledge:
    """Knows the server at *base_url*, which speaks *api*; what is learnt goes into *profiles*.

    Several threads may use it at once.
    """

    def __init__(self, api: Api, base_url: str, profiles: ProfileStore) -> None:
        self._api = api
        self._base_url = base_url
        self._profiles = profiles
        self._url = urlsplit(base_url)
        self.is_deepseek = self._url.netloc == _DEEPSEEK_HOST
        self._is_probing = threading.Lock()

    @property
    def is_of_first_party(self) -> bool:
        """Whether it is DeepSeek's own, OpenAI's, or one of Anthropic's API."""
        return self.is_deepseek or not self._api.has_dialects or self._url.netloc == _OPENAI_HOST

    def usual(self, model: str) -> ServerProfile:
        """Return what holds for *model* where nothing was learnt or said."""
        return self._api.usual(model)

    def profile(self, model: str) -> ServerProfile:
        """Return what is known for *model*."""
        return self._profiles.find(self._base_url, model, self.usual(model))

    def learn(self, model: str, profile: ServerProfile) -> None:
        """Keep what *profile* of *model* says beyond what is known."""
        if changes := profile.changes_from(self.profile(model)):
            self._profiles.save(self._base_url, model, changes)

    def say(self, model: str, changes: Mapping[str, Any]) -> None:
        """Keep what the person says for *model*; None puts a field back to the usual."""
        self._profiles.save(self._base_url, model, changes)

    def forget(self, model: str) -> None:
        """Drop what was learnt and said for *model*."""
        self._profiles.forget(self._base_url, model)

    def may_be_below(self, profile: ServerProfile) -> bool:
        """Return whether the API may be found below `/v1` of the address, and was not sought there.

        Most servers have it there, and people leave that out.
        """
        is_open = self._api.has_dialects and not self.is_deepseek
        return is_open and not profile.below_v1 and "/v" not in self._url.path

    def models(self, endpoint: Endpoint, model: str) -> list[str]:
        """Return the names that the server lists; what it says of them is learnt.

        *model* is one that is in use there.
        """
        profile = self.profile(model)
        listed = endpoint.models(below(profile))
        if not listed and self.may_be_below(profile):
            listed = endpoint.models(_VERSION)
        for name, said in listed.items():
            if said is not None:
                self._profiles.save(self._base_url, name, said.changes, only_new=True)
        return list(listed)

    def probe(self, endpoint: Endpoint, model: str) -> None:
        """Look, beside everything else, for what the server says of *model*.

        Once and for all, whatever comes of it. Of Anthropic's API, whose list tells it, and of
        DeepSeek's own nothing has to be found out.
        """
        is_known = self.is_deepseek or not self._api.has_dialects or self.profile(model).probed
        if is_known or not self._is_probing.acquire(blocking=False):
            return
        look = threading.Thread(
            target=self._probe, args=(endpoint, model), name="probe", daemon=True
        )
        look.start()

    def _probe(self, endpoint: Endpoint, model: str) -> None:
        from utils.llm.profiles.probe import probe

        try:
            look = partial(endpoint.get_json, below=below(self.profile(model)))
            facts = probe(look, model, is_local_http=self._url.scheme == "http")
            if not endpoint.is_closed:  # else it was broken off: another time
                self._profiles.save(self._base_url, model, facts.changes, only_new=True)
        finally:
            self._is_probing.release()


def below(profile: ServerProfile) -> str:
    """Return what stands between the address and the paths of the API."""
    return _VERSION if profile.below_v1 else ""
