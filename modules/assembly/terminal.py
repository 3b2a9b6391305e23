"""The terminal: a dialogue, or the one task of `-p`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import Settings
from core.conversation.messages import StateRecord
from modules.agents.feature import Agents, BegunTask
from modules.assembly.build import furnish, lay_ground, settings_of
from modules.assembly.live import SERVER_SETTINGS, follow_in_terminal, hide_keys
from modules.assembly.model import end_start, end_start_in_background, model_for, renew_servers
from modules.cli.args import Args
from modules.cli.colors import Colors
from modules.cli.screen_settings import ScreenSettings
from modules.jobs.feature import Jobs
from modules.memory_manager import Memory
from modules.settings.feature import SettingsCommand
from modules.settings.live import LiveSettings
from modules.translator import Translator
from utils.i18n import Text
from utils.system.own_command import own_words
from utils.system.streams import print_error

if TYPE_CHECKING:
    from core.hooks import ProvidesWarnings
    from core.main_terminal import MainTerminal
    from modules.answer_schema import AnswerSchema
    from modules.app_context import AppContext
    from modules.cli.print_mode import PlainScreen
    from modules.cli.render.attention import Attention
    from utils.llm.providers import ModelClient
    from utils.pictures import Picture


def run_terminal(options: Args, settings: Settings, translator: Translator) -> int:
    """Run a dialogue, or the one task of `-p`, and return the exit code. Raises `UserError`."""
    from core.main_terminal import MainTerminal

    schema = load_schema(options)
    with ExitStack() as stack:
        model, is_practice = model_for(options, settings, translator, stack)
        task = prepare_task(options, model, translator)
        app_context = lay_ground(options, settings, translator)
        create = partial(MainTerminal, model=model)
        live = LiveSettings(settings, partial(settings_of, options))
        terminal = furnish(
            *(create, app_context, settings),
            is_practice=is_practice,
            is_machine=bool(options.machine),
            live=live,
        )
        stack.callback(leave, terminal, translator)
        terminal.load_pictures = partial(load_named_pictures, terminal, app_context.project.root)
        if options.resume is not None:
            resume_session(terminal, options.resume, model, options, settings)
        if task is None:
            if not is_practice:
                follow_servers(live, terminal, model)
            return run_dialogue(terminal, app_context, options.message, model, translator, live)
        is_allowed = settings.allow_outside or options.machine
        terminal.approval.outside = "allow" if is_allowed else "refuse"
        if memory := terminal.features.find(Memory):
            memory.offers_decisions = False
        screen = plain_screen(
            options,
            translator,
            str(app_context.project.root),
            fails_on_red=_fails_on_red(settings, options.task or ""),
        )
        prepare_for_task(terminal, schema)
        tell_what_is_not_kept(terminal, settings, translator)
        from modules.cli.print_task import run_task

        typed = options.task or ""
        return run_task(terminal, task, screen, app_context.failures, typed, schema)


def leave(terminal: MainTerminal, translator: Translator) -> None:
    """Close *terminal*, and say what came of the jobs that ended with it."""
    terminal.close()
    if jobs := terminal.features.find(Jobs):
        for what in jobs.news():
            print_error(terminal.redact(translator.render(what)))


def resume_session(
    terminal: MainTerminal, session: str, model: ModelClient, options: Args, settings: Settings
) -> None:
    """Go on with *session*, but as *options* say where they say something. Raises `UserError`."""
    begun_with = model.choice
    terminal.resume(session)
    if options.model:
        model.use(begun_with)
    if options.approve or options.machine:
        terminal.approval.mode = settings.approve
    if options.mode:
        terminal.mode = options.mode


def prepare_for_task(terminal: MainTerminal, schema: AnswerSchema | None) -> None:
    """Have jobs end with the task, its answer match *schema*, and a race take what it proposes."""
    from modules.answer_schema import AnswerFormat
    from modules.race.feature import Race

    if jobs := terminal.features.find(Jobs):
        jobs.ends_with_task = True
    if race := terminal.features.find(Race):
        race.takes_proposed = True
    if schema and (answer_format := terminal.features.find(AnswerFormat)):
        answer_format.schema = schema


def tell_what_is_not_kept(
    terminal: MainTerminal, settings: Settings, translator: Translator
) -> None:
    """Say where no budget and no trace can be kept: a program would not hear of it otherwise."""
    from modules.spending.feature import Spending

    found: list[ProvidesWarnings | None] = [terminal.features.find(Spending)]
    if settings.trace:
        from modules.trace.feature import Trace

        found.append(terminal.features.find(Trace))
    for feature in filter(None, found):
        for warning in feature.warnings():
            print_error(translator.render(warning))


def run_dialogue(
    terminal: MainTerminal,
    app_context: AppContext,
    message: str | None,
    model: ModelClient,
    translator: Translator,
    live: LiveSettings[Settings],
) -> int:
    """Talk until the person leaves, *message* first; return the exit code."""
    from modules.cli.repl import run_repl
    from modules.preview.feature import Previews
    from modules.toolbox import announcement_lines

    settings = live.now
    screen = ScreenSettings(
        settings.keys == "vim",
        Colors(settings.theme),
        attention_for(settings, translator, app_context.project.root.name),
        settings.shortcuts,
    )
    follow_in_terminal(live, terminal)
    follow_on_screen(live, screen, translator, app_context.project.root.name)
    if settings_command := terminal.features.find(SettingsCommand):
        settings_command.try_notify = partial(try_notify, screen)
    if previews := terminal.features.find(Previews):
        previews.offer_links()
    if not terminal.is_practice and (agents := terminal.features.find(Agents)):
        agents.begin_task = partial(begin_task, terminal, app_context.project.root)
    return run_repl(
        terminal,
        translator,
        history_file=app_context.data.input_history,
        failures=app_context.failures,
        header=announcement_lines(terminal.features),
        start_options=("--cli", "--project", str(app_context.project.root)),
        message=message,
        warm=partial(end_start, model),
        settings=screen,
        is_plain=settings.plain,
    )


def begin_task(terminal: MainTerminal, project: Path, task: str) -> BegunTask:
    """Make a session for *task* with the settings that *terminal* has now."""
    store, choice = terminal.store, terminal.model.choice
    session = store.create(model=choice.name if choice else terminal.model.model)
    store.append(session, 0, StateRecord("mode", terminal.mode))
    if choice:
        store.append(session, 0, StateRecord("model", choice.to_state()))
    place = ("--project", str(project), "--resume", session)
    command = [*own_words(), *place, "--approve", terminal.approval.mode, "-p", task]
    return BegunTask(session, command)


def follow_servers(
    live: LiveSettings[Settings], terminal: MainTerminal, model: ModelClient
) -> None:
    """Have *model*, which *terminal* asks, take over the keys and addresses that are saved."""

    def take(settings: Settings, name: str) -> None:
        hide_keys(terminal, settings)
        renew_servers(model, settings, name)

    live.follow(SERVER_SETTINGS, take)


def follow_on_screen(
    live: LiveSettings[Settings], screen: ScreenSettings, translator: Translator, project: str
) -> None:
    """Have the terminal's *screen* take over what is saved."""

    def take_keys(settings: Settings, _: str) -> None:
        screen.has_vim_keys = settings.keys == "vim"
        screen.shortcuts = settings.shortcuts

    def take_theme(settings: Settings, _: str) -> None:
        screen.colors.theme = settings.theme

    def take_attention(settings: Settings, _: str) -> None:
        before, screen.attention = screen.attention, attention_for(settings, translator, project)
        for sequence in (before and before.end(), screen.attention and screen.attention.begin()):
            sys.stdout.write(sequence or "")
        sys.stdout.flush()

    live.follow(("lang",), lambda settings, _: translator.use(settings.language))
    live.follow(("keys", "shortcuts"), take_keys)
    live.follow(("theme",), take_theme)
    live.follow(("notify", "notify_seconds", "title"), take_attention)


