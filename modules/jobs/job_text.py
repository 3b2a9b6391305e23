"""Words about a job, for the model and for people."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from modules.runs.run_texts import ending_for_model, ending_for_person
from utils.i18n import Phrase, Text, phrase
from utils.text.clean import visible

if TYPE_CHECKING:
    from modules.jobs.job import BackgroundJob, WaitEnd

_MAX_COMMAND = 80  # characters


def shown_command(command: str) -> str:
    """Return *command* on one line, as far as it is needed to know it again."""
    text = visible(" ".join(command.split()))
    return text if len(text) <= _MAX_COMMAND else f"{text[:_MAX_COMMAND]}…"


def line_for_model(job: BackgroundJob) -> str:
    notes = [str(note) for note in job.result.notes] if job.result else []
    return " ".join([f"{state_for_model(job)}: {shown_command(job.command)}", *notes])


def state_for_model(job: BackgroundJob) -> str:
    if job.is_running:
        ports = f", listens on {_join(job.ports)}" if job.ports else ""
        return f"job {job.number} runs ({job.seconds:.1f} s){ports}"
    if job.result is None:
        return f"job {job.number} failed: {job.failure or 'an error of Onefold'}"
    if job.result.exit_reason == "stopped":
        return f"job {job.number} was stopped ({job.seconds:.1f} s)"
    ending = ending_for_model(job.result, job.limits, 0)
    return f"job {job.number} ended: {ending[:1].lower()}{ending[1:]}"


def state_for_person(job: BackgroundJob) -> Phrase:
    if job.is_running and job.ports:
        return phrase("job {n} is running, port {ports}", n=job.number, ports=_join(job.ports))
    if job.is_running:
        return phrase("job {n} is running", n=job.number)
    if job.result is None:
        return job.failure or phrase("it could not finish")
    if job.result.exit_reason == "stopped":
        return phrase("job {n} was stopped", n=job.number)
    ending = ending_for_person(job.result)
    if job.result.exit_code:
        code = job.result.exit_code
        return phrase("job {n} ended: exit code {code}", n=job.number, code=code)
    return phrase("job {n} ended: {how}", n=job.number, how=ending)


def notes_for_person(job: BackgroundJob) -> list[Phrase]:
    """Return what there is to say of what *job* did, such as that its commits were not kept."""
    notes = job.result.notes if job.result else ()
    return [phrase("job {n}: {note}", n=job.number, note=note) for note in notes]


COLUMNS = (phrase("No."), phrase("Command"), phrase("State"), phrase("Since"), phrase("Port"))
"""Headings of the rows for people."""


def row_for_person(job: BackgroundJob) -> tuple[Text, ...]:
    """Return the cells below `COLUMNS`: *since* is when it was started, today by the hour alone."""
    day, hour = (time.strftime(form, job.started_at) for form in ("%Y-%m-%d", "%H:%M"))
    since = hour if day == time.strftime("%Y-%m-%d") else f"{day} {hour}"
    command = shown_command(job.command)
    return str(job.number), command, _short_state(job), since, _join(job.ports)


def row_of_gone(number: int, command: str) -> tuple[Text, ...]:
    """Return the cells below `COLUMNS` of a job that an Onefold ran which is gone."""
    return str(number), shown_command(command), phrase("ended with the Onefold that ran it"), "", ""


def _short_state(job: BackgroundJob) -> Text:
    if job.is_running:
        return phrase("running with a terminal") if job.terminal else phrase("running")
    if job.result is None:
        return job.failure or phrase("it could not finish")
    if job.result.exit_reason == "stopped":
        return phrase("stopped")
    if job.result.exit_code:
        return phrase("ended: exit code {code}", code=job.result.exit_code)
    return phrase("ended: {how}", how=ending_for_person(job.result))


def names_of(numbers: Sequence[int]) -> Text:
    """Return "job 1" or "jobs 1, 2", "" for none."""
    if not numbers:
        return ""
    if len(numbers) == 1:
        return phrase("job {n}", n=numbers[0])
    return phrase("jobs {n}", n=_join(numbers))


def count_for_person(numbers: Sequence[int]) -> Text:
    """Return how many run, and how to see them, "" for none."""
    if not numbers:
        return ""
    if len(numbers) == 1:
        return phrase("1 job running: /jobs")
    return phrase("{n} jobs running: /jobs", n=len(numbers))


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def wait_hint(end: WaitEnd, text: str | None, seconds: float) -> str:
    """Return what came of waiting for *text*, "" where the state says it."""
    match end:
        case "found":
            return f"{text!r} is there."
        case "timed out":
            return f"{repr(text) if text else 'The end'} did not come in {seconds} s."
        case "stopped":
            return "The person stopped the waiting."
        case "ended":
            return f"{text!r} did not come." if text else ""
        case "quiet":
            return ""
