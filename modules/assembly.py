"""Puts together what the command line asks for: the model's client, the ground, the screens.

This is the only place that builds things, and the only one that sees both screens. Each is loaded
only when it is wanted.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from config import DEEPSEEK, ROOT, VERSION, Settings, load, unknown_names
from modules.cli.options import Options, parse
from modules.words import Words
from utils.clean import visible
from utils.own_command import own_command
from utils.phrases import Phrase, Problem, phrase
from utils.streams import print_error

if TYPE_CHECKING:
    from core.main_terminal import MainTerminal
    from core.web_terminal import Packet, WebTerminal
    from modules.cli.model import Make
    from modules.cli.plain import PlainScreen
    from modules.ground import Ground
    from modules.toolbox import Choices
    from utils.llm.provider import Provider
    from utils.llm.providers import ModelClient, Open

Terminal = TypeVar("Terminal", bound="MainTerminal")


def run(argv: list[str], words: Words) -> int:
    """Do what the command line *argv* says; return the exit code. Raises `Problem`."""
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
            from modules.cli.menu import choose

            options = choose(options, words, load().data_dir / "answers.json")
        return run_as_said(options, words)
    except Problem as problem:
        if options.task is not None and options.output != "text":
            print_failure(options, words, problem)
        raise


def follow_log(options: Options, words: Words) -> None:
    """Show the operations log of the project until Ctrl-C. Raises `Problem`."""
    from modules.cli.follow import follow
    from modules.data_folder import DataFolder
    from modules.ground import work_folder

    folder = work_folder(options.project, ROOT, lambda what: print_error(words.say(what)))
    if not folder.is_dir():
        raise Problem(
            phrase("The project folder {path} does not exist.", path=visible(str(folder)))
        )
    follow(DataFolder.operations_of(DataFolder.place(load().data_dir, folder)), words)


def with_imported(options: Options, words: Words) -> Options:
    """Make a session of the file that *options* name; return what goes on with it.

    Its id is printed where nothing does. Raises `Problem`.
    """
    from modules.import_history import import_history
    from modules.secrets import Secrets

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


def print_failure(options: Options, words: Words, problem: Problem) -> None:
    """Tell a program that reads our JSON what kept the task from being begun."""
    screen = plain_screen(options, words, named_folder(options))
    screen.fail(problem.what)
    screen.finish()


def named_folder(options: Options) -> str:
    """Return the folder that *options* want, as they say it where there can be none."""
    from modules.ground import work_folder

    try:
        return str(work_folder(options.project, ROOT, lambda _: None))
    except Problem:
        return options.project or ""


def plain_screen(options: Options, words: Words, project: str) -> PlainScreen:
    from modules.cli.plain import PlainScreen

    opening = options.task or "" if options.resume is None else ""
    out, err = sys.stdout, sys.stderr
    return PlainScreen(options.output, out, err, words, project=project, opening=opening)


def run_as_said(options: Options, words: Words) -> int:
    """Do what *options* say; return the exit code. Raises `Problem`."""
    settings = load(
        {
            "mode": options.mode,
            "model": options.model,
            "approve": options.approve,
            "operations_log": options.log or None,
        }
    )
    if options.attach:
        from modules.cli.attach import attach

        return attach(settings.data_dir, options.port, words, session=options.resume)
    if options.web:
        return run_web(options, settings, words)
    return run_terminal(options, settings, words)


def run_terminal(options: Options, settings: Settings, words: Words) -> int:
    """Run a dialogue, or the one task of `-p`, and return the exit code. Raises `Problem`."""
    from core.main_terminal import MainTerminal

    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, words, stack)
        task = prepared_task(options, model, words)
        ground = lay_ground(options, settings, words)
        make = partial(MainTerminal, model=model)
        terminal = furnish(make, ground, settings, is_practice=is_practice)
        stack.callback(terminal.close)
        if options.resume is not None:
            terminal.resume(options.resume)
            if options.approve:
                terminal.approval.mode = settings.approve
            if options.mode:
                terminal.mode = options.mode
        if task is not None:
            from modules.cli.task import run_task

            screen = plain_screen(options, words, str(ground.project.root))
            return run_task(terminal, task, screen, ground.failures)
        from modules.cli.dialogue import run_dialogue
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


def prepared_task(options: Options, model: ModelClient, words: Words) -> str | None:
    """Return the task of `-p` with what is piped in, the *model* being warmed up meanwhile.

    None is for a dialogue, which warms it up behind its prompt. Raises `Problem`.
    """
    if options.task is None:
        return None
    from modules.cli.task import read_task

    if not options.is_command:
        in_background(model.warm)
    return read_task(options.task, lambda what: print_error(words.say(what)))


def in_background(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="warm", daemon=True).start()


def run_web(options: Options, settings: Settings, words: Words) -> int:
    """Serve the browser page until Ctrl-C; return the exit code. Raises `Problem`."""
    from core.web_terminal import WebTerminal
    from modules.web.place import Place
    from modules.web.server import WebHouse, serve

    place = Place.of(options.host, options.port, options.allow_remote, options.async_mode)
    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, words, stack)
        in_background(model.warm)
        ground = lay_ground(options, settings, words)

        def open_terminal(emit: Callable[[Packet], None]) -> WebTerminal:
            # Each session may change its model by name.
            make = partial(WebTerminal, emit=emit, model=model.another())
            return furnish(make, ground, settings, is_practice=is_practice)

        house = WebHouse(
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
    options: Options, settings: Settings, words: Words, stack: ExitStack
) -> tuple[ModelClient, bool]:
    """Return the client of the models, and whether that is the practice model.

    Raises `Problem` when there is no key for what needs one, and nobody to ask.
    """
    from modules.cli.model import Access, choose_model
    from utils.llm.provider import split, usable
    from utils.llm.providers import ModelClient, no_key

    make, open_client = client_makers(settings)
    url = settings.deepseek_base_url
    providers = usable(settings.all_providers, is_strict=url == DEEPSEEK)
    named, model = split(settings.model, providers)
    if named and not (named.is_ready or options.is_command or options.offline):
        raise no_key(named)
    access = Access(
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
    from modules.server_profiles import ServerProfiles
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
    options: Options, settings: Settings, words: Words, *, is_quiet: bool = False
) -> Ground:
    """Open the project and the data; `Problem` says why one of them cannot be used.

    What is to be known about the project is told, unless *is_quiet*: then somebody else tells it.
    """
    from modules.files import encodings
    from modules.ground import Ground, work_folder

    encodings.prefer(settings.encoding)

    def tell(what: Phrase) -> None:
        if not is_quiet:
            print_error(words.say(what))

    folder = work_folder(options.project, ROOT, tell)
    ground = Ground.of(folder, settings.data_dir, settings.keys, root=ROOT, loaded=settings.loaded)
    if said := ground.project.own.said():
        tell(said)
    if options.task is None:  # a single task says for itself what it could not keep
        ground.data.check_writable()
    return ground


def furnish(
    make: Callable[..., Terminal], ground: Ground, settings: Settings, *, is_practice: bool
) -> Terminal:
    """Return the terminal that *make* makes of the tools and the settings."""
    from modules.prompts import prompt
    from modules.toolbox import families
    from utils.waiting import Stop

    stop = Stop()
    choices = choices_of(settings, prompt("system"), is_practice=is_practice)
    terminal = make(
        families=families(ground.project, ground.data, ground.store, stop, choices),
        store=ground.store,
        project=ground.project.name,
        system_text=choices.system_text,
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


def choices_of(settings: Settings, system_text: str, *, is_practice: bool) -> Choices:
    """Return what *settings* say about the families; who only practises searches no web."""
    from modules.toolbox import Choices

    return Choices(
        system_text=system_text,
        context_limit=settings.context_limit,
        search_key="" if is_practice else settings.tavily_api_key,
        search_url=settings.tavily_base_url,
        allow_unsandboxed=settings.allow_unsandboxed,
        hide_secrets=settings.hide_secrets,
        known_secrets=settings.secrets,
        operations_log=settings.operations_log,
        keep_json=settings.keep_json,
        network_hosts=settings.network_hosts,
        run_seconds=settings.run_seconds,
        call_seconds=settings.call_seconds,
        pip_variables=settings.pip_variables,
        checkpoint_file_bytes=settings.checkpoint_file_mb * 1_000_000,
        checkpoint_total_bytes=settings.checkpoint_total_mb * 1_000_000,
        checkpoint_days=settings.checkpoint_days,
    )