def try_notify(screen: ScreenSettings) -> Text:
    """Notify the person at *screen* as a task does at its end, and return how that is done."""
    from modules.cli.render.attention import OFF

    sequence, told = screen.attention.try_out() if screen.attention else ("", OFF)
    sys.stdout.write(sequence)
    sys.stdout.flush()
    return told


def attention_for(settings: Settings, translator: Translator, project: str) -> Attention | None:
    """Return what calls the person who waits elsewhere, None where they want no call."""
    if settings.notify == "off" and not settings.title:
        return None
    from modules.cli.render.attention import Attention

    return Attention(
        translator,
        project,
        settings.person_environment,
        notify=settings.notify,
        sets_title=settings.title,
        seconds=settings.notify_seconds,
    )


def load_schema(options: Args) -> AnswerSchema | None:
    """Return the schema of the answer, None where there is none. Raises `UserError`."""
    if options.output_schema is None:
        return None
    from modules.answer_schema import AnswerSchema

    return AnswerSchema.load(Path(options.output_schema))


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
        end_start_in_background(model)
    return read_task(options.task, lambda what: print_error(translator.render(what)))


def _fails_on_red(settings: Settings, task: str) -> bool:
    """Return whether failed checks are an exit code: who asks for nothing else wants to know."""
    if settings.verify:
        return settings.verify == "true"
    from core.feature import name_of
    from modules.checks.feature import Checks

    return task.split()[:1] == [name_of(Checks.check)]


def plain_screen(
    options: Args, translator: Translator, project: str, *, fails_on_red: bool = False
) -> PlainScreen:
    from modules.cli.print_mode import PlainScreen

    first_line = options.task or "" if options.resume is None else ""
    out, err = sys.stdout, sys.stderr
    return PlainScreen(
        *(options.output, out, err, translator),
        project=project,
        first_line=first_line,
        fails_on_red=fails_on_red,
    )
