"""Puts together what the command line asks for: the model's client, the ground, the screens.

This is the only place that builds things, and the only one that sees both screens. Each is loaded
only when it is wanted.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from config import DEEPSEEK, ROOT, VERSION, Settings, load, unknown_names
from modules.cli.args import Args, parse
from modules.translator import Translator
from utils.i18n import Phrase, UserError, phrase
from utils.system.own_command import own_command
from utils.system.streams import print_error
from utils.text.clean import visible

if TYPE_CHECKING:
    from core.main_terminal import MainTerminal
    from core.web_terminal import Packet, WebTerminal
    from modules.app_context import AppContext
    from modules.cli.model_access import Make
    from modules.cli.print_mode import PlainScreen
    from utils.llm.provider import Provider
    from utils.llm.providers import ModelClient, Open
    from utils.pictures import Picture

Terminal = TypeVar("Terminal", bound="MainTerminal")


def run(argv: list[str], words: Translator) -> int:
    """Do what the command line *argv* says; return the exit code. Raises `UserError`."""
    options = parse(argv, words, version=VERSION)
    if isinstance(options, int):
        return options
    try:
        for warning in unknown_names():
            print_error(words.say(warning))
        if options.follow:
            follow_log(options, words)
            return 0
        if options.import_file is not None:
            options = with_imported(options, words)
            if not options.has_screen:
                return 0
        if not options.has_screen:
            from modules.cli.start_menu import choose

            options = choose(options, words, load().data_dir / "answers.json")
        return run_as_said(options, words)
    except UserError as problem:
        if options.task is not None and options.output != "text":
            print_failure(options, words, problem)
        raise


def follow_log(options: Args, words: Translator) -> None:
    """Show the operations log of the project until Ctrl-C. Raises `UserError`."""
    from modules.app_context import work_folder
    from modules.cli.follow_log import follow
    from modules.storage.data_folder import DataFolder

    folder = work_folder(options.project, ROOT, lambda what: print_error(words.say(what)))
    if not folder.is_dir():
        raise UserError(
            phrase("The project folder {path} does not exist.", path=visible(str(folder)))
        )
    follow(DataFolder.operations_of(DataFolder.place(load().data_dir, folder)), words)


def with_imported(options: Args, words: Translator) -> Args:
    """Make a session of the file that *options* name; return what goes on with it.

    Its id is printed where nothing does. Raises `UserError`.
    """
    from modules.import_history.importer import import_history
    from modules.secrets.redactor import Secrets

    settings = load({"model": options.model})
    ground = lay_ground(options, settings, words, is_quiet=options.has_screen)
    try:
        secrets = Secrets(
            ground.project.root,
            settings.secrets,
            ground.data.shows_secrets,
            is_wanted=settings.hide_secrets,
        )
        path = Path(options.import_file or "")
        done = import_history(path, ground.store, model=settings.model, blind=secrets.blind)
    finally:
        ground.store.close()
        ground.project.close()
    for line in done.report():
        print_error(words.say(line))
    if not options.has_screen:
        sys.stdout.write(f"{done.session}\n")
        there = ("--project", str(ground.project.root), "--resume", done.session)
        again = own_command("--cli", *there)
        print_error(words.say(phrase("To go on: {command}", command=again)))
    return replace(options, import_file=None, resume=done.session)


def print_failure(options: Args, words: Translator, problem: UserError) -> None:
    """Tell a program that reads our JSON what kept the task from being begun."""
    screen = plain_screen(options, words, named_folder(options))
    screen.fail(problem.what)
    screen.finish()


def named_folder(options: Args) -> str:
    """Return the folder that *options* want, as they say it where there can be none."""
    from modules.app_context import work_folder

    try:
        return str(work_folder(options.project, ROOT, lambda _: None))
    except UserError:
        return options.project or ""


def plain_screen(options: Args, words: Translator, project: str) -> PlainScreen:
    from modules.cli.print_mode import PlainScreen

    opening = options.task or "" if options.resume is None else ""
    out, err = sys.stdout, sys.stderr
    return PlainScreen(options.output, out, err, words, project=project, opening=opening)


def run_as_said(options: Args, words: Translator) -> int:
    """Do what *options* say; return the exit code. Raises `UserError`."""
    settings = load(
        {
            "mode": options.mode,
            "model": options.model,
            "approve": options.approve,
            "operations_log": options.log or None,
        }
    )
    if options.attach:
        from modules.cli.attach.client import attach

        return attach(settings.data_dir, options.port, words, session=options.resume)
    if options.web:
        return run_web(options, settings, words)
    return run_terminal(options, settings, words)


def run_terminal(options: Args, settings: Settings, words: Translator) -> int:
    """Run a dialogue, or the one task of `-p`, and return the exit code. Raises `UserError`."""
    from core.main_terminal import MainTerminal

    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, words, stack)
        task = prepared_task(options, model, words)
        ground = lay_ground(options, settings, words)
        make = partial(MainTerminal, model=model)
        terminal = furnish(make, ground, settings, is_practice=is_practice)
        stack.callback(terminal.close)
        terminal.pictures_in = partial(pictures_named, terminal, ground.project.root)
        if options.resume is not None:
            terminal.resume(options.resume)
            if options.approve:
                terminal.approval.mode = settings.approve
            if options.mode:
                terminal.mode = options.mode
        if task is not None:
            from modules.cli.print_task import run_task

            screen = plain_screen(options, words, str(ground.project.root))
            return run_task(terminal, task, screen, ground.failures, options.task or "")
        from modules.cli.repl import run_dialogue
        from modules.toolbox import announcements

        return run_dialogue(
            terminal,
            words,
            history_file=ground.data.typed,
            failures=ground.failures,
            header=announcements(terminal.families),
            start=("--cli", "--project", str(ground.project.root)),
            warm=model.warm,
        )


def pictures_named(terminal: MainTerminal, folder: Path, line: str) -> Sequence[Picture]:
    """Keep the pictures that *line* names, and return them. Raises `UserError`."""
    if "/" not in line and "@" not in line:
        return ()
    from modules.pictures.feature import Pictures
    from modules.pictures.mentions import given_in

    kept = [family for family in terminal.families if isinstance(family, Pictures)]
    return given_in(line, folder, kept[0].keep) if kept else ()


def prepared_task(options: Args, model: ModelClient, words: Translator) -> str | None:
    """Return the task of `-p` with what is piped in, the *model* being warmed up meanwhile.

    None is for a dialogue, which warms it up behind its prompt. Raises `UserError`.
    """
    if options.task is None:
        return None
    from modules.cli.print_task import read_task

    if not options.is_command:
        in_background(model.warm)
    return read_task(options.task, lambda what: print_error(words.say(what)))


def in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="warm", daemon=True).start()


def run_web(options: Args, settings: Settings, words: Translator) -> int:
    """Serve the browser page until Ctrl-C; return the exit code. Raises `UserError`."""
    from core.web_terminal import WebTerminal
    from modules.web.server import ServerConfig, serve
    from modules.web.servers.bind import BindAddress

    place = BindAddress.of(options.host, options.port, options.allow_remote, options.async_mode)
    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, words, stack)
        in_background(model.warm)
        ground = lay_ground(options, settings, words)

        def open_terminal(emit: Callable[[Packet], None]) -> WebTerminal:
            # Each session may change its model by name.
            make = partial(WebTerminal, emit=emit, model=model.another())
            return furnish(make, ground, settings, is_practice=is_practice)

        house = ServerConfig(
            project=ground.project,
            data=ground.data,
            store=ground.store,
            open_terminal=open_terminal,
            version=VERSION,
            language=settings.language,
            model=model.model,
            is_practice=is_practice,
            log=ground.failures,
            start="" if options.resume is None else ground.store.find(options.resume),
        )
        return serve(place, house, words, settings.data_dir)


def model_for(
    options: Args, settings: Settings, words: Translator, stack: ExitStack
) -> tuple[ModelClient, bool]:
    """Return the client of the models, and whether that is the practice model.

    Raises `UserError` when there is no key for what needs one, and nobody to ask.
    """
    from modules.cli.model_access import ModelAccess, choose_model
    from utils.llm.provider import split, usable
    from utils.llm.providers import ModelClient, no_key

    make, open_client = client_makers(settings)
    url = settings.deepseek_base_url
    providers = usable(settings.all_providers, is_strict=url == DEEPSEEK)
    named, model = split(settings.model, providers)
    if named and not (named.is_ready or options.is_command or options.offline):
        raise no_key(named)
    access = ModelAccess(
        url=url,
        key=settings.deepseek_api_key,
        model=model,
        is_usual=url == DEEPSEEK and not named,
        config=settings.data_dir / "config.toml",
    )
    usual, is_practice = choose_model(options, access, make, words, stack)
    if usual.model == model and not is_practice:
        return ModelClient(usual, settings.model, providers, open_client), False
    return ModelClient(usual, usual.model, {}, open_client), is_practice  # nobody's names but its


def client_makers(settings: Settings) -> tuple[Make, Open]:
    """Return what makes a client of an address, and what makes one of a provider."""
    from modules.models.server_profiles import ServerProfiles
    from utils.api_client import ApiClient
    from utils.llm.apis import api_of

    profiles = ServerProfiles(settings.data_dir / "servers.json", settings.models)
    create = partial(
        ApiClient,
        max_tokens=settings.max_tokens,
        context_limit=settings.context_limit,
        prices=settings.prices,
        user_agent=f"onefold/{VERSION}",
        effort=settings.effort,
        idle_seconds=settings.idle_seconds,
        retries=settings.retries,
        profiles=profiles,
    )

    def make(base_url: str, key: str, model: str) -> ApiClient:
        return create(base_url, key, model=model)

    def open_client(provider: Provider, model: str) -> ApiClient:
        return create(provider.base_url, provider.key, model=model, api=api_of(provider))

    return make, open_client


def lay_ground(
    options: Args, settings: Settings, words: Translator, *, is_quiet: bool = False
) -> AppContext:
    """Open the project and the data; `UserError` says why one of them cannot be used.

    What is to be known about the project is told, unless *is_quiet*: then somebody else tells it.
    """
    from modules.app_context import AppContext, work_folder
    from modules.files import encodings

    encodings.prefer(settings.encoding)

    def tell(what: Phrase) -> None:
        if not is_quiet:
            print_error(words.say(what))

    folder = work_folder(options.project, ROOT, tell)
    ground = AppContext.of(
        folder, settings.data_dir, settings.keys, root=ROOT, loaded=settings.loaded
    )
    if said := ground.project.own.said():
        tell(said)
    if options.task is None:  # a single task says for itself what it could not keep
        ground.data.check_writable()
    return ground


def furnish(
    make: Callable[..., Terminal], ground: AppContext, settings: Settings, *, is_practice: bool
) -> Terminal:
    """Return the terminal that *make* makes of the tools and the settings."""
    from modules.prompts import prompt
    from modules.toolbox import families
    from utils.waiting import Stop

    stop = Stop()
    system_text = prompt("system")
    if is_practice:  # who only practises searches no web
        settings = replace(settings, tavily_api_key="")
    terminal = make(
        families=families(ground.project, ground.data, ground.store, stop, settings, system_text),
        store=ground.store,
        project=ground.project.name,
        system_text=system_text,
        digest_prompt=prompt("digest"),
        files=ground.project.files,
        mode=settings.mode,
        approval_mode=settings.approve,
        step_limit=settings.step_limit,
        context_limit=settings.context_limit,
        budget_usd=settings.budget_usd,
        is_practice=is_practice,
        stop=stop,
    )
    ground.failures.hear(terminal.blind)
    return terminal
