"""Builds what all screens stand on: the settings, the project with its data, and a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from config import IS_INSTALLED, ROOT, Settings, load
from modules.cli.args import Args
from modules.translator import Translator
from utils.i18n import Phrase, UserError, phrase
from utils.system.streams import print_error

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from core.main_terminal import MainTerminal
    from modules.app_context import AppContext
    from modules.race.kept_races import Racer
    from modules.settings.live import LiveSettings
    from modules.spending.ledger import Ledger

Terminal = TypeVar("Terminal", bound="MainTerminal")


def settings_of(options: Args) -> Settings:
    return load(
        {
            "mode": options.mode,
            "model": options.model,
            "protocol": options.protocol,
            "approve": "all" if options.machine else options.approve,
            "operations_log": options.log or None,
            "plain": options.plain or None,
            "trace": options.trace,
            "verify": True if options.verify else False if options.no_verify else None,
            "task_budget": options.budget,
            "when": options.when,
            "web_terminal": options.terminal,
        },
        option_names={
            "operations_log": "--log",
            "task_budget": "--budget",
            "web_terminal": "--terminal",
        },
    )


def check_machine() -> None:
    """Raise `UserError` where this is not evidently a container or a virtual machine."""
    from modules.sandbox.backends.machine_evidence import machine_evidence

    if not machine_evidence():
        raise UserError(
            phrase(
                "--machine gives the agent this whole machine, which does not look like a "
                "container or a virtual machine. To do it anyway: --machine=yes-this-one."
            )
        )


def working_folder(project: str | None, notify: Callable[[Phrase], None]) -> Path:
    """Return the folder of the *project* named, or the current one. Raises `UserError`."""
    from modules.app_context import work_folder

    return work_folder(project, None if IS_INSTALLED else ROOT, notify)


def lay_ground(
    options: Args, settings: Settings, translator: Translator, *, is_quiet: bool = False
) -> AppContext:
    """Open the project and the data; `UserError` says why one of them cannot be used.

    What is to be known about the project is told, unless *is_quiet*: then somebody else tells it.
    """
    from modules.app_context import AppContext
    from modules.files import encodings
    from modules.files.git.person_identity import set_identity

    encodings.set_preferred(settings.encoding)
    set_identity(*settings.git_identity)

    def notify(what: Phrase) -> None:
        if not is_quiet:
            print_error(translator.render(what))

    folder = working_folder(options.project, notify)
    app_context = AppContext.of(
        *(folder, settings.data_dir, settings.api_keys),
        root=ROOT,
        loader_paths=settings.loader_paths,
        may_be_whole_disk=bool(options.machine),
    )
    if app_context.project.is_whole_disk:
        notify(phrase("The project is the whole disk: changes cannot be undone here."))
    elif notice := app_context.project.own_code.notice():
        notify(notice)
    if options.task is None:  # a single task says for itself what it could not keep
        app_context.data.check_writable()
    return app_context


def furnish(
    create: Callable[..., Terminal],
    app_context: AppContext,
    settings: Settings,
    *,
    is_practice: bool,
    is_machine: bool = False,
    ledger: Ledger | None = None,
    live: LiveSettings[Settings] | None = None,
) -> Terminal:
    """Return the terminal that *create* makes of the tools and the settings; see `build_features`
    for *ledger* and *live*.
    """
    from modules.prompts import prompt, system_prompt
    from modules.race.feature import Race
    from modules.storage.kept_approvals import KeptApprovals
    from modules.toolbox import build_features
    from utils.waiting import Stop

    stop = Stop()
    instructions = system_prompt(app_context.data.own_system_prompt)
    if is_practice:  # who only practises searches no web
        settings = replace(settings, tavily_api_key="")
    terminal = create(
        feature_list=build_features(
            *(app_context.project, app_context.data, app_context.store, stop, settings),
            instructions,
            is_machine=is_machine,
            ledger=ledger,
            live=live,
        ),
        store=app_context.store,
        project=app_context.project.name,
        system_prompt=instructions,
        summary_prompt=prompt("digest"),
        list_paths=app_context.project.files,
        mode=settings.mode,
        approval_mode=settings.approve,
        step_limit=settings.step_limit,
        context_limit=settings.context_limit,
        budget_usd=settings.budget_usd,
        is_practice=is_practice,
        stop=stop,
    )
    if is_machine:
        terminal.approval.outside = "allow"
    terminal.approval.kept = KeptApprovals(app_context.data.approvals)
    app_context.failures.add_redactor(terminal.redact)
    if race := terminal.features.find(Race):
        race.open_racer = partial(_open_racer, terminal, settings, is_practice, is_machine)
    return terminal


def _open_racer(
    origin: MainTerminal,
    settings: Settings,
    is_practice: bool,
    is_machine: bool,
    folder: Path,
    racer: Racer,
) -> AbstractContextManager[MainTerminal]:
    from modules.assembly.racers import RacerOpener  # for races only

    return RacerOpener(origin, settings, furnish, is_practice, is_machine)(folder, racer)
