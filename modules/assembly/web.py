"""The browser page, and the server that it comes from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from config import VERSION, Settings
from modules.assembly.build import furnish, lay_ground, settings_of
from modules.assembly.live import IN_NEW_SESSIONS, FollowingTerminals
from modules.assembly.model import end_start
from modules.assembly.served_model import ServedModel
from modules.assembly.tool_tester import tool_tester
from modules.cli.args import Args
from modules.settings.live import LiveSettings
from modules.translator import Translator
from utils.i18n import UserError, phrase

if TYPE_CHECKING:
    from core.conversation.transcript import Packet
    from core.web_terminal import WebTerminal


def check_terminals(settings: Settings, host: str) -> None:
    """Raise `UserError` if terminals are wanted, but not that others reach them at *host*."""
    if settings.web_terminal == "local":
        raise UserError(
            phrase(
                "Other machines can reach {host}, and terminals would give them your shell. To "
                "allow that too, use --terminal=remote; for no terminals, web_terminal = off.",
                host=host or "''",
            )
        )


def run_web(options: Args, settings: Settings, translator: Translator) -> int:
    """Serve the browser page until Ctrl-C; return the exit code. Raises `UserError`."""
    from core.web_terminal import WebTerminal
    from modules.web.server import ServerConfig, serve
    from modules.web.servers.bind import BindAddress
    from modules.web.servers.http_servers import load_libraries

    bind_address = BindAddress.of(
        options.host, options.port, options.allow_remote, options.async_mode
    )
    if bind_address.allow_remote:
        check_terminals(settings, bind_address.host)
    load_libraries(bind_address.async_mode)
    live = LiveSettings(settings, partial(settings_of, options), IN_NEW_SESSIONS)
    live.follow(("lang",), lambda now, _: translator.use(now.language))
    live.follow(("theme", "shortcuts"), lambda *_: None)
    terminals = FollowingTerminals(live)
    with ExitStack() as stack:
        model = ServedModel(options, live, translator, stack, terminals)
        app_context = lay_ground(options, settings, translator)

        is_remote = bind_address.allow_remote and not (settings.allow_outside or options.machine)

        def open_terminal(emit: Callable[[Packet], None]) -> WebTerminal:
            # Each session may change its model by name.
            make = partial(WebTerminal, emit=emit, model=model.for_session())
            terminal = furnish(
                make,
                app_context,
                live.now,
                is_practice=model.is_practice,
                is_machine=bool(options.machine),
                live=live,
            )
            terminals.add(terminal)
            if is_remote:
                terminal.approval.outside = "refuse"
            return terminal

        server_config = ServerConfig(
            project=app_context.project,
            data=app_context.data,
            store=app_context.store,
            open_terminal=open_terminal,
            version=VERSION,
            language=settings.language,
            theme=lambda: live.now.theme,
            shortcuts=lambda: live.now.shortcuts,
            model=model,
            log=app_context.failures,
            shell_environment=(
                None if settings.web_terminal == "off" else settings.shell_environment
            ),
            start="" if options.resume is None else app_context.store.find(options.resume),
            make_tester=partial(
                tool_tester,
                *(options, settings, translator, app_context, model.client),
                is_practice=model.is_practice,
                is_remote=is_remote,
            ),
        )
        return serve(
            *(bind_address, server_config, translator, settings.data_dir),
            partial(end_start, model.client),
        )
