"""The tool tester, for `--tools` and for the page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import Settings
from modules.assembly.build import furnish, lay_ground
from modules.assembly.model import model_for
from modules.cli.args import Args
from modules.translator import Translator

if TYPE_CHECKING:
    from core.main_terminal import MainTerminal
    from modules.app_context import AppContext
    from modules.tool_tester.tester import ToolTester
    from utils.llm.providers import ModelClient


def run_tool_tester(options: Args, settings: Settings, translator: Translator) -> int:
    """Try the tools, and return the exit code. Raises `UserError`."""
    from modules.cli.tool_dialogue import run_tool_tester as run
    from modules.tool_tester.cases import ToolCases

    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, translator, stack)
        app_context = lay_ground(options, settings, translator)
        stack.callback(app_context.store.close)
        tester = tool_tester(
            options, settings, translator, app_context, model, is_practice=is_practice
        )
        stack.callback(tester.close)
        return run(
            tester,
            ToolCases(app_context.data.tool_cases),
            app_context.project.root,
            translator,
            wanted=options.tools or "",
            is_json=options.output != "text",
        )


def tool_tester(
    options: Args,
    settings: Settings,
    translator: Translator,
    app_context: AppContext,
    model: ModelClient,
    *,
    is_practice: bool,
    is_remote: bool = False,
) -> ToolTester:
    """Return a tester of the tools in the project of *app_context*; *model* is never asked.

    Whoever *is_remote* runs nothing outside the sandbox.
    """
    from core.main_terminal import MainTerminal
    from modules.tool_tester.tester import ToolTester

    def open_terminal(folder: Path | None) -> tuple[MainTerminal, Callable[[], None]]:
        with ExitStack() as stack:
            context = app_context
            if folder is not None:
                there = replace(options, project=str(folder))
                context = lay_ground(there, settings, translator, is_quiet=True)
                stack.callback(context.project.close)
                stack.callback(context.store.close)
            terminal = furnish(
                partial(MainTerminal, model=model.for_other_conversation()),
                context,
                settings,
                is_practice=is_practice,
                is_machine=bool(options.machine),
            )
            stack.callback(terminal.close)
            if is_remote:
                terminal.approval.outside = "refuse"
            return terminal, stack.pop_all().close

    return ToolTester(open_terminal, app_context.project.root, settings.data_dir)
