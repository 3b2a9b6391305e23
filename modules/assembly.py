"""Puts together what the command line asks for: the model's client, the project, the screens.

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
    from core.conversation.transcript import Packet
    from core.main_terminal import MainTerminal
    from core.web_terminal import WebTerminal
    from modules.app_context import AppContext
    from modules.cli.model_access import CreateClient
    from modules.cli.print_mode import PlainScreen
    from utils.llm.provider import Provider
    from utils.llm.providers import ModelClient, OpenClient
    from utils.pictures import Picture

Terminal = TypeVar("Terminal", bound="MainTerminal")


def run(argv: list[str], translator: Translator) -> int:
    """Do what the command line *argv* says; return the exit code. Raises `UserError`."""
    options = parse(argv, translator, version=VERSION)
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


def follow_log(options: Args, translator: Translator) -> None:
    """Show the operations log of the project until Ctrl-C. Raises `UserError`."""
    from modules.app_context import work_folder
    from modules.cli.follow_log import follow
    from modules.storage.data_folder import DataFolder

    folder = work_folder(options.project, ROOT, lambda what: print_error(translator.render(what)))
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
            settings.secrets,
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
        print_error(translator.render(phrase("To go on: {command}", command=resume_command)))
    return replace(options, import_file=None, resume=imported.session)


def print_failure(options: Args, translator: Translator, error: UserError) -> None:
    """Tell a program that reads our JSON what kept the task from being begun."""
    screen = plain_screen(options, translator, shown_folder(options))
    screen.fail(error.message)
    screen.finish()


def shown_folder(options: Args) -> str:
    """Return the folder that *options* want, as they say it where there can be none."""
    from modules.app_context import work_folder

    try:
        return str(work_folder(options.project, ROOT, lambda _: None))
    except UserError:
        return options.project or ""


def plain_screen(options: Args, translator: Translator, project: str) -> PlainScreen:
    from modules.cli.print_mode import PlainScreen

    first_line = options.task or "" if options.resume is None else ""
    out, err = sys.stdout, sys.stderr
    return PlainScreen(options.output, out, err, translator, project=project, first_line=first_line)


def run_options(options: Args, translator: Translator) -> int:
    """Do what *options* say; return the exit code. Raises `UserError`."""
    if options.machine == "evident":
        check_machine()
    settings = load(
        {
            "mode": options.mode,
            "model": options.model,
            "approve": "all" if options.machine else options.approve,
            "operations_log": options.log or None,
        }
    )
    if options.attach:
        from modules.cli.attach.client import attach

        return attach(settings.data_dir, options.port, translator, session=options.resume)
    if options.web:
        return run_web(options, settings, translator)
    return run_terminal(options, settings, translator)


def check_machine() -> None:
    """Raise `UserError` where this is not evidently a container or a virtual machine."""
    from modules.sandbox.backends.machine_evidence import machine_evidence

    if not machine_evidence():
        raise UserError(
            phrase(
                "--machine gives all of this machine to the agent, and nothing shows that it is a "
                "container or a virtual machine. If you mean it: --machine=yes-this-one."
            )
        )


def run_terminal(options: Args, settings: Settings, translator: Translator) -> int:
    """Run a dialogue, or the one task of `-p`, and return the exit code. Raises `UserError`."""
    from core.main_terminal import MainTerminal

    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, translator, stack)
        task = prepare_task(options, model, translator)
        app_context = lay_ground(options, settings, translator)
        create = partial(MainTerminal, model=model)
        terminal = furnish(
            create, app_context, settings, is_practice=is_practice, is_machine=bool(options.machine)
        )
        stack.callback(terminal.close)
        terminal.load_pictures = partial(load_named_pictures, terminal, app_context.project.root)
        if options.resume is not None:
            begun_with = model.choice
            terminal.resume(options.resume)
            if options.model:
                model.use(begun_with)
            if options.approve or options.machine:
                terminal.approval.mode = settings.approve
            if options.mode:
                terminal.mode = options.mode
        if task is not None:
            from modules.cli.print_task import run_task
            from modules.jobs.feature import Jobs

            is_allowed = settings.allow_outside or options.machine
            terminal.approval.outside = "allow" if is_allowed else "refuse"
            if jobs := terminal.features.find(Jobs):
                jobs.ends_with_task = True
            screen = plain_screen(options, translator, str(app_context.project.root))
            return run_task(terminal, task, screen, app_context.failures, options.task or "")
        from modules.cli.repl import run_repl
        from modules.toolbox import announcement_lines

        return run_repl(
            terminal,
            translator,
            history_file=app_context.data.input_history,
            failures=app_context.failures,
            header=announcement_lines(terminal.features),
            start_options=("--cli", "--project", str(app_context.project.root)),
            warm=model.warm,
        )


def load_named_pictures(terminal: MainTerminal, folder: Path, line: str) -> Sequence[Picture]:
    """Keep the pictures that *line* names, and return them. Raises `UserError`."""
    if "/" not in line and "@" not in line:
        return ()
    from modules.pictures.feature import Pictures
    from modules.pictures.mentions import add_mentioned_pictures

    pictures = terminal.features.find(Pictures)
    return add_mentioned_pictures(line, folder, pictures.add) if pictures else ()


def prepare_task(options: Args, model: ModelClient, translator: Translator) -> str | None:
    """Return the task of `-p` with what is piped in, the *model* being warmed up meanwhile.

    None is for a dialogue, which warms it up behind its prompt. Raises `UserError`.
    """
    if options.task is None:
        return None
    from modules.cli.print_task import read_task

    if not options.is_command:
        warm_in_background(model.warm)
    return read_task(options.task, lambda what: print_error(translator.render(what)))


def warm_in_background(warm: Callable[[], None]) -> None:
    threading.Thread(target=warm, name="warm", daemon=True).start()


def run_web(options: Args, settings: Settings, translator: Translator) -> int:
    """Serve the browser page until Ctrl-C; return the exit code. Raises `UserError`."""
    from core.web_terminal import WebTerminal
    from modules.web.server import ServerConfig, serve
    from modules.web.servers.bind import BindAddress

    bind_address = BindAddress.of(
        options.host, options.port, options.allow_remote, options.async_mode
    )
    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, translator, stack)
        warm_in_background(model.warm)
        app_context = lay_ground(options, settings, translator)

        def open_terminal(emit: Callable[[Packet], None]) -> WebTerminal:
            # Each session may change its model by name.
            make = partial(WebTerminal, emit=emit, model=model.for_other_conversation())
            terminal = furnish(
                make,
                app_context,
                settings,
                is_practice=is_practice,
                is_machine=bool(options.machine),
            )
            if not (bind_address.is_local or settings.allow_outside or options.machine):
                terminal.approval.outside = "refuse"
            return terminal

        server_config = ServerConfig(
            project=app_context.project,
            data=app_context.data,
            store=app_context.store,
            open_terminal=open_terminal,
            version=VERSION,
            language=settings.language,
            model=model.model,
            is_practice=is_practice,
            log=app_context.failures,
            start="" if options.resume is None else app_context.store.find(options.resume),
        )
        return serve(bind_address, server_config, translator, settings.data_dir)


def model_for(
    options: Args, settings: Settings, translator: Translator, stack: ExitStack
) -> tuple[ModelClient, bool]:
    """Return the client of the models, and whether that is the practice model.

    Raises `UserError` when there is no key for what needs one, and nobody to ask.
    """
    from modules.cli.model_access import ModelAccess, choose_model
    from utils.llm.account import DEEPSEEK_ACCOUNT
    from utils.llm.provider import DEFAULT_PROVIDER, Provider, split_model_name, usable
    from utils.llm.providers import ModelClient, missing_key

    create_client, open_client = client_factories(settings)
    url = settings.deepseek_base_url
    providers = usable(settings.all_providers, is_strict=url == DEEPSEEK)
    provider, model = split_model_name(settings.model, providers)
    if provider and not (provider.is_ready or options.is_command or options.offline):
        raise missing_key(provider)
    access = ModelAccess(
        url=url,
        key=settings.deepseek_api_key,
        model=model,
        is_default_server=url == DEEPSEEK and not provider,
        config=settings.data_dir / "config.toml",
    )
    default_client, is_practice = choose_model(options, access, create_client, translator, stack)
    if is_practice:  # nobody's names but its, and no session keeps it
        return ModelClient(default_client, default_client.model, {}, open_client), True
    usual = Provider(
        name=DEFAULT_PROVIDER,
        base_url=default_client.choice.server,
        key=access.key,
        account=DEEPSEEK_ACCOUNT,
    )
    name = settings.model
    if default_client.model != model:  # chosen just now: nobody's names but its
        name, providers = default_client.model, {}
    return ModelClient(default_client, name, providers, open_client, usual), False


def client_factories(settings: Settings) -> tuple[CreateClient, OpenClient]:
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

    def create_client(base_url: str, key: str, model: str) -> ApiClient:
        return create(base_url, key, model=model)

    def open_client(provider: Provider, model: str) -> ApiClient:
        return create(provider.base_url, provider.key, model=model, api=api_of(provider))

    return create_client, open_client


def lay_ground(
    options: Args, settings: Settings, translator: Translator, *, is_quiet: bool = False
) -> AppContext:
    """Open the project and the data; `UserError` says why one of them cannot be used.

    What is to be known about the project is told, unless *is_quiet*: then somebody else tells it.
    """
    from modules.app_context import AppContext, work_folder
    from modules.files import encodings

    encodings.set_preferred(settings.encoding)

    def notify(what: Phrase) -> None:
        if not is_quiet:
            print_error(translator.render(what))

    folder = work_folder(options.project, ROOT, notify)
    app_context = AppContext.of(
        folder, settings.data_dir, settings.api_keys, root=ROOT, loader_paths=settings.loader_paths
    )
    if notice := app_context.project.own_code.notice():
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
) -> Terminal:
    """Return the terminal that *create* makes of the tools and the settings."""
    from modules.prompts import prompt
    from modules.storage.kept_approvals import KeptApprovals
    from modules.toolbox import build_features
    from utils.waiting import Stop

    stop = Stop()
    system_prompt = prompt("system")
    if is_practice:  # who only practises searches no web
        settings = replace(settings, tavily_api_key="")
    terminal = create(
        feature_list=build_features(
            *(app_context.project, app_context.data, app_context.store, stop, settings),
            system_prompt,
            is_machine=is_machine,
        ),
        store=app_context.store,
        project=app_context.project.name,
        system_prompt=system_prompt,
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
    return terminal
