"""Sign-in to a server by OAuth with the official SDK: the link, the tokens, and their renewal.

All of it runs in the event loop of `ClientThread`; nobody outside of this module reads a token.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, BaseModel, ValidationError

from modules.mcp_client.bounded_stream import bound_body
from modules.mcp_client.config import ServerConfig
from modules.mcp_client.failures import ServerFailed
from modules.mcp_client.sign_in.addresses import SignInAddresses
from modules.mcp_client.sign_in.redirect_listener import RedirectListener
from modules.mcp_client.sign_in.tokens import TokenFile
from utils.i18n import phrase
from utils.text.clean import visible
from utils.text.sentences import unended

Model = TypeVar("Model", bound=BaseModel)
SIGN_IN_SECONDS = 300.0
"""Time that the person has for a sign-in."""
_HTTP_SECONDS = 30.0
_MAX_LINK = 4_000
_MAX_SAID = 200  # characters of a refusal
_REVISION = "2025-11-25"  # with which the server is asked whether it wants a sign-in


class _Storage:
    """The place of tokens as the SDK wants it; it keeps also where and until when they count."""

    def __init__(self, file: TokenFile, *, is_only_renewed: bool = False) -> None:
        self._file = file
        self._is_only_renewed = is_only_renewed
        self._values = file.read()

    def reload(self) -> None:
        self._values = self._file.read()

    def forget(self) -> None:
        """Begin with nothing; what the file keeps stays until there is something new."""
        self._values = {}

    @property
    def expires_at(self) -> float | None:
        found = self._values.get("expires_at")
        return float(found) if isinstance(found, int | float) else None

    @property
    def metadata(self) -> OAuthMetadata | None:
        return _read(OAuthMetadata, self._values.get("metadata"))

    def keep_metadata(self, metadata: OAuthMetadata | None) -> None:
        self._values["metadata"] = metadata and metadata.model_dump(mode="json", exclude_none=True)

    async def get_tokens(self) -> OAuthToken | None:
        return _read(OAuthToken, self._values.get("tokens"))

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._values["tokens"] = tokens.model_dump(mode="json", exclude_none=True)
        self._file.hide(self._values["tokens"])
        seconds = tokens.expires_in
        self._values["expires_at"] = None if seconds is None else time.time() + seconds
        if self._file.exists or not self._is_only_renewed:  # else the person has signed out
            self._file.write(self._values)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return _read(OAuthClientInformationFull, self._values.get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._values["client"] = client_info.model_dump(mode="json", exclude_none=True)


def _read(model: type[Model], value: object) -> Model | None:
    """Return *value* as a *model*, None where it is none."""
    try:
        return None if value is None else model.model_validate(value)
    except ValidationError:
        return None


class TokenAuth(OAuthClientProvider):
    """Sends the tokens of *file* to the server at *url*, renewed where they count no more.

    Nobody is asked: without a token that counts, the server's refusal is the answer.
    """

    def __init__(self, url: str, file: TokenFile) -> None:
        self._kept = _Storage(file, is_only_renewed=True)
        self._addresses = SignInAddresses(url)
        super().__init__(url, _client_metadata("http://127.0.0.1/"), self._kept)

    async def _auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        context = self.context
        async with context.lock:
            await self._load()  # another Onefold may have renewed them
            if not context.is_token_valid() and context.can_refresh_token():
                await self._handle_refresh_response((yield await self._renewal()))
            tried = context.current_tokens
            if tried:
                self._add_auth_header(request)
        response = yield request
        if response.status_code != httpx2.codes.UNAUTHORIZED or tried is None:
            return
        async with context.lock:
            await self._load()
            if context.current_tokens == tried:
                if not context.can_refresh_token():
                    return
                if not await self._handle_refresh_response((yield await self._renewal())):
                    return
            self._add_auth_header(request)
        yield request

    async def _load(self) -> None:
        self._kept.reload()
        await self._initialize()
        self.context.token_expiry_time = self._kept.expires_at
        self.context.oauth_metadata = self._kept.metadata

    async def _renewal(self) -> httpx2.Request:
        request = await self._refresh_token()
        await self._addresses.check(str(request.url))
        return request


class SignIn:
    """One sign-in to the server of *config*, whose tokens are kept in *file*.

    *on_link* is called, in the event loop, with the link that the person has to open.
    """

    def __init__(
        self, config: ServerConfig, file: TokenFile, on_link: Callable[[str], None]
    ) -> None:
        self._config = config
        self._kept = _Storage(file)
        self._on_link = on_link
        self._addresses = SignInAddresses(config.url)

    async def run(self) -> None:
        """Sign in. Raises `ServerFailed` and `UserError`; then what was kept stays."""
        try:
            await self._addresses.check(self._config.url)
            async with asyncio.timeout(SIGN_IN_SECONDS), RedirectListener() as listener:
                await self._sign_in(listener)
        except TimeoutError:
            raise ServerFailed(phrase("the sign-in timed out")) from None
        except (OAuthFlowError, ValidationError, httpx2.HTTPError, OSError) as error:
            said = unended(visible(" ".join(str(error).split()))[:_MAX_SAID])
            raise ServerFailed(phrase("{said}", said=said or type(error).__name__)) from None

    async def _sign_in(self, listener: RedirectListener) -> None:
        self._kept.forget()  # the port is another one, so this is another client
        provider = OAuthClientProvider(
            self._config.url,
            _client_metadata(listener.address),
            self._kept,
            lambda link: self._show(link, provider, listener),
            lambda: _code(listener),
        )
        client = httpx2.AsyncClient(
            timeout=_HTTP_SECONDS,
            event_hooks={"request": [self._check], "response": [bound_body]},
        )
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        headers = {
            **self._config.headers,
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": _REVISION,
        }
        async with (
            client,
            client.stream(
                "POST", self._config.url, json=message, headers=headers, auth=provider
            ) as response,
        ):
            if await self._kept.get_tokens() is None:
                status = response.status_code
                raise ServerFailed(
                    phrase("it does not need a sign-in (HTTP {status})", status=status)
                )

    async def _check(self, request: httpx2.Request) -> None:
        await self._addresses.check(str(request.url))

    async def _show(
        self, link: str, provider: OAuthClientProvider, listener: RedirectListener
    ) -> None:
        await self._addresses.check(link)
        if len(link) > _MAX_LINK:
            raise ServerFailed(phrase("its link for the sign-in is too long"))
        self._kept.keep_metadata(provider.context.oauth_metadata)
        listener.state = parse_qs(urlsplit(link).query)["state"][-1]
        self._on_link(link)


async def _code(listener: RedirectListener) -> AuthorizationCodeResult:
    """Return what the browser brought back. Raises `ServerFailed` where that is a refusal."""
    values = await listener.wait()
    if "code" not in values:
        said = values.get("error_description") or values.get("error") or "?"
        raise ServerFailed(phrase("it was refused ({said})", said=visible(said)[:_MAX_SAID]))
    return AuthorizationCodeResult(
        code=values["code"], state=values.get("state"), iss=values.get("iss")
    )


def _client_metadata(address: str) -> OAuthClientMetadata:
    return OAuthClientMetadata(
        client_name="Onefold",
        redirect_uris=[AnyUrl(address)],
        token_endpoint_auth_method="none",  # noqa: S106 - a client here can keep no secret
    )
