"""Does what the command line says: chooses the screen, and runs what has none.

Each screen is loaded only when it is wanted.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from config import Settings, full_version, load, unknown_names
from modules.assembly.build import check_machine, lay_ground, settings_of, working_folder
from modules.cli.args import Args, parse
from modules.translator import Translator
from utils.i18n import UserError, phrase
from utils.system.own_command import own_command
from utils.system.streams import print_error
from utils.text.clean import visible


def run(argv: list[str], translator: Translator) -> int:
    """Do what the command line *argv* says; return the exit code. Raises `UserError`."""
    if argv and argv[0] in ("acp", "mcp"):
        from modules.assembly.stdio_servers import run_acp, run_mcp

        serve = run_acp if argv[0] == "acp" else run_mcp
        return serve(argv[1:], translator)
    options = parse(argv, translator, version=full_version, suggest=suggest_values)
    if isinstance(options, int):
        return options
    try:
        for warning in unknown_names():
            print_error(translator.render(warning))
        if options.follow:
            follow_log(options, translator)
            return 0
        if options.import_file is not None:
            options = import_session(options, translator)
            if not options.has_screen:
                return 0
        if not options.has_screen:
            from modules.cli.start_menu import ask_how_to_start

            options = ask_how_to_start(options, translator, load().data_dir / "answers.json")
        return run_options(options, translator)
    except UserError as error:
        if options.task is not None and options.output != "text":
            print_failure(options, translator, error)
        raise


def run_options(options: Args, translator: Translator) -> int:
    """Do what *options* say; return the exit code. Raises `UserError`."""
    if options.machine == "evident":
        check_machine()
    settings = settings_of(options)
    if options.attach:
        from modules.cli.attach.client import attach
        from modules.cli.colors import Colors
        from modules.cli.screen_settings import ScreenSettings

        return attach(
            *(settings.data_dir, options.port, translator),
            session=options.resume,
            settings=ScreenSettings(
                settings.keys == "vim", Colors(settings.theme), shortcuts=settings.shortcuts
            ),
        )
    if options.web:
        from modules.assembly.web import run_web

        return run_web(options, settings, translator)
    if options.tools is not None:
        from modules.assembly.tool_tester import run_tool_tester

        return run_tool_tester(options, settings, translator)
    from modules.assembly.terminal import run_terminal

    return run_terminal(options, settings, translator)


def print_failure(options: Args, translator: Translator, error: UserError) -> None:
    """Tell a program that reads our JSON what kept the task from being begun."""
    from modules.assembly.terminal import plain_screen

    screen = plain_screen(options, translator, shown_folder(options))
    screen.fail(error.message, error.code)
    screen.finish()


def shown_folder(options: Args) -> str:
    """Return the folder that *options* want, as they say it where there can be none."""
    try:
        return str(working_folder(options.project, lambda _: None))
    except UserError:
        return options.project or ""


def suggest_values(kind: str, project: str | None) -> list[tuple[str, str]]:
    """Return the values that a shell can complete, with what they are; none where that fails."""
    try:
        settings = load()
        return model_names(settings) if kind == "model" else sessions_of(project, settings)
    except UserError:  # a shell that asks is told nothing but values
        return []


def model_names(settings: Settings) -> list[tuple[str, str]]:
    """Return the names of models that are known without asking a server."""
    from utils.llm.prices import KNOWN_PRICES

    known = (f"anthropic/{name}" if name.startswith("claude-") else name for name in KNOWN_PRICES)
    return [(name, "") for name in dict.fromkeys((settings.model, *settings.models, *known))]


def sessions_of(project: str | None, settings: Settings) -> list[tuple[str, str]]:
    """Return the ids and titles of the newest sessions of *project*. Raises `UserError`."""
    from modules.sessions.store import Sessions
    from modules.storage.data_folder import DataFolder

    folder = working_folder(project, lambda _: None)
    path = DataFolder.sessions_in(DataFolder.path_for(settings.data_dir, folder))
    if not path.exists():
        return []
    store = Sessions(path)
    try:
        return [(info.id, visible(info.title)) for info in store.sessions()]
    finally:
        store.close()


def follow_log(options: Args, translator: Translator) -> None:
    """Show the operations log of the project until Ctrl-C. Raises `UserError`."""
    from modules.cli.follow_log import follow
    from modules.storage.data_folder import DataFolder

    folder = working_folder(options.project, lambda what: print_error(translator.render(what)))
    if not folder.is_dir():
        raise UserError(
            phrase("The project folder {path} does not exist.", path=visible(str(folder)))
        )
    follow(DataFolder.operations_in(DataFolder.path_for(load().data_dir, folder)), translator)


def import_session(options: Args, translator: Translator) -> Args:
    """Make a session of the file that *options* name; return what goes on with it.

    Its id is printed where nothing does. Raises `UserError`.
    """
    from modules.import_history.importer import import_history
    from modules.secrets.redactor import Secrets

    settings = load({"model": options.model})
    app_context = lay_ground(options, settings, translator, is_quiet=options.has_screen)
    try:
        secrets = Secrets(
            app_context.project.root,
            settings.hidden_values,
            app_context.data.shows_secrets,
            is_enabled=settings.hide_secrets,
        )
        path = Path(options.import_file or "")
        imported = import_history(
            path, app_context.store, model=settings.model, redact=secrets.redact
        )
    finally:
        app_context.store.close()
        app_context.project.close()
    for line in imported.report():
        print_error(translator.render(line))
    if not options.has_screen:
        sys.stdout.write(f"{imported.session}\n")
        resume_options = ("--project", str(app_context.project.root), "--resume", imported.session)
        resume_command = own_command("--cli", *resume_options)
        print_error(translator.render(phrase("To continue: {command}", command=resume_command)))
    return replace(options, import_file=None, resume=imported.session)
