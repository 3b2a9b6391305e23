"""A command of the person's or the project's own, run: its programs first, then its task."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from core.cards import RunCard, TextCard
from core.conversation.history import History
from core.conversation.messages import ResultState, ShellResult, User
from core.events import Event, Reply, TurnFinished, TurnStarted, Warned
from core.feature import PromptCommand, Question
from core.loop.questions import ask_question
from core.loop.tool_calls import ApprovalTimer, notices, run_apart
from core.loop.turn import run_turn
from core.loop.turn_context import Turn, TurnContext
from core.model_choice import is_served
from core.redaction import map_strings
from core.session import NamedModel
from core.tools import Outcome
from utils.i18n import UserError, phrase
from utils.waiting import Stopped


class PromptContext(TurnContext, Protocol):
    """Everything that such a command needs of its terminal."""

    @property
    def model(self) -> NamedModel: ...
    @property
    def history(self) -> History: ...


def run_prompt_command(
    context: PromptContext, prompt: PromptCommand, line: str, queued: Sequence[str]
) -> Turn:
    """Do what *prompt*, which was typed as *line*, says: in a turn that has begun.

    Where its programs are not to run nothing is said to the model.
    """
    line = map_strings(line, context.features.redact)
    yield TurnStarted(line, context.history.turn)
    argument = line[len(line.split(maxsplit=1)[0]) :].strip()
    problem = None
    try:
        outputs = yield from _run_programs(context, prompt, argument)
        text = "" if outputs is None else prompt.expand(argument, outputs)
    except Stopped:
        outputs = None
    except UserError as error:
        outputs, problem = None, error
    if outputs is None:
        yield from _end_unsaid(context, line, queued, problem)
        return
    text = map_strings(text, context.features.redact)
    context.record(User(text, queued=tuple(queued), typed=line))
    yield from notices(context)
    with _tools_of(context, prompt), _model_of(context, prompt) as is_other:
        if not is_other:
            yield Warned(
                phrase(
                    "The server has no model {name}. Using {model} instead.",
                    name=prompt.model,
                    model=context.model.model,
                )
            )
        yield from run_turn(context)


def _end_unsaid(
    context: PromptContext, line: str, queued: Sequence[str], problem: UserError | None
) -> Iterator[Event]:
    """End a turn in which nothing was said to the model: as a failure where a *problem* says so."""
    is_stopped = context.stop.is_set()
    context.record(User(line, queued=tuple(queued), is_private=True))
    card = TextCard(phrase("Nothing was sent to the model."))
    state: ResultState = "stopped" if is_stopped else "refused"
    call_id = f"command-{context.history.turn}"
    context.record(ShellResult(call_id, line, "", state, card, 0.0, is_private=True))
    end = TurnFinished("done")
    if is_stopped:
        end = TurnFinished("stopped", phrase("Stopped."))
    elif problem:
        end = TurnFinished("error", problem.message, error_code=problem.code)
    context.on_turn_finished(end)
    yield end


def _run_programs(
    context: PromptContext, prompt: PromptCommand, argument: str
) -> Generator[Event, Reply | None, Sequence[str] | None]:
    """Return what the programs of *prompt* print; None where one is not to run."""
    programs = prompt.programs(argument)
    timer = ApprovalTimer()
    if programs and not prompt.is_confirmed and context.approval.mode != "all":
        answer = yield from ask_question(
            context, _question(prompt, programs), timer, state_of_no="refused"
        )
        if answer != "yes":
            return None
        prompt.confirm()
    outputs: list[str] = []
    tool = next((tool for tool in context.tools.installed if tool.spec.is_shell), None)
    for number, program in enumerate(programs if tool else (), 1):
        if tool is None or tool.spec.program is None:
            break
        call_id = f"command-{context.history.turn}-{number}"
        arguments = tool.validate({tool.spec.program.parameter: program})
        state, outcome = yield from run_apart(context, tool, call_id, arguments, timer)
        if state in ("refused", "stopped"):
            return None
        outputs.append(_printed(outcome))
    return outputs


def _printed(outcome: Outcome) -> str:
    """Return what a program printed; how it ended, the first line, only where that was not well."""
    is_plain = outcome.ok and isinstance(outcome.card, RunCard)
    return outcome.text.partition("\n")[2] if is_plain else outcome.text


def _question(prompt: PromptCommand, programs: Sequence[str]) -> Question:
    digest = hashlib.sha256(prompt.body.encode("utf-8", "replace")).hexdigest()
    why = phrase(
        "Allow this project command to run {programs} in the sandbox? You are asked once, "
        "until its content changes.",
        programs=" ; ".join(programs),
    )
    return Question(
        f"command-{digest[:12]}",
        prompt.usage.split()[0],
        prompt.path,
        why,
        TextCard(prompt.path, prompt.body),
        lambda answer: phrase("Allowed") if answer == "yes" else phrase("Nothing was run."),
    )


@contextmanager
def _tools_of(context: PromptContext, prompt: PromptCommand) -> Iterator[None]:
    context.approval.only_tools = frozenset(prompt.tools) or None
    try:
        yield
    finally:
        context.approval.only_tools = None


@contextmanager
def _model_of(context: PromptContext, prompt: PromptCommand) -> Iterator[bool]:
    """Go on with the model that *prompt* wants; return whether that can be had."""
    model, usual = context.model, context.model.model
    if not prompt.model or prompt.model in ("inherit", usual):
        yield True
        return
    if not is_served(model, prompt.model):
        yield False
        return
    model.model = prompt.model
    try:
        yield True
    finally:
        model.model = usual
