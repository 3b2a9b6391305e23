"""The terminal: a dialogue, or the one task of `-p`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from config import Settings
from modules.assembly.build import furnish, lay_ground
from modules.assembly.model import end_start, end_start_in_background, model_for
from modules.cli.args import Args
from modules.translator import Translator
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
        terminal = furnish(
            create, app_context, settings, is_practice=is_practice, is_machine=bool(options.machine)
        )
        stack.callback(terminal.close)
        terminal.load_pictures = partial(load_named_pictures, terminal, app_context.project.root)
        if options.resume is not None:
            resume_session(terminal, options.resume, model, options, settings)
        if task is None:
            return run_dialogue(terminal, app_context, options.message, model, translator, settings)
        is_allowed = settings.allow_outside or options.machine
        terminal.approval.outside = "allow" if is_allowed else "refuse"
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
    """Have jobs end with the one task, and its answer match *schema*."""
    from modules.answer_schema import AnswerFormat
    from modules.jobs.feature import Jobs

    if jobs := terminal.features.find(Jobs):
        jobs.ends_with_task = True
    if schema and (answer_format := terminal.features.find(AnswerFormat)):
        answer_format.schema = schema


def tell_what_is_not_kept(
    terminal: MainTerminal, settings: Settings, translator: Translator
) -> None:
    """Say where no budget and no trace can be kept: a program would not hear of it otherwise."""
    from modules.spending.feature import Spending

    found: list[ProvidesWarnings | None] = [terminal.features.find(Spending)]
    if settings.trace:
        from modules.trace import Trace

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
    settings: Settings,
) -> int:
    """Talk until the person leaves, *message* first; return the exit code."""
    from modules.cli.repl import run_repl
    from modules.preview.feature import Previews
    from modules.toolbox import announcement_lines

    if previews := terminal.features.find(Previews):
        previews.offer_links()
    return run_repl(
        terminal,
        translator,
        history_file=app_context.data.input_history,
        failures=app_context.failures,
        header=announcement_lines(terminal.features),
        start_options=("--cli", "--project", str(app_context.project.root)),
        has_vim_keys=settings.keys == "vim",
        message=message,
        warm=partial(end_start, model),
        attention=attention_for(settings, translator, app_context.project.root.name),
        is_plain=settings.plain,
    )


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
