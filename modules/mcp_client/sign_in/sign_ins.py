"""Sign-ins to servers: begun by the person, ended by the browser, the person or the time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from urllib.parse import urlsplit

from modules.mcp_client.client_thread import ClientThread
from modules.mcp_client.config import ServerConfig
from modules.mcp_client.failures import ServerFailed
from modules.mcp_client.sign_in.tokens import Hide, TokenFile
from utils.i18n import Phrase, UserError, phrase
from utils.text.clean import visible
from utils.waiting import Stop, Stopped

_LINK_SECONDS = 60.0
_END_SECONDS = 10.0


class SignIns:
    """The sign-ins that run in *thread*; tokens are kept in *folder*.

    *on_signed_in* is called with the server's name, and *tell* with what is to be said, both by a
    thread of their own. Each token is told to *hide*.
    """

    def __init__(
        self,
        thread: ClientThread,
        folder: Path,
        on_signed_in: Callable[[str], None],
        tell: Callable[[Phrase], None],
        hide: Hide,
    ) -> None:
        self._thread = thread
        self._folder = folder
        self._on_signed_in = on_signed_in
        self._tell = tell
        self._hide = hide
        self._running: dict[str, Future[None]] = {}

    def tokens(self, config: ServerConfig) -> TokenFile | None:
        """Return where the tokens of *config* are kept, None for one that can have none."""
        if not config.url or config.has_token:
            return None
        return TokenFile(self._folder, config.url, self._hide)

    def begin(self, config: ServerConfig, stop: Stop) -> Phrase:
        """Begin to sign in, in place of a sign-in that runs; return what the person has to do.

        Raises `UserError`, `ServerFailed` and `Stopped`.
        """
        file = self.tokens(config)
        if file is None:
            raise UserError(
                phrase(
                    "{name} needs no sign-in: it is a program, or has a token in “headers”.",
                    name=visible(config.name),
                )
            )
        self.stop(config.name)
        links: list[str] = []
        has_come = threading.Event()

        def show(link: str) -> None:
            links.append(link)
            has_come.set()

        running = self._thread.submit(self._sign_in(config, file, show))
        self._running[config.name] = running
        running.add_done_callback(lambda _: has_come.set())
        with stop.on_stop(has_come.set):
            has_come.wait(_LINK_SECONDS)
        if links:
            return phrase(
                "Sign in at {host} to use the MCP server {name}; open this link in a browser on "
                "this machine within 5 minutes: {link}",
                host=visible(urlsplit(links[0]).netloc),
                name=visible(config.name),
                link=links[0],
            )
        running.cancel()
        if stop.is_set():
            raise Stopped
        raise _failure(running)

    def stop(self, name: str) -> None:
        """End the sign-in to *name*, where one runs."""
        if running := self._running.pop(name, None):
            running.cancel()

    def sign_out(self, config: ServerConfig) -> bool:
        """Drop the tokens of *config*; return whether there were any. Raises `UserError`."""
        self.stop(config.name)
        if (file := self.tokens(config)) is None:
            return False

        async def remove() -> bool:
            return file.remove()

        return self._thread.submit(remove()).result(_END_SECONDS)  # after the end of what ran

    async def _sign_in(
        self, config: ServerConfig, file: TokenFile, show: Callable[[str], None]
    ) -> None:
        import asyncio

        from modules.mcp_client.sign_in.oauth import SignIn

        was_shown = False

        def on_link(link: str) -> None:
            nonlocal was_shown
            was_shown = True
            show(link)

        name = visible(config.name)
        try:
            await SignIn(config, file, on_link).run()
        except (ServerFailed, UserError) as error:
            if not was_shown:
                raise
            why = phrase(
                "MCP server {name}: the sign-in failed: {why}.", name=name, why=error.message
            )
            await asyncio.to_thread(self._tell, why)
            return
        await asyncio.to_thread(self._on_signed_in, config.name)
        await asyncio.to_thread(self._tell, phrase("MCP server {name}: signed in.", name=name))


def _failure(running: Future[None]) -> ServerFailed:
    """Return why *running* ended before there was a link."""
    try:
        error = running.exception(timeout=0)
    except (CancelledError, TimeoutError):
        return ServerFailed(phrase("it did not answer in time"))
    if isinstance(error, ServerFailed | UserError):
        return ServerFailed(error.message)
    if error is not None:
        raise error
    return ServerFailed(phrase("it does not need a sign-in"))
