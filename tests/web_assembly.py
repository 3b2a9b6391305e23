"""Fixture of the real server, features and store included, on any model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from config import Settings
from core.web_terminal import WebTerminal
from modules.files.project import Project
from modules.sessions.store import Sessions
from modules.storage.data_folder import DataFolder
from modules.tool_tester.tester import ToolTester
from modules.toolbox import build_features
from modules.web.server import ServerConfig, WebServer
from modules.web.servers.bind import BindAddress
from modules.web.servers.event_loop import AsyncMode
from utils.logger import FailureLog
from utils.waiting import Stop


def assembled_server(
    folder: Path,
    make_model: Callable[[], Any],
    settings: Settings,
    *,
    system_prompt: str = "You are a test.",
    mode: AsyncMode = "threading",
    allow_remote: bool = False,
    **configured: Any,
) -> tuple[WebServer, ServerConfig]:
    """Build the server of the project `folder/project` on a free port, with what it is made of.

    *make_model* is asked for the model of each session. Again on the same *folder* is a
    restart. Whoever asked for it closes the store and the project.
    """
    settings = replace(settings, data_dir=folder / "data")
    project = Project(folder / "project")
    data = DataFolder(folder / "data", project.root)
    store = Sessions(data.sessions)

    def open_terminal(emit: Any) -> WebTerminal:
        stop = Stop()
        return WebTerminal(
            model=make_model(),
            feature_list=build_features(project, data, store, stop, settings, system_prompt),
            store=store,
            project="project",
            system_prompt=system_prompt,
            list_paths=project.files,
            emit=emit,
            stop=stop,
        )

    def open_for_tester(scratch: Path | None) -> tuple[WebTerminal, Callable[[], None]]:
        if scratch is None:
            terminal = open_terminal(lambda _: None)
            return terminal, terminal.close
        its_project = Project(scratch)
        its_data = DataFolder(folder / "data", its_project.root)
        its_store = Sessions(its_data.sessions)
        stop = Stop()
        terminal = WebTerminal(
            model=make_model(),
            feature_list=build_features(its_project, its_data, its_store, stop, settings),
            store=its_store,
            project="scratch",
            system_prompt=system_prompt,
            emit=lambda _: None,
            stop=stop,
        )

        def close() -> None:
            terminal.close()
            its_store.close()
            its_project.close()

        return terminal, close

    config = ServerConfig(
        project=project,
        data=data,
        store=store,
        open_terminal=open_terminal,
        log=FailureLog(data.log),
        make_tester=lambda: ToolTester(open_for_tester, project.root, folder / "data"),
        **configured,
    )
    address = BindAddress(port=0, async_mode=mode, allow_remote=allow_remote)
    return WebServer(address, config), config
