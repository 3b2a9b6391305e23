"""Lines of JSON as the SDK's connection wants them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from modules.stdio_server.json_lines import JsonLines, Message


class LineTransport(JsonLines):
    """*on_sent* is called in the event loop after a message has left. Make it in the event loop."""

    def __init__(
        self,
        source: int,
        sink: int,
        on_sent: Callable[[Message], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(source, sink)
        self._on_sent = on_sent

    async def receive(self) -> Message | None:
        """Return the next message for the SDK, or None at the end of them.

        It does not see `_meta`, whose names it would put over the arguments. Whoever sends a
        notification of the kind "$/…" expects that it may be let be.
        """
        while (message := await super().receive()) is not None:
            if str(message.get("method", "")).startswith("$/") and "id" not in message:
                continue
            if isinstance(message.get("params"), dict):
                message["params"].pop("_meta", None)
            return message
        return None

    async def send(self, message: Message) -> None:
        await super().send(message)
        if self._on_sent:
            await self._on_sent(message)
