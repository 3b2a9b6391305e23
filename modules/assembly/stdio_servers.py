"""Servers on standard input and output: `acp` for editors, `mcp` for programs."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import ROOT, VERSION, Settings, full_version, load
from modules.assembly.build import check_machine, furnish, lay_ground, settings_of, working_folder
from modules.assembly.model import end_start_in_background, model_for
from modules.cli.args import Args, parse
from modules.translator import Translator
from utils.i18n import BadUsage, UserError, phrase

if TYPE_CHECKING:
    from core.loop.approval import OutsidePolicy
    from core.main_terminal import MainTerminal
    from modules.acp.open_sessions import Workplace
    from modules.mcp_server.session import Workplace as McpWorkplace
    from utils.llm.providers import ModelClient

_EXTRAS = ROOT / "requirements-extras.txt"


def run_acp(argv: list[str], translator: Translator) -> int:
    """Serve an editor until it goes away; return the exit code. Raises `UserError`."""
    if "--help" in argv and isinstance(shown := parse(argv, translator, version=full_version), int):
        return shown  # whether or not the package is there
    try:
        from modules.acp.authentication import LOGIN_OPTION
        from modules.acp.server import serve
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("acp", "pydantic"):
            raise
        raise UserError(
            phrase(
                "Editor support needs the package agent-client-protocol. Install it: {command}",
                command=_extras_command(),
            )
        ) from None
    if argv == [LOGIN_OPTION]:
        from modules.cli.api_key import log_in

        return log_in(load().deepseek_api_key, load().data_dir / "config.toml", translator)
    options = parse(argv, translator, version=full_version)
    if isinstance(options, int):
        return options
    for name in options.of_other_screens:
        raise _meaningless(name, "acp")
    if options.machine == "evident":
        check_machine()
    with ExitStack() as stack:
        return serve(acp_workplace(options, translator, stack), translator, VERSION)


def acp_workplace(options: Args, translator: Translator, stack: ExitStack) -> Workplace:
    """Return what editors work with; the model is looked for when it is needed first."""
    from core.main_terminal import MainTerminal
    from modules.acp.open_sessions import ProjectAccess, Workplace
    from modules.storage.data_folder import DataFolder

    @cache  # but not where it fails: the key may be there the next time
    def connect() -> tuple[ModelClient, bool]:
        return model_for(options, settings_of(options), translator, stack)

    def open_project(folder: Path) -> ProjectAccess:
        settings = settings_of(options)
        app_context = lay_ground(replace(options, project=str(folder)), settings, translator)

        def open_terminal() -> MainTerminal:
            model, is_practice = connect()
            return furnish(
                partial(MainTerminal, model=model.for_other_conversation()),
                app_context,
                settings,
                is_practice=is_practice,
                is_machine=bool(options.machine),
            )

        def close() -> None:
            app_context.store.close()
            app_context.project.close()

        return ProjectAccess(
            app_context.project,
            app_context.data.sockets,
            app_context.store,
            app_context.failures,
            open_terminal,
            close,
        )

    return Workplace(
        find_folder=lambda path: working_folder(path, lambda _: None),
        has_data=lambda folder: DataFolder.path_for(load().data_dir, folder).is_dir(),
        open_project=open_project,
        check_model=lambda: end_start_in_background(connect()[0]),
    )


def run_mcp(argv: list[str], translator: Translator) -> int:
    """Serve a client until it goes away; return the exit code. Raises `UserError`."""
    options = parse(argv, translator, version=full_version)
    if isinstance(options, int):  # whether or not the package is there
        return options
    for name in options.of_other_screens:
        if name not in ("--project", "--resume"):
            raise _meaningless(name, "mcp")
    if options.machine == "evident":
        check_machine()
    try:
        from modules.mcp_server.server import serve
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in ("mcp", "mcp_types", "anyio", "pydantic"):
            raise
        raise UserError(
            phrase(
                "The MCP server needs the package mcp. Install it: {command}",
                command=_extras_command(),
            )
        ) from None
    with ExitStack() as stack:
        return serve(mcp_workplace(options, translator, stack), translator, VERSION)


def mcp_workplace(options: Args, translator: Translator, stack: ExitStack) -> McpWorkplace:
    """Return what a client works in; only its tasks need a model. Raises `UserError`."""
    from core.main_terminal import MainTerminal
    from modules.mcp_server.session import Workplace as McpWorkplace

    settings = settings_of(options)
    app_context = lay_ground(options, settings, translator)
    without_key = replace(options, task="/")  # as slash commands, calls are the client's to make
    model, is_practice = model_for(without_key, settings, translator, stack)
    terminal = furnish(
        partial(MainTerminal, model=model, reads_along=False),
        app_context,
        settings,
        is_practice=is_practice,
        is_machine=bool(options.machine),
    )
    if not options.machine:  # a client may answer its own questions
        terminal.approval.outside = _outside_policy(settings)
    if options.resume is not None:
        terminal.resume(options.resume)

    def check_model() -> None:
        if is_practice:
            return
        with ExitStack() as unused:
            model_for(replace(options, task="-"), settings, translator, unused)

    return McpWorkplace(terminal, str(app_context.project.root), app_context.failures, check_model)


def _outside_policy(settings: Settings) -> OutsidePolicy:
    if not settings.allow_outside:
        return "refuse"
    return "allow" if settings.approve == "all" else "ask"


def _extras_command() -> str:
    """Return the command that installs what only some need."""
    return f"{shlex.quote(sys.executable)} -m pip install -r {shlex.quote(str(_EXTRAS))}"


def _meaningless(option: str, command: str) -> BadUsage:
    return BadUsage(
        phrase("{option} cannot be used with {command}.", option=option, command=command)
    )
