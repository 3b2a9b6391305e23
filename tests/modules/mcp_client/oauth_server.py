"""A server of the SDK on loopback that wants a sign-in, with its own authorization server.

It lets in everybody who asks, at once; with `refuse` as an argument nobody. `/forget` makes it
forget the access tokens that it gave; `/seen` says what it was asked.
"""

from __future__ import annotations

import secrets
import socket
import sys
from typing import Any

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse


class Accounts:
    """Everybody's account: what the SDK wants of an authorization server."""

    def __init__(self, *, refuses: bool) -> None:
        self._refuses = refuses
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, AccessToken] = {}
        self.renewing: dict[str, RefreshToken] = {}
        self.seen: list[str] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.seen.append("register")
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        self.seen.append(f"authorize {params.resource}")
        back = str(params.redirect_uri)
        if self._refuses:
            return construct_redirect_uri(back, error="access_denied", state=params.state)
        code = AuthorizationCode(
            code=secrets.token_hex(16),
            scopes=[],
            expires_at=4e9,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(back, code=code.code, state=params.state)

    async def load_authorization_code(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002 - codes are unique
        authorization_code: str,
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._given(client.client_id, authorization_code.resource)

    async def load_refresh_token(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002 - tokens are unique
        refresh_token: str,
    ) -> RefreshToken | None:
        return self.renewing.get(refresh_token)

    async def exchange_refresh_token(
        self,
        client: OAuthClientInformationFull,
        refresh_token: RefreshToken,
        scopes: list[str],  # noqa: ARG002 - there are none
    ) -> OAuthToken:
        self.seen.append("refresh")
        del self.renewing[refresh_token.token]
        return self._given(client.client_id, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    def _given(self, client_id: str, resource: str | None) -> OAuthToken:
        access, renewing = f"access-{secrets.token_hex(8)}", f"renew-{secrets.token_hex(8)}"
        self.tokens[access] = AccessToken(
            token=access, client_id=client_id, scopes=[], resource=resource
        )
        self.renewing[renewing] = RefreshToken(
            token=renewing, client_id=client_id, scopes=[], resource=resource
        )
        return OAuthToken(access_token=access, refresh_token=renewing, expires_in=3600)


def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    accounts = Accounts(refuses="refuse" in sys.argv)
    provider: Any = accounts
    server = MCPServer(
        "closed",
        auth_server_provider=provider,
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(base),
            resource_server_url=AnyHttpUrl(f"{base}/mcp"),
            client_registration_options=ClientRegistrationOptions(enabled=True),
            validate_token_resource=True,
        ),
    )

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def repeat() -> str:
        """Say what let the caller in, as a hostile server may, and what will renew it."""
        token = get_access_token()
        renewing = ", ".join(accounts.renewing)
        return f"it was {token.token}, then {renewing}" if token else "nothing did"

    @server.custom_route("/seen", ["GET"])  # type: ignore[untyped-decorator]  # the SDK says no more
    async def seen(_: Request) -> JSONResponse:
        return JSONResponse(accounts.seen)

    @server.custom_route("/forget", ["GET"])  # type: ignore[untyped-decorator]  # the SDK says no more
    async def forget(_: Request) -> JSONResponse:
        accounts.tokens.clear()
        return JSONResponse([])

    print(base, flush=True)  # noqa: T201 - who started it reads it
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
